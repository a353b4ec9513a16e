//! The page in a real browser, where there is one.

use crate::running::{directory, Running};
use polycache_serve::Options;
use std::path::Path;
use std::process::{Command, Output};

/// `None` where Chromium is not installed.
fn chromium(home: &Path, arguments: &[&str]) -> Option<Output> {
    Command::new("chromium")
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            "--no-first-run",
        ])
        .arg(format!(
            "--user-data-dir={}",
            home.join("chromium").display()
        ))
        // Scripts and their requests are done by then.
        .args(["--virtual-time-budget=8000", "--enable-logging=stderr"])
        .args(arguments)
        .output()
        .ok()
}

#[test]
fn the_page_shows_what_the_cache_holds() {
    let (home, cache) = directory();
    let shop = cache.namespace("<b>shop</b>").unwrap();
    for n in 0..1234 {
        shop.set(format!("k{n}"), "v").unwrap();
    }
    cache.set("k", "v").unwrap();
    assert_eq!(cache.get::<String>("absent").unwrap(), None);
    let running = Running::start(&cache, Options::default());
    let page = running.get("/");
    let policy = page.field("content-security-policy").unwrap();
    assert!(
        policy.starts_with("default-src 'none'; script-src 'sha256-"),
        "{policy}"
    );
    assert!(
        !policy.contains("unsafe")
            && !page.text().contains("http://")
            && !page.text().contains("https://")
    );
    let url = format!("http://{}/", running.address);
    let Some(shown) = chromium(home.path(), &["--dump-dom", &url]) else {
        return;
    };
    let (html, log) = (
        String::from_utf8_lossy(&shown.stdout),
        String::from_utf8_lossy(&shown.stderr),
    );
    assert!(!log.contains("Content Security Policy"), "{log}");
    // Names are text, whatever they hold.
    assert!(html.contains("&lt;b&gt;shop&lt;/b&gt;"), "{html}\n{log}");
    assert!(html.contains("1,235") && html.contains("as of "), "{html}");
    // It refreshed itself meanwhile.
    let asked = running.own()["answers"]["2xx"].as_u64().unwrap();
    assert!(asked > 3, "{asked}");
    if let Ok(file) = std::env::var("POLYCACHE_SCREENSHOT") {
        let file = format!("--screenshot={file}");
        chromium(
            home.path(),
            &["--window-size=1100,1250", "--hide-scrollbars", &file, &url],
        );
    }
}
