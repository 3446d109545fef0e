//! The connection: what the head of the response says, when things came, how it ended.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::Serialize;

use super::finding::{Code, Findings};
use super::observe::{Ended, Observation};
use crate::consumer::time::Timestamp;

/// A first event this much later than the head is late.
const FIRST_EVENT_LATE: Duration = Duration::from_secs(5);
/// A silence this long without anything is one in which a dead connection could hide.
const SILENCE_MAX: Duration = Duration::from_secs(20);
/// Things that come closer together than this came together.
const TOGETHER: Duration = Duration::from_millis(5);
/// So many events together are a group.
const GROUP_EVENTS_MIN: usize = 4;
/// Events of one group that say that they are this far apart were held back.
const HELD_BACK_MIN: Duration = Duration::from_millis(500);
/// So many beats show a period.
const BEATS_MIN: usize = 3;
/// Fields that say something about the way that the response took.
const FIELDS: [&str; 14] = [
    "content-type",
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "cache-control",
    "x-accel-buffering",
    "server",
    "via",
    "age",
    "vary",
    "x-cache",
    "cf-ray",
    "x-served-by",
    "alt-svc",
];
/// Fields that only proxies and caches set.
const PROXY_FIELDS: [&str; 7] =
    ["via", "x-cache", "cf-ray", "x-served-by", "x-amz-cf-id", "x-varnish", "x-envoy-upstream-service-time"];

/// What the edge knows of a connection.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    /// The URL that was asked for, redacted.
    pub url: String,
    /// The URL that answered, redacted.
    pub final_url: String,
    /// `HTTP/1.1 200 OK`.
    pub status_line: String,
    /// The fields of the head.
    pub fields: Vec<(String, String)>,
    /// The address of the peer.
    pub peer: Option<String>,
    /// The peer is this machine.
    pub is_loopback: bool,
    /// Over TLS.
    pub is_tls: bool,
    /// How many redirects were followed.
    pub redirects: usize,
    /// Name resolution.
    pub dns: Option<Duration>,
    /// TCP.
    pub connect: Option<Duration>,
    /// TLS.
    pub tls: Option<Duration>,
    /// From asking until the head was there, all of the above and redirects included.
    pub head: Option<Duration>,
}

impl Facts {
    /// The first value of a field.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }
}

/// What is reported of the connection. Times are milliseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ConnectionReport {
    /// The URL that answered.
    pub url: String,
    /// `HTTP/1.1`, `HTTP/2`.
    pub http_version: String,
    /// `200 OK`.
    pub status: String,
    /// The address of the peer.
    pub peer: Option<String>,
    /// How many redirects were followed.
    pub redirects: usize,
    /// How long things took.
    pub timings: Timings,
    /// Fields that say something about the way that the response took.
    pub headers: BTreeMap<String, String>,
    /// What is sent to keep the connection alive.
    pub heartbeat: Option<Heartbeat>,
    /// The longest time in which nothing came.
    pub longest_silence_ms: f64,
    /// How long the first connection stood.
    pub lifetime_ms: f64,
    /// `open` (it still stood), `clean` or `broken`.
    pub ended: &'static str,
    /// Share of the events that came in groups.
    pub grouped_share: f64,
}

/// How long things took, in milliseconds.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Timings {
    /// Name resolution.
    pub dns_ms: Option<f64>,
    /// TCP.
    pub connect_ms: Option<f64>,
    /// TLS.
    pub tls_ms: Option<f64>,
    /// From asking until the head of the response.
    pub head_ms: Option<f64>,
    /// From there until the first byte of the body.
    pub first_byte_ms: Option<f64>,
    /// From there until the first event.
    pub first_event_ms: Option<f64>,
}

/// A steady beat.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Heartbeat {
    /// `comment` or `event`.
    pub form: &'static str,
    /// The comment's text, or the event's type.
    pub text: String,
    /// How often.
    pub period_ms: f64,
    /// How many were seen.
    pub count: usize,
}

/// Milliseconds with three decimals.
pub(super) fn ms(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// Looks at the connection of a reader that keeps up; `now` is when the watching ended.
pub fn analyse(facts: &Facts, seen: &Observation, now: Timestamp, findings: &mut Findings) -> ConnectionReport {
    let (version, status) = facts.status_line.split_once(' ').unwrap_or((&facts.status_line, ""));
    let mut report = ConnectionReport {
        url: facts.final_url.clone(),
        http_version: version.to_owned(),
        status: status.to_owned(),
        peer: facts.peer.clone(),
        redirects: facts.redirects,
        timings: timings(facts, seen),
        headers: headers(facts),
        ended: "open",
        ..ConnectionReport::default()
    };
    way(facts, version, findings);
    report_timings(&report.timings, seen, now, findings);
    head(facts, findings);
    report.longest_silence_ms = ms(longest_silence(seen, now));
    report.heartbeat = heartbeat(seen);
    alive(&report, findings);
    report.grouped_share = bursts(seen, findings);
    end(&mut report, seen, now, findings);
    report
}

fn timings(facts: &Facts, seen: &Observation) -> Timings {
    let opened = seen.stands.first().map(|stand| stand.opened);
    let since = |at: Option<Timestamp>| Some(ms(at?.since(opened?)));
    Timings {
        dns_ms: facts.dns.map(ms),
        connect_ms: facts.connect.map(ms),
        tls_ms: facts.tls.map(ms),
        head_ms: facts.head.map(ms),
        first_byte_ms: since(seen.chunks.first().map(|(at, _)| *at)),
        first_event_ms: since(seen.events().next().map(|event| event.at)),
    }
}

fn headers(facts: &Facts) -> BTreeMap<String, String> {
    let wanted = facts.fields.iter().map(|(name, value)| (name.to_ascii_lowercase(), value.clone()));
    wanted.filter(|(name, _)| FIELDS.contains(&name.as_str()) || PROXY_FIELDS.contains(&name.as_str())).collect()
}

/// How the response came here.
fn way(facts: &Facts, version: &str, findings: &mut Findings) {
    findings.add(Code::HttpVersion, version);
    if version.starts_with("HTTP/1") {
        findings.add(Code::Http1Limit, version);
    }
    if facts.redirects > 0 {
        let times = if facts.redirects == 1 { "redirect".to_owned() } else { format!("{} redirects", facts.redirects) };
        findings.add(Code::Redirected, format!("{times} to {}", facts.final_url));
    }
    if !facts.is_tls && !facts.is_loopback {
        findings.add(Code::PlainHttp, facts.final_url.clone());
    }
}

fn report_timings(timings: &Timings, seen: &Observation, now: Timestamp, findings: &mut Findings) {
    let parts = [
        ("name", timings.dns_ms),
        ("TCP", timings.connect_ms),
        ("TLS", timings.tls_ms),
        ("head", timings.head_ms),
        ("first byte", timings.first_byte_ms),
        ("first event", timings.first_event_ms),
    ];
    let shown: Vec<_> = parts.iter().filter_map(|(name, time)| Some(format!("{name} {:.1} ms", (*time)?))).collect();
    findings.add(Code::Timings, shown.join(", "));
    let waited = seen.stands.first().map_or(Duration::ZERO, |stand| now.since(stand.opened));
    let first = timings.first_event_ms;
    if first.unwrap_or(ms(waited)) >= ms(FIRST_EVENT_LATE) {
        findings.add(
            Code::SlowFirstEvent,
            match first {
                Some(time) => format!("{:.1} s after the head", time / 1e3),
                None => format!("none within {:.1} s of the head", waited.as_secs_f64()),
            },
        );
    }
}

/// What the fields of the head say.
fn head(facts: &Facts, findings: &mut Findings) {
    let media_type = facts.field("content-type").unwrap_or("none");
    findings.add(Code::MediaType, media_type);
    let charset = media_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("charset").then(|| value.trim().trim_matches('"'))
    });
    if let Some(charset) = charset.filter(|charset| !charset.eq_ignore_ascii_case("utf-8")) {
        findings.add(Code::Charset, format!("charset={charset}"));
    }
    if let Some(coding) = facts.field("content-encoding") {
        findings.add(Code::Compressed, coding);
    }
    let cache = facts.field("cache-control").unwrap_or_default().to_ascii_lowercase();
    let shown = if cache.is_empty() { "no Cache-Control".to_owned() } else { format!("Cache-Control: {cache}") };
    if !["no-store", "no-cache", "private", "max-age=0"].iter().any(|word| cache.contains(word)) {
        findings.add(Code::CacheAllowed, shown.clone());
    }
    if !cache.contains("no-transform") {
        findings.add(Code::TransformAllowed, shown);
    }
    if let Some(length) = facts.field("content-length") {
        findings.add(Code::FixedLength, format!("Content-Length: {length}"));
    }
    proxies(facts, findings);
}

fn proxies(facts: &Facts, findings: &mut Findings) {
    let named = PROXY_FIELDS.iter().filter_map(|name| Some(format!("{name}: {}", facts.field(name)?)));
    let named: Vec<String> = named.collect();
    if !named.is_empty() {
        findings.add(Code::BehindProxy, named.join(", "));
    }
    let server = facts.field("server").unwrap_or_default().to_ascii_lowercase();
    let buffers = ["nginx", "openresty", "apache", "cloudfront", "varnish"].iter().any(|name| server.contains(name));
    let told = facts.field("x-accel-buffering").is_some_and(|value| value.eq_ignore_ascii_case("no"));
    if (buffers || !named.is_empty()) && !told {
        let what = if buffers { format!("server: {server}") } else { "a proxy is on the way".to_owned() };
        findings.add(Code::ProxyMayBuffer, format!("{what}; no `X-Accel-Buffering: no`"));
    }
}

fn longest_silence(seen: &Observation, now: Timestamp) -> Duration {
    let Some(stand) = seen.stands.first() else { return Duration::ZERO };
    let end = stand.ended.as_ref().map_or(now, |(at, _)| *at);
    let mut last = stand.opened;
    let mut longest = Duration::ZERO;
    for at in seen.chunks.iter().map(|(at, _)| *at).filter(|at| *at <= end).chain([end]) {
        longest = longest.max(at.since(last));
        last = at;
    }
    longest
}

/// The commonest comment or data-poor event that comes at steady intervals.
fn heartbeat(seen: &Observation) -> Option<Heartbeat> {
    let mut beats: BTreeMap<(&'static str, String), Vec<Timestamp>> = BTreeMap::new();
    for (at, text) in seen.comments() {
        beats.entry(("comment", text.trim().to_owned())).or_default().push(at);
    }
    for event in seen.events() {
        let name = event.event.to_ascii_lowercase();
        if ["heartbeat", "keepalive", "keep-alive", "keep_alive", "ping"].contains(&name.as_str()) {
            beats.entry(("event", event.event.to_string())).or_default().push(event.at);
        }
    }
    let steady = beats.into_iter().filter_map(|((form, text), times)| {
        let mut gaps: Vec<_> = times.windows(2).map(|pair| pair[1].since(pair[0])).collect();
        gaps.sort_unstable();
        let (first, last) = (*gaps.first()?, *gaps.last()?);
        let period = gaps[gaps.len() / 2];
        let is_steady = times.len() >= BEATS_MIN && last <= first * 2 + TOGETHER && period > TOGETHER;
        is_steady.then(|| Heartbeat { form, text, period_ms: ms(period), count: times.len() })
    });
    steady.max_by_key(|beat| beat.count)
}

fn alive(report: &ConnectionReport, findings: &mut Findings) {
    match &report.heartbeat {
        Some(beat) => findings.add(
            Code::Heartbeat,
            format!("{} `{}` every {:.1} s, {} seen", beat.form, beat.text, beat.period_ms / 1e3, beat.count),
        ),
        None if report.longest_silence_ms >= ms(SILENCE_MAX) => {
            findings.add(Code::NoHeartbeat, format!("silent for {:.1} s", report.longest_silence_ms / 1e3));
        }
        None => {}
    }
}

/// Whether something holds events back; gives the share of events that came in groups.
fn bursts(seen: &Observation, findings: &mut Findings) -> f64 {
    let events: Vec<_> = seen.events().filter(|event| event.connection == 0).collect();
    let mut groups = Vec::new();
    let mut begun = 0;
    for at in 1..=events.len() {
        if at == events.len() || events[at].at.since(events[at - 1].at) > TOGETHER {
            groups.push(&events[begun..at]);
            begun = at;
        }
    }
    // What comes with the head is a replay or the current state, not a burst.
    let groups: Vec<_> = groups.into_iter().skip(1).filter(|group| group.len() >= GROUP_EVENTS_MIN).collect();
    let grouped: usize = groups.iter().map(|group| group.len()).sum();
    if events.is_empty() {
        return 0.0;
    }
    let share = grouped as f64 / events.len() as f64;
    let spread = |group: &[&super::observe::Seen]| {
        let times = || group.iter().filter_map(|event| event.own_time).map(Timestamp);
        Some(times().max()?.since(times().min()?))
    };
    let spreads: Vec<_> = groups.iter().filter_map(|group| spread(group)).collect();
    let held = spreads.iter().filter(|spread| **spread >= HELD_BACK_MIN).count();
    if held >= 2 && held * 2 > groups.len() {
        let widest = spreads.iter().max().copied().unwrap_or_default();
        findings.add(
            Code::Bursts,
            format!(
                "{held} groups whose events say that they are up to {:.1} s apart came at once",
                widest.as_secs_f64()
            ),
        );
    } else if share > 0.8 && groups.len() >= 3 && spreads.is_empty() {
        findings.add(Code::Grouped, format!("{:.0} % of the events came in {} groups", share * 100.0, groups.len()));
    }
    (share * 1e3).round() / 1e3
}

fn end(report: &mut ConnectionReport, seen: &Observation, now: Timestamp, findings: &mut Findings) {
    let Some(stand) = seen.stands.first() else { return };
    let (at, how) = match &stand.ended {
        Some((at, how)) => (*at, Some(how)),
        None => (now, None),
    };
    let lifetime = at.since(stand.opened);
    report.lifetime_ms = ms(lifetime);
    let seconds = format!("after {:.1} s", lifetime.as_secs_f64());
    match how {
        None => findings.add(Code::StayedOpen, format!("for {:.1} s", lifetime.as_secs_f64())),
        Some(Ended::Clean) => {
            report.ended = "clean";
            findings.add(Code::ServerClosed, seconds.as_str());
        }
        Some(Ended::Broken(why)) => {
            report.ended = "broken";
            findings.add(Code::ConnectionBroke, format!("{seconds}: {why}"));
        }
        Some(Ended::TooLarge) => {
            report.ended = "too-large";
            findings.add(Code::TooLarge, seconds.as_str());
        }
    }
    if stand.cut {
        findings.add(Code::CutOff, format!("the end came {seconds}, within a block"));
    }
}
