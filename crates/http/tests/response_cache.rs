//! A response cache with many callers at once, callers that leave, bodies that are too large or break off, and in axum.

mod origin;

use axum::body::Body;
use axum::extract::{Extension, Path};
use axum::routing::get;
use axum::Router;
use bytes::Bytes;
use http::header::{HeaderMap, HeaderValue, ACCEPT_LANGUAGE, CACHE_CONTROL};
use http::{Method, Request, Response};
use http_body_util::{BodyExt, StreamBody};
use origin::{answer_of, quiet, Answered, START};
use polycache::{AsyncCache, Cache};
use polycache_http::ResponseCache;
use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use tokio::sync::watch;
use tokio::task::{yield_now, JoinHandle};
use tower_layer::Layer;
use tower_service::Service;

type Answering = Pin<Box<dyn Future<Output = io::Result<Response<Body>>> + Send>>;

/// A handler that is a function, and counts how often it is asked.
#[derive(Clone)]
struct Handler {
    function: Arc<dyn Fn(Request<Body>) -> Answering + Send + Sync>,
    asked: Arc<AtomicUsize>,
}

impl Handler {
    fn new<F>(function: impl Fn(Request<Body>) -> F + Send + Sync + 'static) -> Handler
    where
        F: Future<Output = io::Result<Response<Body>>> + Send + 'static,
    {
        Handler {
            function: Arc::new(move |request| Box::pin(function(request))),
            asked: Arc::default(),
        }
    }

    /// One whose answers are there at once.
    fn at_once(
        function: impl Fn(Request<Body>) -> io::Result<Response<Body>> + Send + Sync + 'static,
    ) -> Handler {
        Handler::new(move |request| std::future::ready(function(request)))
    }

    /// One that waits until it is told to go on.
    fn held(
        function: impl Fn(&HeaderMap) -> io::Result<Response<Body>> + Clone + Send + Sync + 'static,
    ) -> (Handler, watch::Sender<bool>) {
        let (go, gate) = watch::channel(false);
        let handler = Handler::new(move |request: Request<Body>| {
            let (mut gate, function) = (gate.clone(), function.clone());
            async move {
                let _ = gate.wait_for(|goes| *goes).await;
                function(request.headers())
            }
        });
        (handler, go)
    }

    fn asked(&self) -> usize {
        self.asked.load(Ordering::Relaxed)
    }

    async fn is_asked(&self) {
        while self.asked() == 0 {
            yield_now().await;
        }
    }
}

impl Service<Request<Body>> for Handler {
    type Response = Response<Body>;
    type Error = io::Error;
    type Future = Answering;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Answering {
        self.asked.fetch_add(1, Ordering::Relaxed);
        (self.function)(request)
    }
}

fn memory() -> AsyncCache {
    Cache::builder().build().unwrap().into()
}

fn page(body: impl Into<Body>) -> Response<Body> {
    said(body, "max-age=60")
}

fn said(body: impl Into<Body>, control: &'static str) -> Response<Body> {
    let mut response = Response::new(body.into());
    let control = HeaderValue::from_static(control);
    response.headers_mut().insert(CACHE_CONTROL, control);
    response
}

fn request(path: &str, fields: &[(&str, &str)]) -> Request<Body> {
    let mut request = Request::get(path).header("host", "test.example");
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    request.body(Body::empty()).unwrap()
}

fn user(fields: &HeaderMap) -> String {
    let user = fields.get("x-user").map(|user| user.to_str().unwrap());
    user.unwrap_or("-").to_owned()
}

fn status(fields: &HeaderMap) -> &str {
    fields["cache-status"].to_str().unwrap()
}

fn asking(
    cache: &ResponseCache,
    handler: &Handler,
    request: Request<Body>,
) -> JoinHandle<io::Result<Answered>> {
    let mut service = cache.layer(handler.clone());
    tokio::spawn(async move { answer_of(&mut service, request).await })
}

/// Asks as each of so many users, all of whom wait; then the handler goes on.
async fn at_once(
    cache: &ResponseCache,
    (handler, go): (&Handler, &watch::Sender<bool>),
    users: usize,
) -> Vec<io::Result<Answered>> {
    let users = (0..users).map(|user| format!("u{user}"));
    let asking: Vec<_> = users
        .map(|user| asking(cache, handler, request("/", &[("x-user", &user)])))
        .collect();
    handler.is_asked().await;
    // Each has been polled when all that were runnable before have run again.
    yield_now().await;
    go.send(true).unwrap();
    let mut answers = Vec::new();
    for one in asking {
        answers.push(one.await.unwrap());
    }
    answers
}

#[tokio::test]
async fn many_callers_at_once_ask_the_handler_once() {
    let (handler, go) = Handler::held(|_| Ok(page("page")));
    let cache = ResponseCache::new(memory());
    for answer in at_once(&cache, (&handler, &go), 30).await {
        assert_eq!(answer.unwrap().2, b"page");
    }
    assert_eq!(handler.asked(), 1);
}

#[tokio::test]
async fn callers_that_waited_for_a_private_answer_get_their_own() {
    let (handler, go) =
        Handler::held(|fields| Ok(said(format!("for {}", user(fields)), "private")));
    let cache = ResponseCache::new(memory());
    let answers = at_once(&cache, (&handler, &go), 20).await;
    for (user, answer) in answers.into_iter().enumerate() {
        assert_eq!(answer.unwrap().2, format!("for u{user}").as_bytes());
    }
}

#[tokio::test]
async fn callers_that_waited_for_a_handler_that_fails_ask_themselves() {
    let (handler, go) =
        Handler::held(|fields| Err(io::Error::other(format!("no page for {}", user(fields)))));
    let cache = ResponseCache::new(memory());
    let answers = at_once(&cache, (&handler, &go), 5).await;
    for (user, answer) in answers.into_iter().enumerate() {
        let error = answer.unwrap_err().to_string();
        assert_eq!(error, format!("no page for u{user}"));
    }
}

#[tokio::test]
async fn a_caller_that_leaves_keeps_nobody_from_asking() {
    let (handler, go) = Handler::held(|_| Ok(page("page")));
    let cache = ResponseCache::new(memory());
    let leaving = asking(&cache, &handler, request("/", &[]));
    handler.is_asked().await;
    let staying = asking(&cache, &handler, request("/", &[]));
    yield_now().await;
    leaving.abort();
    go.send(true).unwrap();
    assert_eq!(staying.await.unwrap().unwrap().2, b"page");
    assert_eq!(handler.asked(), 2);
}

#[tokio::test]
async fn behind_stale_answers_one_caller_asks() {
    let (handler, go) = Handler::held(|_| Ok(said("page", "max-age=1, stale-while-revalidate=60")));
    let now = Arc::new(AtomicU64::new(START));
    let clock = now.clone();
    let cache = ResponseCache::new(memory()).clock(move || clock.load(Ordering::Relaxed));
    go.send(true).unwrap();
    let first = asking(&cache, &handler, request("/", &[])).await;
    assert_eq!(first.unwrap().unwrap().2, b"page");
    go.send(false).unwrap();
    now.store(START + 2000, Ordering::Relaxed);
    for _ in 0..5 {
        let stale = asking(&cache, &handler, request("/", &[])).await;
        let (_, fields, _) = stale.unwrap().unwrap();
        let said = "polycache; hit; detail=stale-while-revalidate";
        assert_eq!(status(&fields), said);
        yield_now().await;
    }
    assert_eq!(handler.asked(), 2);
    go.send(true).unwrap();
    quiet().await;
    let fresh = asking(&cache, &handler, request("/", &[])).await;
    assert_eq!(status(&fresh.unwrap().unwrap().1), "polycache; hit");
    assert_eq!(handler.asked(), 2);
}

#[tokio::test]
async fn a_post_ends_a_load_under_way() {
    for vary in [vec![], vec![ACCEPT_LANGUAGE]] {
        let version = Arc::new(AtomicUsize::new(1));
        let (go, gate) = watch::channel(false);
        let known = version.clone();
        let handler = Handler::new(move |request: Request<Body>| {
            let (mut gate, version) = (gate.clone(), known.clone());
            async move {
                if request.method() == Method::POST {
                    version.fetch_add(1, Ordering::Relaxed);
                    return Ok(Response::new(Body::from("done")));
                }
                let read = version.load(Ordering::Relaxed);
                let _ = gate.wait_for(|goes| *goes).await;
                Ok(page(read.to_string()))
            }
        });
        let cache = ResponseCache::new(memory()).vary(vary);
        let german = || request("/", &[("accept-language", "de")]);
        let before = asking(&cache, &handler, german());
        handler.is_asked().await;
        let mut post = request("/", &[]);
        *post.method_mut() = Method::POST;
        let done = asking(&cache, &handler, post).await.unwrap().unwrap();
        assert_eq!(done.2, b"done");
        go.send(true).unwrap();
        assert_eq!(before.await.unwrap().unwrap().2, b"1");
        // Whatever the first caller got, nobody gets it from the cache: it is of before.
        let after = asking(&cache, &handler, german()).await.unwrap().unwrap();
        assert_eq!(status(&after.1), "polycache; fwd=miss; stored");
        assert_eq!(after.2, b"2");
    }
}

#[tokio::test]
async fn a_post_ends_a_load_in_place_of_a_stale_answer() {
    for vary in [vec![], vec![ACCEPT_LANGUAGE]] {
        let version = Arc::new(AtomicUsize::new(1));
        let (go, gate) = watch::channel(true);
        let known = version.clone();
        let handler = Handler::new(move |request: Request<Body>| {
            let (mut gate, version) = (gate.clone(), known.clone());
            async move {
                if request.method() == Method::POST {
                    version.fetch_add(1, Ordering::Relaxed);
                    return Ok(Response::new(Body::from("done")));
                }
                let read = version.load(Ordering::Relaxed);
                // Those of after it do not wait.
                if read == 1 {
                    let _ = gate.wait_for(|goes| *goes).await;
                }
                let control = "max-age=0, stale-if-error=60";
                Ok(said(read.to_string(), control))
            }
        });
        let cache = ResponseCache::new(memory()).vary(vary);
        let ask = || async {
            let asking = asking(&cache, &handler, request("/", &[]));
            asking.await.unwrap().unwrap()
        };
        assert_eq!(ask().await.2, b"1");
        go.send(false).unwrap();
        let before = asking(&cache, &handler, request("/", &[]));
        while handler.asked() < 2 {
            yield_now().await;
        }
        let mut post = request("/", &[]);
        *post.method_mut() = Method::POST;
        asking(&cache, &handler, post).await.unwrap().unwrap();
        assert_eq!(ask().await.2, b"2");
        go.send(true).unwrap();
        assert_eq!(before.await.unwrap().unwrap().2, b"1");
        let (_, fields, body) = ask().await;
        assert_eq!(status(&fields), "polycache; fwd=miss; stored");
        assert_eq!(body, b"2");
    }
}

#[tokio::test]
async fn a_get_after_a_post_does_not_join_a_load_from_before_it() {
    let version = Arc::new(AtomicUsize::new(1));
    let (go, gate) = watch::channel(0);
    let known = version.clone();
    let handler = Handler::new(move |request: Request<Body>| {
        let (mut gate, version) = (gate.clone(), known.clone());
        async move {
            if request.method() == Method::POST {
                version.fetch_add(1, Ordering::Relaxed);
                return Ok(Response::new(Body::from("done")));
            }
            let read = version.load(Ordering::Relaxed);
            let _ = gate.wait_for(|held| *held != read).await;
            Ok(page(read.to_string()))
        }
    });
    let cache = ResponseCache::new(memory()).vary(vec![ACCEPT_LANGUAGE]);
    let get = || asking(&cache, &handler, request("/", &[]));
    let post = || {
        let mut post = request("/", &[]);
        *post.method_mut() = Method::POST;
        asking(&cache, &handler, post)
    };
    let told = |answer: Answered| {
        let (_, fields, body) = answer;
        (String::from_utf8(body).unwrap(), status(&fields).to_owned())
    };
    // Everything runs on one thread, until it waits.
    let turn = || async {
        for _ in 0..50 {
            yield_now().await;
        }
    };
    // Without a change before the load, and with one that all know of.
    for old in [1, 3] {
        go.send(old).unwrap();
        let before = [get(), get()];
        turn().await;
        post().await.unwrap().unwrap();
        let after = get();
        turn().await;
        go.send(0).unwrap();
        let [loads, joins] = before;
        let (old, new) = (old.to_string(), (old + 1).to_string());
        let said = |body: &str, status: &str| (body.to_owned(), format!("polycache; {status}"));
        let loads = told(loads.await.unwrap().unwrap());
        assert_eq!(loads, said(&old, "fwd=miss; stored"));
        let joins = told(joins.await.unwrap().unwrap());
        assert_eq!(joins, said(&old, "hit; collapsed"));
        let after = told(after.await.unwrap().unwrap());
        assert_eq!(after, said(&new, "fwd=bypass; detail=changed"));
        let next = told(get().await.unwrap().unwrap());
        assert_eq!(next, said(&new, "fwd=miss; stored"));
        post().await.unwrap().unwrap();
    }
}

#[tokio::test]
async fn a_key_of_your_own_and_none_for_what_is_not_cached() {
    let counted = AtomicUsize::new(0);
    let handler = Handler::at_once(move |_| {
        let number = counted.fetch_add(1, Ordering::Relaxed);
        Ok(page(number.to_string()))
    });
    let cache = ResponseCache::new(memory()).key(|request| {
        let path = request.uri.path();
        (path != "/live").then(|| path.to_owned())
    });
    let mut service = cache.layer(handler);
    for (path, body, said) in [
        ("/a?x=1", "0", "fwd=miss; stored"),
        ("/a?x=2", "0", "hit"),
        ("/live", "1", "fwd=bypass; detail=key"),
        ("/live", "2", "fwd=bypass; detail=key"),
    ] {
        let answer = answer_of(&mut service, request(path, &[])).await.unwrap();
        assert_eq!(answer.2, body.as_bytes(), "{path}");
        assert_eq!(status(&answer.1), format!("polycache; {said}"), "{path}");
    }
}

#[tokio::test]
async fn a_request_of_no_host_or_of_two_passes() {
    let handler = Handler::at_once(|_| Ok(page("page")));
    let mut service = ResponseCache::new(memory()).layer(handler);
    let none = Request::get("/").body(Body::empty()).unwrap();
    let mut two = request("/", &[]);
    let other = HeaderValue::from_static("other.example");
    two.headers_mut().append("host", other.clone());
    let mut elsewhere = request("http://elsewhere.example/", &[]);
    elsewhere.headers_mut().insert("host", other);
    for request in [none, two, elsewhere] {
        let answer = answer_of(&mut service, request).await.unwrap();
        assert_eq!(status(&answer.1), "polycache; fwd=bypass; detail=key");
    }
}

fn streamed(frames: Vec<io::Result<http_body::Frame<Bytes>>>) -> Response<Body> {
    page(Body::new(StreamBody::new(Frames(frames.into_iter()))))
}

/// A stream of what is there.
struct Frames(std::vec::IntoIter<io::Result<http_body::Frame<Bytes>>>);

impl futures_core::Stream for Frames {
    type Item = io::Result<http_body::Frame<Bytes>>;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        Poll::Ready(self.0.next())
    }
}

fn data(bytes: &'static [u8]) -> io::Result<http_body::Frame<Bytes>> {
    Ok(http_body::Frame::data(Bytes::from_static(bytes)))
}

#[tokio::test]
async fn a_body_in_pieces_is_stored_and_one_that_is_too_large_passes_whole() {
    let pieces = || (0..50).map(|_| data(&[b'x'; 1000])).collect();
    for (limit, said, asked) in [
        // By the key's fields, then with all; and once for each after that.
        (49_999, "fwd=bypass; detail=too-large", [2, 3]),
        (50_000, "hit", [1, 1]),
    ] {
        let handler = Handler::at_once(move |_| Ok(streamed(pieces())));
        let cache = ResponseCache::new(memory()).max_body(limit);
        let mut service = cache.layer(handler.clone());
        let mut last = HeaderMap::new();
        for asked in asked {
            let answer = answer_of(&mut service, request("/", &[])).await.unwrap();
            assert_eq!((answer.2.len(), handler.asked()), (50_000, asked));
            last = answer.1;
        }
        assert_eq!(status(&last), format!("polycache; {said}"));
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_or_is_not_all_there_is_not_stored() {
    let trailers = || {
        let mut fields = HeaderMap::new();
        fields.insert("x-sum", HeaderValue::from_static("1"));
        Ok(http_body::Frame::trailers(fields))
    };
    let short = || {
        let mut response = page("abc");
        response.headers_mut().insert("content-length", 5.into());
        Ok(response)
    };
    let broken = || Err(io::Error::other("connection lost"));
    let handlers = [
        (
            "failed",
            Handler::at_once(move |_| Ok(streamed(vec![data(b"abc"), broken()]))),
        ),
        ("failed", Handler::at_once(move |_| short())),
        (
            "trailers",
            Handler::at_once(move |_| Ok(streamed(vec![data(b"abc"), trailers()]))),
        ),
    ];
    for (why, handler) in handlers {
        let mut service = ResponseCache::new(memory()).layer(handler.clone());
        for asked in [2, 3] {
            let answer = service.call(request("/", &[])).await.unwrap();
            let said = format!("polycache; fwd=bypass; detail={why}");
            assert_eq!(status(answer.headers()), said);
            let body = answer.into_body().collect().await;
            if let Ok(body) = body {
                assert_eq!(body.trailers().is_some(), why == "trailers");
                assert_eq!(body.to_bytes(), "abc");
            }
            assert_eq!(handler.asked(), asked);
        }
    }
}

#[tokio::test]
async fn what_others_wrote_under_a_key_is_no_answer() {
    let handler = Handler::at_once(|_| Ok(page("page")));
    for forged in [
        serde_json::json!({"status": 200, "body": "forged"}),
        serde_json::json!("forged"),
        serde_json::json!({"pass": 5, "until": 1}),
    ] {
        let cache = memory();
        cache
            .set("\"http://test.example/\"", &forged)
            .await
            .unwrap();
        let mut service = ResponseCache::new(cache).layer(handler.clone());
        let answer = answer_of(&mut service, request("/", &[])).await.unwrap();
        assert_eq!(answer.2, b"page");
        assert_eq!(status(&answer.1), "polycache; fwd=bypass; detail=foreign");
    }
}

#[tokio::test]
async fn each_variant_is_compressed_once() {
    let handler = Handler::at_once(|_| Ok(page("page ".repeat(1000))));
    let mut service = ResponseCache::new(memory()).layer(handler);
    let mut bodies = Vec::new();
    for _ in 0..2 {
        let gzip = request("/", &[("accept-encoding", "gzip")]);
        let answer = service.call(gzip).await.unwrap();
        assert_eq!(answer.headers()["content-encoding"], "gzip");
        let etag = answer.headers()["etag"].to_str().unwrap().to_owned();
        bodies.push(answer.into_body().collect().await.unwrap().to_bytes());
        let known = [("accept-encoding", "gzip"), ("if-none-match", &*etag)];
        let answer = answer_of(&mut service, request("/", &known)).await.unwrap();
        assert_eq!(answer.0, 304);
    }
    // The same memory, not only the same bytes.
    assert_eq!(bodies[0].as_ptr(), bodies[1].as_ptr());
}

#[tokio::test]
async fn where_the_cache_fails_the_handler_answers_the_whole_request() {
    let cache = memory();
    let errors = Arc::new(Mutex::new(Vec::new()));
    let told = errors.clone();
    let handler = Handler::at_once(|request| Ok(page(format!("for {}", user(request.headers())))));
    let mut service = ResponseCache::new(cache.clone())
        .on_error(move |error| told.lock().unwrap().push(error.to_string()))
        .layer(handler);
    cache.close();
    let answer = answer_of(&mut service, request("/", &[("x-user", "ada")]))
        .await
        .unwrap();
    assert_eq!(answer.2, b"for ada");
    assert_eq!(status(&answer.1), "polycache; fwd=bypass; detail=cache");
    assert_eq!(errors.lock().unwrap().len(), 1);
    // What a POST did is done, whatever became of the answers.
    let mut post = request("/", &[]);
    *post.method_mut() = Method::POST;
    let answer = answer_of(&mut service, post).await.unwrap();
    assert_eq!(answer.2, b"for -");
    assert_eq!(errors.lock().unwrap().len(), 2);
}

#[tokio::test]
async fn a_cache_that_fails_while_the_handler_works_loses_no_answer() {
    let cache = memory();
    let closing = cache.clone();
    let handler = Handler::at_once(move |_| {
        closing.close();
        Ok(page("page"))
    });
    let mut service = ResponseCache::new(cache).layer(handler.clone());
    let answer = answer_of(&mut service, request("/", &[])).await.unwrap();
    assert_eq!((answer.0, &*answer.2), (200, &b"page"[..]));
    assert_eq!(handler.asked(), 1);
}

/// Who sent a request, as a layer outside has found.
#[derive(Clone)]
struct Sender(&'static str);

#[tokio::test]
async fn what_layers_outside_know_of_a_request_is_not_stored() {
    let handler = || {
        Handler::at_once(|request| {
            let sender = request.extensions().get::<Sender>();
            Ok(page(sender.map_or("nobody", |sender| sender.0)))
        })
    };
    let of = |sender| {
        let mut request = request("/", &[]);
        request.extensions_mut().insert(Sender(sender));
        request
    };
    let mut service = ResponseCache::new(memory()).layer(handler());
    for sender in ["ada", "bob"] {
        let answer = answer_of(&mut service, of(sender)).await.unwrap();
        assert_eq!(answer.2, b"nobody");
    }
    // Unless the program says that its key stands for them.
    let cache = ResponseCache::new(memory()).extensions(true);
    let cache = cache.key(|request| Some(request.extensions.get::<Sender>()?.0.to_owned()));
    let mut service = cache.layer(handler());
    for sender in ["ada", "bob", "ada"] {
        let answer = answer_of(&mut service, of(sender)).await.unwrap();
        assert_eq!(answer.2, sender.as_bytes());
    }
}

fn router() -> Router {
    let page = |Path(id): Path<u64>, who: Option<Extension<&'static str>>| async move {
        let who = who.map_or("nobody", |Extension(who)| who);
        ([(CACHE_CONTROL, "max-age=60")], format!("{id} for {who}"))
    };
    Router::new().route("/pages/{id}", get(page))
}

async fn twice<S>(service: &mut S) -> [(String, Vec<u8>); 2]
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>,
{
    let mut answers = Vec::new();
    for _ in 0..2 {
        let answer = service.call(request("/pages/7", &[])).await.unwrap();
        let said = status(answer.headers()).to_owned();
        let body = answer.into_body().collect().await.unwrap();
        answers.push((said, body.to_bytes().to_vec()));
    }
    answers.try_into().unwrap()
}

#[tokio::test]
async fn around_a_router_of_axum_and_behind_its_routing() {
    let expected = |who: &str| {
        ["fwd=miss; stored", "hit"].map(|said| {
            (
                format!("polycache; {said}"),
                format!("7 for {who}").into_bytes(),
            )
        })
    };
    let mut around = ResponseCache::new(memory()).layer(router().layer(Extension("a route")));
    assert_eq!(twice(&mut around).await, expected("a route"));
    // What `axum::serve` takes.
    let _ = axum::ServiceExt::<Request<Body>>::into_make_service(around);
    // What the routing found is an extension.
    let behind = ResponseCache::new(memory()).extensions(true);
    let mut behind = router().layer(behind).layer(Extension("all"));
    assert_eq!(twice(&mut behind).await, expected("all"));
    // Without it the handler fails first, and answers the whole request then: never less than without a cache.
    let unseen = ResponseCache::new(memory());
    let [first, _] = twice(&mut router().layer(unseen)).await;
    assert_eq!(first.0, "polycache; fwd=bypass; detail=server-error");
    assert_eq!(first.1, b"7 for nobody");
}
