//! A namespace over a connection that notes what is sent to it.

use polycache_redis_namespace::{Namespace, Namespaced};
use redis::{ConnectionLike, RedisResult, Value};

struct Noted(Vec<String>);

impl ConnectionLike for Noted {
    fn req_packed_command(&mut self, command: &[u8]) -> RedisResult<Value> {
        // Every second line is a length.
        let text = String::from_utf8_lossy(command).into_owned();
        let words: Vec<_> = text.split("\r\n").skip(2).step_by(2).collect();
        self.0.push(words.join(" ").trim().to_owned());
        Ok(Value::Nil)
    }

    fn req_packed_commands(&mut self, _: &[u8], _: usize, _: usize) -> RedisResult<Vec<Value>> {
        Ok(Vec::new())
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

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut shop = Namespaced::new(Noted(Vec::new()), Namespace::new("shop")?);
    let found: Option<String> = redis::cmd("GET").arg("user:1").query(&mut shop)?;
    assert_eq!(found, None);
    println!("{}", shop.into_inner().0.join("\n"));
    Ok(())
}
