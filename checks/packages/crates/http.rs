//! `http N`: a server on loopback that renders each page once, answers N requests and ends.

use polycache::{duration, Cache};
use std::convert::Infallible;
use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let requests = std::env::args().nth(1).ok_or("how many requests?")?;
    let cache = Cache::builder().path(".cache-of-pages").build()?;
    cache.clear()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    println!("{}", listener.local_addr()?);
    let mut loads = 0;
    for stream in listener.incoming().take(requests.parse()?) {
        let mut stream = stream?;
        let mut head = BufReader::new(stream.try_clone()?).lines();
        let first = head.next().ok_or("no request")??;
        while head.next().transpose()?.is_some_and(|line| !line.is_empty()) {}
        let path = first.split(' ').nth(1).unwrap_or("/");
        let page: String = cache.get_or_set_with_ttl(path, duration::parse("5m")?, || {
            loads += 1;
            Ok::<_, Infallible>(format!("page {path}, load {loads}"))
        })?;
        let length = page.len();
        write!(
            stream,
            "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{page}"
        )?;
    }
    Ok(())
}
