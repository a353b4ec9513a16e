//! Tests with live servers, which they start on free ports of the loopback interface. Servers that are
//! not installed are skipped (`tools/setup.sh servers`).

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use polycache_redis_namespace::{Message, Namespace, Namespaced};
use redis::{cmd, pipe, Connection, RedisResult, Value};

const PROGRAMS: [&str; 3] = ["redis-server", "redis-server-8", "valkey-server"];

struct Server {
    process: Child,
    port: u16,
}

impl Server {
    /// None where the program is missing.
    fn start(program: &str) -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0")
            .ok()?
            .local_addr()
            .ok()?
            .port();
        let options = format!("--bind 127.0.0.1 --port {port} --notify-keyspace-events KEA");
        let process = Command::new(program)
            .args(options.split(' '))
            .args(["--save", "", "--dir"])
            .arg(std::env::temp_dir())
            .stdout(Stdio::null())
            .spawn()
            .ok()?;
        let server = Self { process, port };
        let deadline = Instant::now() + Duration::from_secs(10);
        while !server.answers() {
            assert!(Instant::now() < deadline, "{program} does not come up");
            thread::sleep(Duration::from_millis(20));
        }
        Some(server)
    }

    fn answers(&self) -> bool {
        let Ok(mut stream) = TcpStream::connect(("127.0.0.1", self.port)) else {
            return false;
        };
        let mut reply = [0; 5];
        stream.write_all(b"PING\r\n").is_ok()
            && stream.read_exact(&mut reply).is_ok()
            && &reply == b"+PONG"
    }

    fn client(&self, protocol: &str) -> redis::Client {
        let url = format!("redis://127.0.0.1:{}/?protocol={protocol}", self.port);
        redis::Client::open(url).expect("a good address")
    }

    fn connection(&self, protocol: &str) -> Connection {
        self.client(protocol)
            .get_connection()
            .expect("the server answers")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Runs on every installed server, with both protocols.
fn everywhere(check: impl Fn(&Server, &str)) {
    for program in PROGRAMS {
        let Some(server) = Server::start(program) else {
            continue;
        };
        for protocol in ["resp2", "resp3"] {
            let mut bare = server.connection(protocol);
            cmd("FLUSHALL").exec(&mut bare).expect("it empties");
            check(&server, protocol);
        }
    }
}

fn shop(server: &Server, protocol: &str) -> Namespaced<Connection> {
    Namespaced::new(
        server.connection(protocol),
        Namespace::new("shop").expect("a good name"),
    )
}

fn sorted(mut names: Vec<String>) -> Vec<String> {
    names.sort();
    names
}

fn everything(server: &Server) -> Vec<String> {
    sorted(
        cmd("KEYS")
            .arg("*")
            .query(&mut server.connection("resp2"))
            .expect("keys"),
    )
}

fn call<T: redis::FromRedisValue>(
    connection: &mut Namespaced<Connection>,
    words: &str,
) -> RedisResult<T> {
    let mut words = words.split(' ');
    let mut command = cmd(words.next().unwrap_or_default());
    for word in words {
        command.arg(word);
    }
    command.query(connection)
}

#[test]
fn keys_get_the_prefix_and_lose_it() {
    everywhere(|server, protocol| {
        let mut shop = shop(server, protocol);
        let _: () = call(&mut shop, "MSET a 1 shop:a 2").unwrap();
        assert_eq!(everything(server), ["shop:a", "shop:shop:a"]);
        assert_eq!(
            call::<Vec<i64>>(&mut shop, "MGET a shop:a").unwrap(),
            [1, 2]
        );
        assert_eq!(sorted(call(&mut shop, "KEYS *").unwrap()), ["a", "shop:a"]);
    });
}

#[test]
fn replies_that_name_keys() {
    everywhere(|server, protocol| {
        let mut shop = shop(server, protocol);
        let _: i64 = call(&mut shop, "RPUSH l a b c").unwrap();
        assert_eq!(
            call::<Vec<String>>(&mut shop, "BLPOP none l 1").unwrap(),
            ["l", "a"]
        );
        let popped: (String, Vec<String>) = call(&mut shop, "LMPOP 1 l LEFT").unwrap();
        assert_eq!(popped, ("l".to_owned(), vec!["b".to_owned()]));
        let _: String = call(&mut shop, "XADD s 1-1 f v").unwrap();
        let read: redis::streams::StreamReadReply = call(&mut shop, "XREAD STREAMS s 0").unwrap();
        assert_eq!(read.keys[0].key, "s");
    });
}

#[test]
fn pipelines_and_transactions() {
    everywhere(|server, protocol| {
        let mut shop = shop(server, protocol);
        let mut both = pipe();
        both.set("a", 1)
            .ignore()
            .cmd("KEYS")
            .arg("*")
            .cmd("SCAN")
            .arg(0);
        for atomic in [false, true] {
            if atomic {
                both.atomic();
            }
            let (keys, scanned): (Vec<String>, (i64, Vec<String>)) = both.query(&mut shop).unwrap();
            assert_eq!(
                (keys, scanned),
                (vec!["a".to_owned()], (0, vec!["a".to_owned()]))
            );
        }
        assert_eq!(everything(server), ["shop:a"]);
        let _: () = call(&mut shop, "MULTI").unwrap();
        assert_eq!(call::<String>(&mut shop, "KEYS *").unwrap(), "QUEUED");
        assert_eq!(
            call::<Vec<Vec<String>>>(&mut shop, "EXEC").unwrap(),
            [["a"]]
        );
    });
}

/// Each other way in which a transaction may end: the replies after it are rewritten as before.
#[test]
fn transactions_that_end_otherwise() {
    everywhere(|server, protocol| {
        let mut shop = shop(server, protocol);
        let _: () = call(&mut shop, "SET s v").unwrap();
        let as_before = |shop: &mut Namespaced<Connection>| {
            assert_eq!(call::<Vec<String>>(shop, "KEYS *").unwrap(), ["s"]);
            assert_eq!(call::<i64>(shop, "DBSIZE").unwrap(), 1);
            assert_eq!(call::<String>(shop, "RANDOMKEY").unwrap(), "s");
        };
        let opened = |shop: &mut Namespaced<Connection>| {
            let _: () = call(shop, "MULTI").unwrap();
            let _: String = call(shop, "KEYS *").unwrap();
        };

        opened(&mut shop);
        assert!(call::<Value>(&mut shop, "SET a").is_err());
        assert!(call::<Value>(&mut shop, "EXEC").is_err());
        as_before(&mut shop);

        opened(&mut shop);
        let _: () = call(&mut shop, "DISCARD").unwrap();
        as_before(&mut shop);

        let _: () = call(&mut shop, "WATCH s").unwrap();
        let _: () = cmd("SET")
            .arg("shop:s")
            .arg("w")
            .query(&mut server.connection(protocol))
            .unwrap();
        opened(&mut shop);
        assert_eq!(call::<Value>(&mut shop, "EXEC").unwrap(), Value::Nil);
        as_before(&mut shop);

        let mut aborted = pipe();
        aborted.atomic().cmd("KEYS").arg("*").cmd("SET").arg("a");
        assert!(aborted.query::<Value>(&mut shop).is_err());
        as_before(&mut shop);

        // An error first, and a transaction that ends in another pipeline.
        let mut opening = pipe();
        opening
            .cmd("INCR")
            .arg("s")
            .cmd("MULTI")
            .cmd("KEYS")
            .arg("*");
        assert!(opening.query::<Value>(&mut shop).is_err());
        let mut ending = pipe();
        ending.cmd("GET").arg("s").cmd("EXEC");
        let (_, (keys, value)): (String, (Vec<String>, String)) = ending.query(&mut shop).unwrap();
        assert_eq!((keys, &value[..]), (vec!["s".to_owned()], "w"));
        as_before(&mut shop);
    });
}

#[test]
fn nobody_is_told_through_the_servers_own_channels() {
    everywhere(|server, protocol| {
        let mut shop = shop(server, protocol);
        for publish in [
            "PUBLISH __keyevent@0__:custom k",
            "PUBLISH __redis__:invalidate k",
        ] {
            let error = call::<i64>(&mut shop, publish).unwrap_err();
            assert!(
                error.to_string().contains("every namespace hears"),
                "{error}"
            );
        }
    });
}

#[test]
fn whole_database_commands_stay_inside() {
    everywhere(|server, protocol| {
        let mut shop = shop(server, protocol);
        let mut bare = server.connection(protocol);
        let _: () = cmd("MSET")
            .arg(&["other", "1", "shopping:a", "2"])
            .query(&mut bare)
            .unwrap();
        for key in 0..2500 {
            let _: () = cmd("SET").arg(key).arg(key).query(&mut shop).unwrap();
        }
        assert_eq!(call::<i64>(&mut shop, "DBSIZE").unwrap(), 2500);
        let key: i64 = call(&mut shop, "RANDOMKEY").unwrap();
        assert!((0..2500).contains(&key));
        let walked: Vec<i64> = cmd("SCAN")
            .cursor_arg(0)
            .clone()
            .iter(&mut shop)
            .unwrap()
            .collect::<RedisResult<_>>()
            .unwrap();
        assert_eq!(walked.len(), 2500);
        let _: () = call(&mut shop, "FLUSHDB").unwrap();
        assert_eq!(everything(server), ["other", "shopping:a"]);
        assert_eq!(call::<Value>(&mut shop, "RANDOMKEY").unwrap(), Value::Nil);
    });
}

#[test]
fn what_cannot_stay_inside_is_refused_and_can_be_allowed() {
    everywhere(|server, protocol| {
        let refused = |words: &str, code: &str| {
            let error = call::<Value>(&mut shop(server, protocol), words).unwrap_err();
            assert!(error.to_string().contains(code), "{error}");
        };
        refused("FLUSHALL", "command_not_allowed");
        refused("CONFIG GET maxmemory", "command_not_allowed");
        refused("JSON.GET doc", "unknown_command");
        let mut pipeline = pipe();
        pipeline.cmd("FLUSHDB");
        assert!(pipeline.exec(&mut shop(server, protocol)).is_err());
        let namespace = Namespace::new("shop").unwrap().allow("CONFIG GET");
        let mut allowing = Namespaced::new(server.connection(protocol), namespace);
        let _: Value = call(&mut allowing, "CONFIG GET maxmemory").unwrap();
    });
}

#[test]
fn scripts_get_their_keys() {
    everywhere(|server, protocol| {
        let mut shop = shop(server, protocol);
        let script = redis::Script::new("return redis.call('SET', KEYS[1], ARGV[1])");
        let _: () = script.key("a").arg(1).invoke(&mut shop).unwrap();
        assert_eq!(everything(server), ["shop:a"]);
    });
}

#[test]
fn namespaces_nest_by_wrapping() {
    everywhere(|server, protocol| {
        let mut eu = Namespaced::new(shop(server, protocol), Namespace::new("eu").unwrap());
        let _: () = cmd("SET").arg("a").arg(1).query(&mut eu).unwrap();
        assert_eq!(everything(server), ["shop:eu:a"]);
        let keys: Vec<String> = cmd("KEYS").arg("*").query(&mut eu).unwrap();
        assert_eq!(keys, ["a"]);
        let size: i64 = cmd("DBSIZE").query(&mut eu).unwrap();
        assert_eq!(size, 1);
    });
}

#[test]
fn messages() {
    everywhere(|server, protocol| {
        let mut listening = shop(server, protocol);
        let mut speaking = shop(server, protocol);
        let mut bare = server.connection(protocol);
        let mut pubsub = listening.as_pubsub().unwrap();
        pubsub.subscribe("c").unwrap();
        pubsub.psubscribe("n.*").unwrap();
        pubsub.psubscribe("__keyevent@*__:set").unwrap();
        pubsub
            .set_read_timeout(Some(Duration::from_secs(5)))
            .unwrap();
        let _: i64 = call(&mut speaking, "PUBLISH c m").unwrap();
        let _: i64 = call(&mut speaking, "PUBLISH n.1 m").unwrap();
        let _: () = cmd("SET").arg("other").arg(1).query(&mut bare).unwrap();
        let _: () = call(&mut speaking, "SET k 1").unwrap();
        let message = |channel: &str, pattern: Option<&str>, payload: &str| Message {
            channel: channel.into(),
            pattern: pattern.map(Into::into),
            payload: payload.into(),
        };
        assert_eq!(pubsub.get_message().unwrap(), message("c", None, "m"));
        assert_eq!(
            pubsub.get_message().unwrap(),
            message("n.1", Some("n.*"), "m")
        );
        let event = message("__keyevent@0__:set", Some("__keyevent@*__:set"), "k");
        assert_eq!(pubsub.get_message().unwrap(), event);
    });
}

#[tokio::test]
async fn awaited_connections_too() {
    for program in PROGRAMS {
        let Some(server) = Server::start(program) else {
            continue;
        };
        let client = server.client("resp3");
        let connection = client.get_multiplexed_async_connection().await.unwrap();
        let mut shop = Namespaced::new(connection, Namespace::new("shop").unwrap());
        let _: () = cmd("SET")
            .arg("a")
            .arg(1)
            .query_async(&mut shop)
            .await
            .unwrap();
        let keys: Vec<String> = cmd("KEYS").arg("*").query_async(&mut shop).await.unwrap();
        assert_eq!(keys, ["a"]);
        let mut both = pipe();
        both.atomic()
            .set("b", 1)
            .ignore()
            .cmd("KEYS")
            .arg("b*")
            .cmd("LPUSH")
            .arg("l")
            .arg("x");
        both.cmd("LMPOP").arg(1).arg("l").arg("LEFT");
        let (keys, _, popped): (Vec<String>, i64, (String, Vec<String>)) =
            both.query_async(&mut shop).await.unwrap();
        assert_eq!((keys, popped.0), (vec!["b".to_owned()], "l".to_owned()));
        let _: () = cmd("MULTI").query_async(&mut shop).await.unwrap();
        for words in ["SET", "EXEC"] {
            assert!(cmd(words).query_async::<Value>(&mut shop).await.is_err());
        }
        let size: i64 = cmd("DBSIZE").query_async(&mut shop).await.unwrap();
        assert_eq!(size, 2);
        let _: () = cmd("FLUSHDB").query_async(&mut shop).await.unwrap();
        assert_eq!(everything(&server), Vec::<String>::new());
    }
}
