//! The simulated Redis answers as real ones do: the same random commands go to both. Skips a server that
//! is not installed.

use polycache_remote::{Command, Reply, Script, Verb};
use polycache_simulation::remote::server::Cluster;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

const PROGRAMS: [&str; 3] = ["redis-server", "redis-server-8", "valkey-server"];

struct Server {
    child: Child,
    stream: BufReader<TcpStream>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(program: &str) -> Option<Server> {
        let port = TcpListener::bind("127.0.0.1:0")
            .ok()?
            .local_addr()
            .ok()?
            .port();
        let child = std::process::Command::new(program)
            .args(["--port", &port.to_string(), "--bind", "127.0.0.1"])
            .args(["--save", "", "--appendonly", "no"])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let began = Instant::now();
        loop {
            if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)) {
                let stream = BufReader::new(stream);
                return Some(Server { child, stream });
            }
            assert!(
                began.elapsed() < Duration::from_secs(20),
                "{program} starts"
            );
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn send(&mut self, command: &Command) -> Reply {
        let mut text = Vec::new();
        command.pack(false, &mut text);
        self.stream.get_mut().write_all(&text).expect("it listens");
        self.reply()
    }

    fn reply(&mut self) -> Reply {
        let mut line = String::new();
        self.stream.read_line(&mut line).expect("a reply");
        let (kind, rest) = line.trim_end().split_at(1);
        match kind {
            "+" => Reply::Status,
            "-" => Reply::Error(rest.into()),
            ":" => Reply::Int(rest.parse().expect("an integer")),
            "$" if rest == "-1" => Reply::Nil,
            "$" => {
                let mut bytes = vec![0; rest.parse::<usize>().expect("a length") + 2];
                self.stream.read_exact(&mut bytes).expect("the bytes");
                bytes.truncate(bytes.len() - 2);
                Reply::Bytes(bytes)
            }
            other => panic!("a reply that begins with {other}"),
        }
    }
}

/// Records that begin alike and differ, pending ones, and bytes of other programs.
fn record(rng: &mut fastrand::Rng) -> Vec<u8> {
    let kind = [0x81, 0x82, 0x00][rng.usize(..3)];
    let mut bytes = vec![0xC1, kind];
    bytes.resize(2 + rng.usize(..50), rng.u8(0..3));
    bytes
}

fn command(rng: &mut fastrand::Rng) -> Command {
    let key = format!("k{}", rng.u32(..3)).into_bytes();
    let px = || b"60000".to_vec();
    let maybe = if rng.bool() { px() } else { b"0".to_vec() };
    let head = |rng: &mut fastrand::Rng| {
        let mut head = record(rng);
        head.truncate(16);
        head
    };
    let number = format!("n{}", rng.u32(..2)).into_bytes();
    let (verb, key, args) = match rng.u32(..9) {
        0 => (Verb::Get, key, vec![]),
        1 => (Verb::Set, key, vec![record(rng), b"PX".to_vec(), px()]),
        2 => {
            let dead = if rng.bool() { head(rng) } else { Vec::new() };
            (
                Verb::Run(Script::Acquire),
                key,
                vec![record(rng), px(), dead],
            )
        }
        3 => (
            Verb::Run(Script::Exchange),
            key,
            vec![head(rng), record(rng), maybe],
        ),
        4 => (Verb::Run(Script::Remove), key, vec![head(rng)]),
        5 => {
            let dead = if rng.bool() { head(rng) } else { Vec::new() };
            (Verb::Run(Script::Add), key, vec![record(rng), maybe, dead])
        }
        6 => (Verb::Unlink, key, vec![]),
        7 => (
            Verb::Run(Script::Floor),
            number,
            vec![rng.u64(..1 << 45).to_string().into()],
        ),
        _ => (Verb::Get, number, vec![]),
    };
    Command::new(verb, key, args)
}

#[test]
fn the_simulated_server_answers_as_real_ones_do() {
    for program in PROGRAMS {
        let Some(mut server) = Server::start(program) else {
            continue;
        };
        let mut simulated = Cluster::new(1, || 2000);
        let mut rng = fastrand::Rng::with_seed(7);
        for turn in 0..20_000 {
            let command = command(&mut rng);
            let real = server.send(&command);
            let (expected, _) = simulated.execute(0, &command, turn);
            assert_eq!(real, expected, "{program}, turn {turn}: {command:?}");
        }
    }
}

/// The clock's number depends on the time, so it is compared with bounds.
#[test]
fn a_clear_counts_on_and_is_no_less_than_the_time() {
    for program in PROGRAMS {
        let Some(mut server) = Server::start(program) else {
            continue;
        };
        let clear = Command::new(Verb::Run(Script::Clear), b"clock".to_vec(), Vec::new());
        let mut last = 0;
        for turn in 0..50 {
            if turn == 25 {
                // As if its clock had been ahead.
                let ahead = (last + 1_000_000).to_string().into_bytes();
                server.send(&Command::set(b"clock".to_vec(), ahead, None));
                last += 1_000_000;
            }
            let now = std::time::SystemTime::now()
                .duration_since(std::time::UNIX_EPOCH)
                .expect("after 1970")
                .as_millis() as i64;
            let Reply::Int(number) = server.send(&clear) else {
                panic!("{program}: no number");
            };
            assert!(
                number > last && number >= now - 5,
                "{program}: {number} after {last}"
            );
            last = number;
            let read = server.send(&Command::get(b"clock".to_vec()));
            assert_eq!(
                read,
                Reply::Bytes(number.to_string().into_bytes()),
                "{program}"
            );
        }
    }
}
