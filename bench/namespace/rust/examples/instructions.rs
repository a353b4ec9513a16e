//! Sends a command so many times into nothing, for valgrind to count the instructions
//! (`namespaces/instructions.py`): `instructions <redis-rs or polycache> <command> <times>`.

use polycache_redis_namespace::{Namespace, Namespaced};
use redis::{cmd, Cmd, ConnectionLike, RedisResult, Value};

/// Where commands go that nobody reads.
struct Nothing;

impl ConnectionLike for Nothing {
    fn req_packed_command(&mut self, packed: &[u8]) -> RedisResult<Value> {
        std::hint::black_box(packed);
        Ok(Value::Nil)
    }

    fn req_packed_commands(
        &mut self,
        packed: &[u8],
        _offset: usize,
        count: usize,
    ) -> RedisResult<Vec<Value>> {
        std::hint::black_box(packed);
        Ok(vec![Value::Nil; count])
    }

    fn get_db(&self) -> i64 {
        0
    }

    fn check_connection(&mut self) -> bool {
        true
    }

    fn is_open(&self) -> bool {
        true
    }
}

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let [who, name, times] = &words[..] else {
        panic!("who, a command and how often")
    };
    let ours = who == "polycache";
    // A bare client's caller names the keys in full.
    let prefix = if ours { "" } else { "app0000001:" };
    let command = command(name, prefix);
    let mut connection: Box<dyn ConnectionLike> = if ours {
        let namespace = Namespace::new("app0000001").expect("it has a name");
        Box::new(Namespaced::new(Nothing, namespace))
    } else {
        Box::new(Nothing)
    };
    for _ in 0..times.parse().expect("a number") {
        let reply = connection.req_command(std::hint::black_box(&command));
        std::hint::black_box(reply.is_ok());
    }
}

fn command(name: &str, prefix: &str) -> Cmd {
    let mut command = cmd(name);
    match name {
        "GET" => command.arg(format!("{prefix}key")),
        "SET" => command.arg(format!("{prefix}key")).arg("value"),
        "MGET" => command.arg(Vec::from_iter((0..10).map(|n| format!("{prefix}mkey{n}")))),
        "KEYS" => command.arg(format!("{prefix}user:*")),
        _ => panic!("{name} is not counted"),
    };
    command
}
