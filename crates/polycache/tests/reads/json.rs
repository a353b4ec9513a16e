//! Replies as JSON.

use crate::hosts::{everywhere, somewhere};
use crate::process::{free_ports, until, Process};
use crate::support::{command, keeping, open, open_on_host};

use std::sync::Arc;
use tempfile::TempDir;

#[test]
fn a_reply_is_encoded_once_for_each_change() {
    everywhere(|server| {
        server.ask::<()>("XADD j 1-1 a 1").unwrap();
        let reads = open(&server.url());
        let range = command("XRANGE j - +");
        until("memory serves it", || {
            let (one, other) = (reads.json(&range).unwrap(), reads.json(&range).unwrap());
            Arc::ptr_eq(&one, &other)
        });
        let page = reads.json(&range).unwrap();
        assert_eq!(&page.bytes()[..], br#"[["1-1",["a","1"]]]"#);
        server.ask::<()>("XADD j 2-1 b 2").unwrap();
        until("the next one is read", || {
            reads.json(&range).unwrap().etag() != page.etag()
        });
        let next = reads.json(&range).unwrap();
        assert_eq!(
            &next.bytes()[..],
            br#"[["1-1",["a","1"]],["2-1",["b","2"]]]"#
        );
        // By node: createHash('sha256').update(...).digest().subarray(0, 16).toString('base64url').
        assert_eq!(page.etag(), r#""S1LdbTgra6xpJCRP9hVo-Q""#);
    });
}

#[test]
fn handles_of_one_directory_give_the_same_bytes() {
    somewhere(|server| {
        server.ask::<()>("HSET h b 2 a 1").unwrap();
        for protocol in ["", "/?protocol=resp3"] {
            let directory = TempDir::new().unwrap();
            let url = server.url() + protocol;
            let opened = || open_on_host(&url, &directory);
            let (one, other) = (opened(), opened());
            keeping(&one, "HGETALL h");
            let (from_server, from_host) = (
                one.json(&command("HGETALL h")).unwrap(),
                other.json(&command("HGETALL h")).unwrap(),
            );
            let expected: &[u8] = match protocol {
                "" => br#"["b","2","a","1"]"#,
                _ => br#"{"b":"2","a":"1"}"#,
            };
            assert_eq!(&from_server.bytes()[..], expected);
            assert_eq!(&from_host.bytes()[..], expected);
            assert_eq!(from_server.etag(), from_host.etag());
        }
    });
}

#[test]
fn what_a_program_makes_of_it_is_made_once_too() {
    somewhere(|server| {
        server.ask::<()>("SET t text").unwrap();
        let reads = open(&server.url());
        let json = reads.json(&command("GET t")).unwrap();
        let length = || json.made(|json| json.bytes().len());
        assert_eq!(*length(), 6);
        assert!(Arc::ptr_eq(&length(), &length()));
        // Another type has no room, and is given all the same.
        let etag = || json.made(|json| json.etag().to_owned());
        assert_eq!(*etag(), json.etag());
        assert!(!Arc::ptr_eq(&etag(), &etag()));
    });
}

/// The module JSON answers JSON.GET with a text. So does a server whose GET is called that.
#[test]
fn the_json_of_a_document_is_its_text() {
    let words = ["--save", "", "--rename-command", "GET", "JSON.GET"];
    let Some(server) = Process::start(free_ports(1)[0], words) else {
        return;
    };
    server.answers();
    let directory = TempDir::new().unwrap();
    let opened = || open_on_host(&server.url(), &directory);
    let (reads, other) = (opened(), opened());
    let get = command("JSON.GET doc");
    assert_eq!(&reads.json(&get).unwrap().bytes()[..], b"null");
    for text in ["{\"a\": [1.50, \"ü\"],\n \"a\": 2}", "[]"] {
        let mut set = redis::cmd("SET");
        set.arg("doc").arg(text);
        set.exec(&mut server.plain()).unwrap();
        until("it is shown", || reads.json(&get).unwrap().bytes() == text);
        keeping(&reads, "JSON.GET doc");
        assert_eq!(reads.query::<String>(&get).unwrap(), text);
        assert_eq!(other.json(&command("json.get doc")).unwrap().bytes(), text);
    }
}
