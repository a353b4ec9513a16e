//! Operations on fibers of one thread, which has the sockets.

use crate::hosts::{everywhere, options, somewhere};
use crate::nodes::Cluster;
use polycache::bindings::remote::fibers::{self, Address, Task};
use polycache::bindings::Bindings;
use polycache::{Cache, Error};
use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::rc::Rc;
use std::thread;
use std::time::{Duration, Instant};

/// The thread's event loop.
#[derive(Default)]
struct EventLoop {
    sockets: HashMap<u32, TcpStream>,
    opened: usize,
}

/// What operations answered, in the order in which they ended.
type Answers<T> = Rc<RefCell<Vec<T>>>;

fn start<T: 'static>(answers: &Answers<T>, operation: impl FnOnce() -> T + 'static) {
    assert!(fibers::has_room());
    let answers = answers.clone();
    fibers::start(move || {
        let answer = operation();
        answers.borrow_mut().push(answer);
    });
}

impl EventLoop {
    fn work(&mut self) {
        while let Some(task) = fibers::next() {
            match task {
                Task::Open(number, Address::Tcp(host, port)) => {
                    self.opened += 1;
                    match TcpStream::connect((host, port)) {
                        Ok(socket) => {
                            socket.set_nonblocking(true).unwrap();
                            socket.set_nodelay(true).unwrap();
                            self.sockets.insert(number, socket);
                        }
                        Err(error) => fibers::closed(number, &error.to_string()),
                    }
                }
                Task::Open(_, Address::Unix(path)) => panic!("{path:?}"),
                Task::Write(number, bytes) => {
                    if let Some(socket) = self.sockets.get_mut(&number) {
                        // What the server does not take is told by a read.
                        let _ = socket.write_all(&bytes);
                    }
                }
                Task::Close(number) => drop(self.sockets.remove(&number)),
            }
        }
    }

    fn read(&mut self) {
        let mut bytes = [0; 1 << 16];
        let numbers: Vec<u32> = self.sockets.keys().copied().collect();
        for number in numbers {
            let Some(socket) = self.sockets.get_mut(&number) else {
                continue;
            };
            match socket.read(&mut bytes) {
                Ok(0) => {
                    self.sockets.remove(&number);
                    fibers::closed(number, "the end");
                }
                Ok(count) => fibers::received(number, &bytes[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(error) => {
                    self.sockets.remove(&number);
                    fibers::closed(number, &error.to_string());
                }
            }
        }
    }

    /// Goes on until so many operations have answered.
    fn run<T>(&mut self, answers: &Answers<T>, count: usize) {
        let end = Instant::now() + Duration::from_secs(30);
        while answers.borrow().len() < count {
            assert!(
                Instant::now() < end,
                "{} of {count}",
                answers.borrow().len()
            );
            self.work();
            self.read();
            if fibers::next_tick().is_some_and(|due| due <= Instant::now()) {
                fibers::tick(Duration::ZERO);
            }
            thread::sleep(Duration::from_micros(50));
        }
        self.work();
    }
}

fn reads_through(url: String) -> Cache {
    let cache = options(url).max_staleness(Duration::ZERO).build().unwrap();
    assert!(cache.serves_fibers());
    cache
}

#[test]
fn many_operations_of_a_thread_share_a_connection_and_keep_their_order() {
    everywhere(|server| {
        let cache = reads_through(server.url());
        let (mut event_loop, answers) = (EventLoop::default(), Answers::default());
        for number in 0..200 {
            let theirs = cache.clone();
            start(&answers, move || {
                theirs.set("k", &number).unwrap();
                None
            });
            if number % 10 == 9 {
                let cache = cache.clone();
                start(&answers, move || {
                    Some(cache.get::<i32>("k").unwrap() == Some(number))
                });
            }
        }
        event_loop.run(&answers, 220);
        let seen: Vec<bool> = answers.borrow().iter().flatten().copied().collect();
        assert_eq!(seen, [true; 20]);
        assert_eq!(event_loop.opened, 1);
    });
}

#[test]
fn loads_and_many_keys_go_through_fibers_as_through_threads() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        let (mut event_loop, answers) = (EventLoop::default(), Answers::default());
        let theirs = cache.clone();
        start(&answers, move || {
            theirs.set_many([("a", 1), ("b", 2)]).unwrap();
            assert_eq!(theirs.get_many::<i32, _>(["a", "b", "c"]).unwrap().len(), 2);
            assert_eq!(theirs.increment("n", 5).unwrap(), 5);
            assert!(!theirs.add("a", &9).unwrap());
            let loaded = theirs.get_or_set("l", || Ok::<_, Error>(7)).unwrap();
            assert_eq!((loaded, theirs.get::<i32>("l").unwrap()), (7, Some(7)));
            theirs.clear().unwrap();
            assert_eq!(theirs.get::<i32>("a").unwrap(), None);
            theirs.delete("a").unwrap()
        });
        event_loop.run(&answers, 1);
        assert_eq!(*answers.borrow(), [false]);
    });
}

#[test]
fn a_thread_and_fibers_use_one_cache() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        cache.set("k", &1).unwrap();
        let (mut event_loop, answers) = (EventLoop::default(), Answers::default());
        let theirs = cache.clone();
        start(&answers, move || theirs.get::<i32>("k").unwrap());
        event_loop.run(&answers, 1);
        assert_eq!(*answers.borrow(), [Some(1)]);
        cache.set("k", &2).unwrap();
        assert_eq!(cache.get::<i32>("k").unwrap(), Some(2));
    });
}

#[test]
fn a_server_that_hangs_is_given_up_within_the_timeout_and_asked_again_on_another_connection() {
    somewhere(|server| {
        let cache = options(server.url())
            .max_staleness(Duration::ZERO)
            .timeout(Duration::from_millis(300))
            .build()
            .unwrap();
        let (mut event_loop, answers) = (EventLoop::default(), Answers::default());
        let set = |answers: &Answers<bool>| {
            let cache = cache.clone();
            start(answers, move || cache.set("k", "v").is_ok());
        };
        set(&answers);
        event_loop.run(&answers, 1);
        server.hang();
        set(&answers);
        set(&answers);
        event_loop.run(&answers, 3);
        server.go_on();
        assert_eq!(*answers.borrow(), [true, false, false]);
        let end = Instant::now() + Duration::from_secs(20);
        // The circuit breaker lets one through in a moment.
        while !answers.borrow().last().unwrap() {
            assert!(Instant::now() < end);
            let count = answers.borrow().len();
            set(&answers);
            event_loop.run(&answers, count + 1);
            thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(event_loop.opened, 2);
    });
}

#[test]
fn a_server_that_is_gone_is_reported_at_once() {
    let cache = reads_through("redis://127.0.0.1:1".into());
    let (mut event_loop, answers) = (EventLoop::default(), Answers::default());
    let theirs = cache.clone();
    start(&answers, move || {
        let code = theirs.set("k", "v").unwrap_err().code();
        (theirs.get::<String>("k").unwrap(), code)
    });
    event_loop.run(&answers, 1);
    assert_eq!(*answers.borrow(), [(None, "remote_unavailable")]);
}

#[test]
fn keys_of_a_cluster_go_to_their_primaries() {
    let Some(cluster) = Cluster::start(0, "") else {
        return;
    };
    let client = redis::cluster::ClusterClient::new([cluster.nodes[0].url()]).unwrap();
    let cache = Cache::builder()
        .remote(client)
        .max_staleness(Duration::ZERO)
        .build()
        .unwrap();
    let (mut event_loop, answers) = (EventLoop::default(), Answers::default());
    for number in 0..60 {
        let cache = cache.clone();
        start(&answers, move || {
            let key = format!("k{number}");
            cache.set(&key, &number).unwrap();
            cache.get::<i32>(&key).unwrap() == Some(number)
        });
    }
    let theirs = cache.clone();
    event_loop.run(&answers, 60);
    start(&answers, move || {
        let keys: Vec<String> = (0..60).map(|number| format!("k{number}")).collect();
        theirs.get_many::<i32, _>(&keys).unwrap().len() == 60
    });
    event_loop.run(&answers, 61);
    assert_eq!(*answers.borrow(), vec![true; 61]);
    // One for each primary, and one for the first question who owns which slots.
    assert!(event_loop.opened <= 4, "{}", event_loop.opened);
}

#[test]
fn at_the_end_of_the_thread_whoever_waits_is_told() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        cache.set("warm", "up").unwrap();
        server.hang();
        let answers = Answers::default();
        let theirs = cache.clone();
        start(&answers, move || theirs.set("k", "v").unwrap_err().code());
        assert_eq!(answers.borrow().len(), 0);
        fibers::end_all();
        server.go_on();
        assert_eq!(*answers.borrow(), ["remote_unavailable"]);
    });
}

#[test]
fn connections_end_with_the_cache() {
    somewhere(|server| {
        let cache = reads_through(server.url());
        let (mut event_loop, answers) = (EventLoop::default(), Answers::default());
        let theirs = cache.clone();
        start(&answers, move || theirs.set("k", "v").is_ok());
        event_loop.run(&answers, 1);
        assert_eq!(event_loop.sockets.len(), 1);
        cache.close();
        cache.leave_fibers();
        event_loop.work();
        assert_eq!(event_loop.sockets.len(), 0);
    });
}
