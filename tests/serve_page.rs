//! The page of `ssectl serve` in a real browser: headless Chromium, driven by chromedriver.
//!
//! Skipped, and said so, where there is no chromedriver; with `SSECTL_NEED_BROWSER` set that is a failure instead.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const PATIENCE: Duration = Duration::from_secs(60);
/// A screenshot of nothing but background is smaller than this, in bytes of base64.
const SCREENSHOT_BYTES_MIN: usize = 10_000;

/// A process that ends with the test.
struct Started {
    child: Child,
}

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn lines(command: &mut Command) -> Option<(Started, impl Iterator<Item = String> + use<>)> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().ok()?;
    let stdout = BufReader::new(child.stdout.take()?);
    Some((Started { child }, stdout.lines().map_while(Result::ok)))
}

/// One browser session, by the WebDriver protocol (W3C WebDriver, section 6).
struct Browser {
    addr: String,
    session: String,
}

impl Browser {
    fn call(&self, method: &str, path: &str, body: &Value) -> Value {
        call(&self.addr, method, &format!("/session/{}{path}", self.session), body)
    }

    fn script(&self, script: &str) -> Value {
        self.call("POST", "/execute/sync", &json!({ "script": script, "args": [] }))
    }

    /// Waits until a script gives something that is true.
    fn until(&self, script: &str) {
        let deadline = Instant::now() + PATIENCE;
        while self.script(&format!("return Boolean({script})")) != json!(true) {
            let text = self.script("return document.body.innerText");
            assert!(Instant::now() < deadline, "`{script}` did not come true; the page says: {text}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            self.call("DELETE", "", &Value::Null);
        }
    }
}

fn call(addr: &str, method: &str, path: &str, body: &Value) -> Value {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let mut socket = TcpStream::connect(addr).unwrap();
    socket.set_read_timeout(Some(PATIENCE)).unwrap();
    write!(
        socket,
        "{method} {path} HTTP/1.1\r\nHost: {addr}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\
         Connection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut reader = BufReader::new(socket);
    let mut length = 0;
    loop {
        let mut line = String::new();
        assert_ne!(reader.read_line(&mut line).unwrap(), 0, "chromedriver closed the connection");
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        if line == "\r\n" {
            break;
        }
    }
    let mut text = vec![0; length];
    reader.read_exact(&mut text).unwrap();
    let mut answer: Value = serde_json::from_slice(&text).unwrap();
    assert!(answer["value"]["error"].is_null(), "chromedriver says: {answer}");
    answer["value"].take()
}

fn browser(addr: String, profile: &std::path::Path) -> Browser {
    let profile = format!("--user-data-dir={}", profile.display());
    let arguments = [
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--window-size=1000,800",
        &profile,
    ];
    let capabilities = json!({ "capabilities": { "alwaysMatch": { "goog:chromeOptions": { "args": arguments } } } });
    let session = call(&addr, "POST", "/session", &capabilities)["sessionId"].as_str().unwrap().to_owned();
    Browser { addr, session }
}

/// Starts chromedriver, and gives it with its address.
fn chromedriver() -> Option<(Started, String)> {
    let (started, mut lines) = lines(Command::new("chromedriver").arg("--port=0"))?;
    let port = lines.find_map(|line| {
        let (_, port) = line.rsplit_once("started successfully on port ")?;
        Some(port.trim_end_matches('.').to_owned())
    })?;
    Some((started, format!("127.0.0.1:{port}")))
}

#[test]
fn the_page_shows_what_clients_get() {
    let Some((_driver, addr)) = chromedriver() else {
        assert!(std::env::var_os("SSECTL_NEED_BROWSER").is_none(), "there is no chromedriver");
        eprintln!("SKIPPED: there is no chromedriver, so the page was not looked at");
        return;
    };
    let spec = "price:rate=200/s,keys=8,size=4000;<b>odd</b>:rate=5/s";
    let mut command = Command::new(env!("CARGO_BIN_EXE_ssectl"));
    command.args(["serve", "--quiet", "--synthetic", spec, "--policy", "price=coalesce:/sym"]);
    let (_serve, mut lines) = lines(&mut command).unwrap();
    let url = lines.next().unwrap();
    let base = url.strip_suffix("/events").unwrap();
    // One client that never reads, so that something waits.
    let mut slow = TcpStream::connect(base.strip_prefix("http://").unwrap()).unwrap();
    slow.write_all(b"GET /events HTTP/1.1\r\n\r\n").unwrap();

    let folder = tempfile::tempdir().unwrap();
    let browser = browser(addr, folder.path());
    browser.call("POST", "/url", &json!({ "url": format!("{base}/") }));
    browser.until("document.getElementById('state').textContent === 'live'");
    browser.until("[...document.querySelectorAll('#types tr')].some(row => row.cells[0].textContent === 'price')");
    browser.until("[...document.querySelectorAll('#types tr')].some(row => row.cells[0].textContent === '<b>odd</b>')");
    browser.until("document.querySelectorAll('#clients tr').length === 1");
    browser.until("document.querySelector('#clients tr.slow .bar i').getBoundingClientRect().width > 0");
    browser
        .until("[...document.querySelectorAll('.bar .coalesced')].some(bar => bar.getBoundingClientRect().width > 5)");
    assert_eq!(browser.script("return document.querySelectorAll('#types b').length"), json!(0), "texts are no markup");
    let shot = browser.call("GET", "/screenshot", &Value::Null);
    let shot = shot.as_str().unwrap();
    assert!(shot.starts_with("iVBORw0KGgo"), "a PNG");
    assert!(shot.len() > SCREENSHOT_BYTES_MIN, "{} bytes", shot.len());
    if let Some(file) = std::env::var_os("SSECTL_SCREENSHOT") {
        std::fs::write(file, shot).unwrap();
    }
}
