//! The cache as a layer of the crate tower.

use super::call::{BoxError, Call};
use super::ResponseCache;
use bytes::Bytes;
use http::{Request, Response};
use http_body::Body;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use tower_layer::Layer;
use tower_service::Service;

/// A service with a cache before it. From [`ResponseCache`], by `tower_layer::Layer`.
#[derive(Clone, Debug)]
pub struct CachedService<S> {
    cache: ResponseCache,
    inner: S,
}

impl<S> Layer<S> for ResponseCache {
    type Service = CachedService<S>;

    fn layer(&self, inner: S) -> CachedService<S> {
        let cache = self.clone();
        CachedService { cache, inner }
    }
}

impl<S, B, R> Service<Request<B>> for CachedService<S>
where
    S: Service<Request<B>, Response = Response<R>> + Clone + Send + 'static,
    S::Future: Send,
    S::Error: Into<BoxError> + Send,
    B: Default + Send + 'static,
    R: Body<Data = Bytes> + From<Bytes> + Send + 'static,
    R::Error: Into<BoxError> + Send,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    /// Always: a handler that is busy is waited for by those that ask it.
    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let (cache, inner) = (self.cache.clone(), self.inner.clone());
        Box::pin(Call::new(cache, inner, request).answer())
    }
}
