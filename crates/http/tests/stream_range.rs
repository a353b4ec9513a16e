//! Ranges of ids, good and bad.

use polycache_http::StreamRange;

const LAST: &str = "18446744073709551615";

#[test]
fn ranges() {
    for (query, start, end, count) in [
        ("", "-", "+", 100),
        ("start=5&end=6-1&count=7", "5", "6-1", 7),
        ("start=(5-1&end=(6", "(5-1", "(6", 100),
        ("start=-&end=+", "-", "+", 100),
        ("end=%2B&other=1&other=2", "-", "+", 100),
    ] {
        let range = StreamRange::parse(query, 100).unwrap();
        let is = (&*range.start, &*range.end, range.count);
        assert_eq!(is, (start, end, count), "{query}");
    }
    let last = format!("{LAST}-{LAST}");
    let range = StreamRange::parse(&format!("start={last}"), 100).unwrap();
    assert_eq!(range.start, last);
}

#[test]
fn what_is_none_is_400_and_names_the_parameter() {
    for query in [
        "start=",
        "start=a",
        "start=1-",
        "start=-1",
        "start=1-2-3",
        "start=((1",
        "start=[1",
        "start=1%0D%0A2",
        "start=18446744073709551616",
        &format!("start=({LAST}-{LAST}"),
        &format!("start=({LAST}"),
        "end=(0-0",
        "end=(0",
        "start=1&start=1",
        "start=%FF",
        "count=0",
        "count=101",
        "count=-1",
        "count=1.5",
        "count=1e1",
        "count=",
        "count=1&count=2",
        "count=184467440737095516150",
    ] {
        let problem = StreamRange::parse(query, 100).expect_err(query);
        assert_eq!(problem.status(), 400, "{query}");
        let answer = problem.answer(&http::Method::GET);
        let document: serde_json::Value = serde_json::from_slice(answer.body()).unwrap();
        let name = query.split('=').next().unwrap();
        assert_eq!(document["parameter"], name, "{query}");
    }
}
