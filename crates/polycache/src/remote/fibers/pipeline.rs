//! A connection that many callers use at the same time: a server answers in the order in which it was asked.

use super::endpoint::Endpoint;
use super::frames::Frames;
use super::parsing::{parse, usual};
use crate::remote::deadline::Deadline;
use redis::{cmd, RedisError, RedisResult, Value};
use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A connection that rested for longer is tried out before a request is sent: it may lead nowhere.
const RESTED: Duration = Duration::from_secs(1);

/// The fiber that waits for replies, and which of its requests these answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Asker {
    pub fiber: usize,
    pub request: usize,
}

/// Commands for one server.
#[derive(Debug)]
pub(in crate::remote) struct Request {
    pub to: Arc<Endpoint>,
    pub packed: Vec<u8>,
    /// How many replies there will be.
    pub count: usize,
    pub deadline: Deadline,
}

/// What an asker is told.
#[derive(Debug)]
pub(super) struct Told {
    pub asker: Asker,
    pub answer: RedisResult<Vec<Value>>,
    /// Whether it says something of the server that others are not told, too: one connection that ends is one fault.
    pub counts: bool,
}

impl Told {
    fn new(asker: Asker, answer: RedisResult<Vec<Value>>) -> Told {
        Told {
            asker,
            answer,
            counts: true,
        }
    }
}

/// Replies that are to come.
#[derive(Debug)]
struct Expected {
    /// `None`: nobody waits for them any more, or they are those to a greeting.
    asker: Option<Asker>,
    count: usize,
    replies: Vec<Value>,
    deadline: Deadline,
}

/// A request that is not sent yet.
#[derive(Debug)]
struct Held {
    asker: Asker,
    request: Request,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// There is no socket yet.
    New,
    /// The greeting is under way; requests are held back.
    Greeting,
    /// It has rested, and is tried out; requests are held back.
    Trying,
    Ready,
    /// There is no socket any more.
    Over,
}

/// What the owner of the sockets must do next for one of them.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Act {
    Open,
    Write(Vec<u8>),
    Close,
}

#[derive(Debug)]
pub(super) struct Pipeline {
    pub to: Arc<Endpoint>,
    state: State,
    /// Takes no more requests.
    is_retired: bool,
    /// What is to be written.
    out: Vec<u8>,
    held: Vec<Held>,
    expected: VecDeque<Expected>,
    unread: Vec<u8>,
    frames: Frames,
    /// When it was last used.
    used: Instant,
}

impl Pipeline {
    pub fn new(to: Arc<Endpoint>) -> Pipeline {
        Pipeline {
            to,
            state: State::New,
            is_retired: false,
            out: Vec::new(),
            held: Vec::new(),
            expected: VecDeque::new(),
            unread: Vec::new(),
            frames: Frames::default(),
            used: Instant::now(),
        }
    }

    pub fn takes_requests(&self) -> bool {
        !self.is_retired
    }

    /// From now on it takes no requests; it ends when those under way have been answered.
    pub fn retire(&mut self) {
        self.is_retired = true;
    }

    pub fn ask(&mut self, asker: Asker, request: Request, now: Instant) {
        let has_rested = now.saturating_duration_since(self.used) > RESTED;
        if self.state == State::Ready && self.expected.is_empty() && has_rested {
            self.out.extend(cmd("PING").get_packed_command());
            self.greet(1, request.deadline);
            self.state = State::Trying;
        }
        self.used = now;
        match self.state {
            State::Ready => self.send(asker, request),
            _ => self.held.push(Held { asker, request }),
        }
    }

    fn greet(&mut self, count: usize, deadline: Deadline) {
        self.expected.push_back(Expected {
            asker: None,
            count,
            replies: Vec::with_capacity(count),
            deadline,
        });
    }

    fn send(&mut self, asker: Asker, request: Request) {
        self.out.extend_from_slice(&request.packed);
        self.expected.push_back(Expected {
            asker: Some(asker),
            count: request.count,
            replies: Vec::with_capacity(request.count),
            deadline: request.deadline,
        });
    }

    fn send_held(&mut self) {
        self.state = State::Ready;
        for Held { asker, request } in std::mem::take(&mut self.held) {
            self.send(asker, request);
        }
    }

    /// What is to be done now.
    pub fn act(&mut self) -> Option<Act> {
        let is_unused = self.askers().next().is_none();
        match self.state {
            State::Over => None,
            State::New if is_unused => {
                self.state = State::Over;
                None
            }
            State::New => {
                let deadline = self.held[0].request.deadline;
                if self.to.greetings == 0 {
                    self.send_held();
                } else {
                    self.out.extend_from_slice(&self.to.greeting);
                    self.greet(self.to.greetings, deadline);
                    self.state = State::Greeting;
                }
                Some(Act::Open)
            }
            _ if self.is_retired && is_unused => {
                self.state = State::Over;
                Some(Act::Close)
            }
            _ if self.out.is_empty() => None,
            _ => Some(Act::Write(std::mem::take(&mut self.out))),
        }
    }

    /// Whether [`Pipeline::act`] may give something, or it is over.
    pub fn may_act(&self) -> bool {
        match self.state {
            State::New | State::Over => true,
            _ => self.is_retired || !self.out.is_empty(),
        }
    }

    pub fn is_over(&self) -> bool {
        self.state == State::Over
    }

    /// Whoever waits for it.
    fn askers(&self) -> impl Iterator<Item = (Asker, Deadline)> + '_ {
        let sent = self.expected.iter();
        let sent = sent.filter_map(|one| Some((one.asker?, one.deadline)));
        sent.chain(
            self.held
                .iter()
                .map(|one| (one.asker, one.request.deadline)),
        )
    }

    /// Takes what the server sent; appends what askers are told.
    pub fn receive(&mut self, bytes: &[u8], told: &mut Vec<Told>) {
        if self.state == State::Over {
            return;
        }
        // Nearly always what comes is whole replies.
        if self.unread.is_empty() {
            if let Some(read) = self.read(bytes, told) {
                self.unread.extend_from_slice(&bytes[read..]);
            }
            return;
        }
        let mut unread = std::mem::take(&mut self.unread);
        unread.extend_from_slice(bytes);
        if let Some(read) = self.read(&unread, told) {
            unread.drain(..read);
            self.unread = unread;
        }
    }

    /// Takes whole replies; how many bytes they have. `None`: it has failed.
    fn read(&mut self, bytes: &[u8], told: &mut Vec<Told>) -> Option<usize> {
        let mut read = 0;
        while read < bytes.len() {
            let rest = &bytes[read..];
            let known = match self.frames.is_between() {
                true => usual(rest),
                false => None,
            };
            let taken = match known {
                Some((value, length)) => self.take(value, told).map(|()| length),
                None => match self.frames.next(rest) {
                    Ok(Some(length)) => self.reply(&rest[..length], told).map(|()| length),
                    Ok(None) => break,
                    Err(_) => Err(unreadable("it does not speak RESP")),
                },
            };
            match taken {
                Ok(length) => read += length,
                Err(error) => {
                    self.fail(&error, told);
                    return None;
                }
            }
        }
        Some(read)
    }

    fn reply(&mut self, reply: &[u8], told: &mut Vec<Told>) -> RedisResult<()> {
        if reply.starts_with(b">") {
            // What it tells without being asked.
            return Ok(());
        }
        self.take(parse(reply)?, told)
    }

    fn take(&mut self, value: Value, told: &mut Vec<Told>) -> RedisResult<()> {
        let Some(first) = self.expected.front_mut() else {
            return Err(unreadable("it was not asked"));
        };
        first.replies.push(value);
        if first.replies.len() < first.count {
            return Ok(());
        }
        let Some(Expected { asker, replies, .. }) = self.expected.pop_front() else {
            return Ok(());
        };
        self.used = Instant::now();
        if matches!(self.state, State::Greeting | State::Trying) {
            for reply in replies {
                reply.extract_error()?;
            }
            self.send_held();
        } else if let Some(asker) = asker {
            told.push(Told::new(asker, Ok(replies)));
        }
        Ok(())
    }

    /// Whoever waits is told so; the connection is of no more use.
    fn fail(&mut self, error: &RedisError, told: &mut Vec<Told>) {
        self.is_retired = true;
        self.out.clear();
        let first = told.len();
        told.extend(
            self.askers()
                .map(|(asker, _)| Told::new(asker, Err(error.clone()))),
        );
        for told in told.iter_mut().skip(first + 1) {
            told.counts = false;
        }
        self.expected.clear();
        self.held.clear();
    }

    /// The socket ended. Returns requests that were not sent, for another connection: this one ended while it rested.
    pub fn closed(&mut self, error: &RedisError, told: &mut Vec<Told>) -> Vec<(Asker, Request)> {
        let held = match self.state {
            State::Trying => std::mem::take(&mut self.held),
            _ => Vec::new(),
        };
        self.fail(error, told);
        self.state = State::Over;
        held.into_iter()
            .map(|one| (one.asker, one.request))
            .collect()
    }

    /// Whoever has waited for long enough is told so. A server that was so late is not asked on this connection again.
    pub fn expire(&mut self, now: Instant, told: &mut Vec<Told>) {
        for one in &mut self.expected {
            if let Some(asker) = one.asker.take_if(|_| one.deadline.end() <= now) {
                told.push(Told::new(asker, Err(one.deadline.missed())));
                self.is_retired = true;
            }
        }
        for one in std::mem::take(&mut self.held) {
            if one.request.deadline.end() > now {
                self.held.push(one);
                continue;
            }
            told.push(Told::new(one.asker, Err(one.request.deadline.missed())));
            self.is_retired = true;
        }
    }

    /// When the next caller will have waited for long enough.
    pub fn next_deadline(&self) -> Option<Instant> {
        self.askers().map(|(_, deadline)| deadline.end()).min()
    }
}

fn unreadable(why: &'static str) -> RedisError {
    let why = format!("the server answers what cannot be read: {why}");
    io::Error::new(io::ErrorKind::InvalidData, why).into()
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::Address;
    use super::*;

    const TIMEOUT: Duration = Duration::from_secs(60);

    fn server(greeting: &str, greetings: usize) -> Arc<Endpoint> {
        Arc::new(Endpoint {
            address: Address::Tcp("server".into(), 1),
            greeting: greeting.as_bytes().to_vec(),
            greetings,
        })
    }

    fn asker(fiber: usize) -> Asker {
        Asker { fiber, request: 0 }
    }

    /// A pipeline, and what its callers were told.
    struct Tried {
        pipeline: Pipeline,
        told: Vec<Told>,
        now: Instant,
    }

    impl Tried {
        fn new(to: Arc<Endpoint>) -> Tried {
            Tried {
                pipeline: Pipeline::new(to),
                told: Vec::new(),
                now: Instant::now(),
            }
        }

        fn ask(&mut self, fiber: usize, packed: &str, count: usize) {
            let request = Request {
                to: self.pipeline.to.clone(),
                packed: packed.as_bytes().to_vec(),
                count,
                deadline: Deadline::after(TIMEOUT),
            };
            self.pipeline.ask(asker(fiber), request, self.now);
        }

        fn written(&mut self) -> String {
            match self.pipeline.act() {
                Some(Act::Write(bytes)) => String::from_utf8(bytes).unwrap(),
                other => format!("{other:?}"),
            }
        }

        fn receive(&mut self, bytes: &str) {
            self.pipeline.receive(bytes.as_bytes(), &mut self.told);
        }

        /// Fibers and what they were told since the last time.
        fn told(&mut self) -> Vec<(usize, String)> {
            let told = std::mem::take(&mut self.told).into_iter();
            told.map(|told| match told.answer {
                Ok(replies) => (told.asker.fiber, format!("{replies:?}")),
                Err(error) => (told.asker.fiber, error.to_string()),
            })
            .collect()
        }
    }

    fn opened() -> Tried {
        let mut tried = Tried::new(server("", 0));
        tried.ask(0, "first", 1);
        assert_eq!(tried.pipeline.act(), Some(Act::Open));
        assert_eq!(tried.written(), "first");
        tried.receive("+OK\r\n");
        assert_eq!(tried.told(), [(0, "[ok]".into())]);
        tried
    }

    #[test]
    fn replies_go_to_those_who_asked_in_the_order_in_which_they_asked() {
        let mut tried = opened();
        tried.ask(1, "a", 1);
        tried.ask(2, "bc", 2);
        assert_eq!(tried.written(), "abc");
        tried.receive(":1\r\n:2\r");
        assert_eq!(tried.told(), [(1, "[int(1)]".into())]);
        tried.receive("\n$1\r\nx\r\n");
        assert_eq!(tried.told(), [(2, "[int(2), bulk-string('\"x\"')]".into())]);
    }

    #[test]
    fn requests_wait_until_the_greeting_is_answered() {
        let mut tried = Tried::new(server("hello", 2));
        tried.ask(1, "a", 1);
        assert_eq!(tried.pipeline.act(), Some(Act::Open));
        assert_eq!(tried.written(), "hello");
        tried.ask(2, "b", 1);
        tried.receive("+OK\r\n");
        assert_eq!(tried.pipeline.act(), None);
        tried.receive("+OK\r\n");
        assert_eq!(tried.written(), "ab");
    }

    #[test]
    fn a_greeting_that_is_refused_is_the_answer_to_all() {
        let mut tried = Tried::new(server("hello", 2));
        tried.ask(1, "a", 1);
        tried.pipeline.act();
        tried.written();
        tried.ask(2, "b", 1);
        // Not the reply to `a`, which was not sent.
        tried.receive("-WRONGPASS no\r\n-NOAUTH no\r\n");
        let told = tried.told();
        assert_eq!(told.len(), 2);
        assert!(
            told.iter()
                .all(|(_, why)| why.contains("WRONGPASS") || why.contains("no")),
            "{told:?}"
        );
        assert!(!tried.pipeline.takes_requests());
        assert_eq!(tried.pipeline.act(), Some(Act::Close));
        assert!(tried.pipeline.is_over());
    }

    #[test]
    fn after_a_rest_it_is_tried_out_first() {
        let mut tried = opened();
        tried.now += 2 * RESTED;
        tried.ask(1, "a", 1);
        assert_eq!(tried.written(), "*1\r\n$4\r\nPING\r\n");
        tried.receive("+PONG\r\n");
        assert_eq!(tried.written(), "a");
        assert_eq!(tried.told(), []);
    }

    #[test]
    fn what_was_not_sent_when_it_ended_in_its_rest_is_for_another_connection() {
        let mut tried = opened();
        tried.now += 2 * RESTED;
        tried.ask(1, "a", 1);
        tried.written();
        let error = unreadable("it is gone");
        let again = tried.pipeline.closed(&error, &mut tried.told);
        let again: Vec<_> = again
            .iter()
            .map(|(asker, request)| (asker.fiber, &request.packed[..]))
            .collect();
        assert_eq!(again, [(1, &b"a"[..])]);
        assert_eq!(tried.told(), []);
    }

    #[test]
    fn what_was_sent_is_not_sent_again() {
        let mut tried = opened();
        tried.ask(1, "a", 1);
        tried.written();
        let error = unreadable("it is gone");
        assert_eq!(tried.pipeline.closed(&error, &mut tried.told).len(), 0);
        assert_eq!(tried.told().len(), 1);
        assert!(tried.pipeline.is_over());
    }

    #[test]
    fn a_connection_that_ends_is_one_fault_however_many_used_it() {
        let mut tried = opened();
        for fiber in 1..=3 {
            tried.ask(fiber, "a", 1);
        }
        tried
            .pipeline
            .closed(&unreadable("it is gone"), &mut tried.told);
        let counts: Vec<bool> = tried.told.iter().map(|told| told.counts).collect();
        assert_eq!(counts, [true, false, false]);
    }

    #[test]
    fn who_waited_long_enough_is_told_and_a_late_reply_is_nobody_elses() {
        let mut tried = opened();
        tried.ask(1, "a", 1);
        tried.written();
        let end = tried.pipeline.next_deadline().unwrap();
        tried
            .pipeline
            .expire(end - Duration::from_millis(1), &mut tried.told);
        assert_eq!(tried.told(), []);
        tried.pipeline.expire(end, &mut tried.told);
        assert_eq!(tried.told().len(), 1);
        assert!(!tried.pipeline.takes_requests());
        assert_eq!(tried.pipeline.act(), Some(Act::Close));
    }

    #[test]
    fn a_late_server_still_answers_those_who_asked_later() {
        let mut tried = opened();
        tried.ask(1, "a", 1);
        let first = tried.pipeline.next_deadline().unwrap();
        tried.ask(2, "b", 1);
        tried.written();
        tried.pipeline.expire(first, &mut tried.told);
        assert_eq!(tried.told().len(), 1);
        assert_eq!(tried.pipeline.act(), None);
        tried.receive("+late\r\n:2\r\n");
        assert_eq!(tried.told(), [(2, "[int(2)]".into())]);
        assert_eq!(tried.pipeline.act(), Some(Act::Close));
    }

    #[test]
    fn pushes_are_nobodys_replies() {
        let mut tried = opened();
        tried.ask(1, "a", 1);
        tried.written();
        tried.receive(">2\r\n+invalidate\r\n*1\r\n$1\r\nk\r\n:1\r\n");
        assert_eq!(tried.told(), [(1, "[int(1)]".into())]);
    }

    #[test]
    fn what_is_no_reply_ends_it() {
        for bytes in ["HTTP/1.1 400 Bad Request\r\n", ":1\r\n:2\r\n"] {
            let mut tried = opened();
            tried.ask(1, "a", 1);
            tried.written();
            tried.receive(bytes);
            assert_eq!(tried.told().len(), 1, "{bytes}");
            assert_eq!(tried.pipeline.act(), Some(Act::Close), "{bytes}");
        }
    }

    #[test]
    fn a_retired_one_ends_after_its_last_reply() {
        let mut tried = opened();
        tried.ask(1, "a", 1);
        tried.written();
        tried.pipeline.retire();
        assert_eq!(tried.pipeline.act(), None);
        tried.receive(":1\r\n");
        assert_eq!(tried.told(), [(1, "[int(1)]".into())]);
        assert_eq!(tried.pipeline.act(), Some(Act::Close));
    }
}
