//! Findings and their codes. A code is a stable name: scripts test for it.

use serde::{Serialize, Serializer};

/// A part of the report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Section {
    /// HTTP, and what lies between the server and here.
    Connection,
    /// What the stream holds.
    Events,
    /// What cursors do.
    Resume,
    /// What happens to a slow reader.
    Backpressure,
}

/// How much a finding asks for attention.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Good to know.
    Info,
    /// Something that loses events, delays them, or breaks some clients.
    Warning,
}

/// Something that was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub code: Code,
    /// Where it belongs.
    pub section: Section,
    /// How much it matters.
    pub severity: Severity,
    /// The event type that it is about, if it is about one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// What was seen.
    pub evidence: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<&'static str>,
}

/// Findings in the order in which they were made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings(Vec<Finding>);

impl Findings {
    /// Adds one about the stream.
    pub fn add(&mut self, code: Code, evidence: impl Into<String>) {
        self.put(code, None, evidence.into());
    }

    /// Adds one about an event type.
    pub fn about(&mut self, code: Code, event: &str, evidence: impl Into<String>) {
        self.put(code, Some(event.to_owned()), evidence.into());
    }

    fn put(&mut self, code: Code, event: Option<String>, evidence: String) {
        let (section, severity) = (code.section(), code.severity());
        self.0.push(Finding { code, section, severity, event, evidence, hint: code.hint() });
    }

    /// All of them.
    #[must_use]
    pub fn into_vec(self) -> Vec<Finding> {
        self.0
    }

    /// Whether there is one of this code.
    #[must_use]
    pub fn has(&self, code: Code) -> bool {
        self.0.iter().any(|finding| finding.code == code)
    }
}

macro_rules! codes {
    ($($variant:ident, $word:literal, $section:ident, $severity:ident, $meaning:literal, $hint:expr;)*) => {
        /// The name of a finding. `docs/probe.md` lists them all.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $(#[doc = $meaning] $variant,)*
        }

        impl Code {
            /// All codes, in the order of the report.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// The stable name.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// Where it belongs.
            #[must_use]
            pub fn section(self) -> Section {
                match self { $(Self::$variant => Section::$section,)* }
            }

            /// How much it matters.
            #[must_use]
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity,)* }
            }

            /// What it says, in a sentence.
            #[must_use]
            pub fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)* }
            }

            /// What to do about it, where there is something to do.
            #[must_use]
            pub fn hint(self) -> Option<&'static str> {
                match self { $(Self::$variant => $hint,)* }
            }
        }
    };
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

codes! {
    HttpVersion, "http-version", Connection, Info, "The HTTP version of the response.", None;
    Http1Limit, "http1-connection-limit", Connection, Info, "The stream comes over HTTP/1.1, of which a browser opens six connections to an origin at most.",
        Some("serve HTTP/2, or share one stream between tabs");
    Timings, "timings", Connection, Info, "How long the parts of the connection took to stand.", None;
    SlowFirstEvent, "slow-first-event", Connection, Info, "The head came at once, the first event much later or not at all.",
        Some("send a comment at once: some proxies pass the head on only with the first byte of the body");
    Redirected, "redirected", Connection, Warning, "The URL leads elsewhere: each reconnection pays for it.",
        Some("name the final URL");
    PlainHttp, "plain-http", Connection, Warning, "Events and cursors go over the network unencrypted.",
        Some("use `https://`");
    MediaType, "media-type", Connection, Info, "The media type of the response.", None;
    Charset, "charset-not-utf8", Connection, Warning, "The media type names a charset that is not UTF-8; clients decode UTF-8 all the same.",
        Some("leave the `charset` out, or say `utf-8`");
    Compressed, "compressed", Connection, Info, "The response is compressed.", None;
    CacheAllowed, "cache-allowed", Connection, Warning, "Nothing forbids caches to keep the response, or to wait for its end.",
        Some("send `Cache-Control: no-store`");
    TransformAllowed, "transform-allowed", Connection, Info, "Proxies may compress the response, and buffer it for that.",
        Some("add `no-transform` to `Cache-Control`");
    BehindProxy, "behind-proxy", Connection, Info, "Header fields name proxies or caches on the way.", None;
    ProxyMayBuffer, "proxy-may-buffer", Connection, Info, "A proxy that buffers by default is on the way, and nothing tells it not to.",
        Some("send `X-Accel-Buffering: no`, or turn `proxy_buffering` off");
    FixedLength, "fixed-length", Connection, Warning, "The response has a `Content-Length`: it is no endless stream, or something buffered it whole.",
        Some("look for a proxy that waits for the whole response");
    Bursts, "arrives-in-bursts", Connection, Warning, "Events arrive together although they say that they are of different times: something on the way holds them back.",
        Some("turn buffering and compression off on the proxies before the server");
    Grouped, "arrives-in-groups", Connection, Info, "Events arrive in groups with silence between; their data has no times to tell who holds them back.", None;
    Heartbeat, "heartbeat", Connection, Info, "The server sends something at steady intervals, so a dead connection can be noticed.", None;
    NoHeartbeat, "no-heartbeat", Connection, Warning, "The stream was silent, and nothing tells silence from a dead connection.",
        Some("send a comment line every 15 to 30 seconds; meanwhile read with `--idle-timeout DUR`");
    ServerClosed, "server-closed", Connection, Info, "The server ended the response.", None;
    ConnectionBroke, "connection-broke", Connection, Warning, "The connection ended in the middle of the response.",
        Some("a proxy with a time limit does this; heartbeats help against idle limits");
    StayedOpen, "stayed-open", Connection, Info, "The connection stood to the end of the probe.", None;

    NoEvents, "no-events", Events, Info, "No event came.", Some("watch longer with `--for DUR`");
    Types, "event-type", Events, Info, "An event type: its rate, size, and what its data is.", None;
    MixedData, "mixed-data", Events, Info, "Some events of a type hold JSON, and some do not.", None;
    IdsPresent, "ids-present", Events, Info, "Events have ids.", None;
    IdsAbsent, "ids-absent", Events, Warning, "No event has an id: nothing can be resumed, and what is lost stays lost.",
        Some("give each event an `id:` line");
    IdsPartial, "ids-partial", Events, Info, "Some event types have no ids: what is lost of them after the last id comes again only together with what follows it.", None;
    IdsComparable, "ids-comparable", Events, Info, "Ids have an order that can be seen, so a hole or a step back can be noticed.", None;
    IdsOpaque, "ids-opaque", Events, Info, "Ids have no order that can be seen.", None;
    IdsWentBack, "ids-went-back", Events, Warning, "Ids went back within one connection.",
        Some("look for several servers behind one name, each with a counter of its own");
    IdsShared, "ids-shared", Events, Warning, "Several events in a row have one id: a client that is cut between them loses the rest.",
        Some("make each id unique; `ssectl` goes on from before the group");
    IdsRepeated, "ids-repeated", Events, Warning, "An id came again after another one.", Some("make each id unique");
    IdInData, "id-in-data", Events, Info, "The data holds a value that serves as an id.",
        Some("read it with `--id-from POINTER`");
    IdReset, "id-reset", Events, Info, "An empty `id:` resets the last event ID.", None;
    IdUnusable, "id-unusable", Events, Warning, "An id holds NUL, and is ignored, or a character that no header field can carry.",
        Some("use letters, digits and `-` in ids");
    Retry, "retry", Events, Info, "The server sets the reconnection time.", None;
    RetryOdd, "retry-odd", Events, Warning, "A `retry:` line that is no number is ignored.",
        Some("write milliseconds in digits");
    NoRetry, "no-retry", Events, Info, "The server sets no reconnection time: each client waits as long as it likes.",
        Some("send `retry: 3000` or so at the start");
    Comments, "comments", Events, Info, "Comments came.", None;
    DropNotice, "drop-notice", Events, Warning, "The server says that it discarded events for a reader that kept up.",
        Some("read faster, or nearer to the server; `ssectl` recovers them where the server keeps a log");
    UnknownFields, "unknown-fields", Events, Warning, "Lines that the standard does not know are ignored by every client.",
        Some("write `data`, `event`, `id` and `retry`, in lower case, at the start of the line");
    OddBytes, "odd-bytes", Events, Warning, "Bytes that are not UTF-8 become U+FFFD.", Some("send UTF-8");
    ByteOrderMark, "byte-order-mark", Events, Info, "The stream begins with a byte order mark.", None;
    BareCr, "bare-cr", Events, Info, "Lines end with CR alone, which some clients do not know.", Some("end lines with LF");
    CutOff, "cut-off", Events, Info, "The connection ended within a block, which is discarded.", None;
    TooLarge, "event-too-large", Events, Warning, "An event is larger than `--max-event-bytes`.", None;
    Truncated, "not-all-kept", Events, Info, "More events came than the probe keeps; the rest was counted only.", None;

    ResumeSkipped, "resume-not-probed", Resume, Info, "Cursors were not tried.", None;
    ResumeWorks, "resume-works", Resume, Info, "A cursor brings back what came after it.", None;
    ResumeByQuery, "resume-by-query", Resume, Info, "The cursor works as a query parameter, not as `Last-Event-ID`.",
        Some("read with `--send-cursor query:NAME`");
    ResumeIgnored, "resume-ignored", Resume, Warning, "A cursor changes nothing: the stream begins anew or at live, and what came meanwhile is lost.",
        Some("keep a log on the server, and start after `Last-Event-ID`");
    ResumeRefused, "resume-refused", Resume, Warning, "A cursor that was seen moments ago is refused.",
        Some("look whether the server's log is too short");
    ResumeInclusive, "resume-inclusive", Resume, Info, "The event of the cursor itself comes again; `ssectl` removes it.", None;
    ResumeExclusive, "resume-exclusive", Resume, Info, "The stream goes on after the event of the cursor.", None;
    ResumeHoles, "resume-with-holes", Resume, Warning, "What a cursor brings back lacks events that the live stream had.",
        Some("state that was overtaken may be left out on purpose; else the log is not complete");
    ResumeDepth, "resume-depth", Resume, Info, "How far back the server's log was seen to reach.", None;
    UnknownRefused, "unknown-cursor-refused", Resume, Info, "A cursor that the server cannot know is refused, so its loss is noticed.", None;
    UnknownSilent, "unknown-cursor-silent", Resume, Warning, "A cursor that the server cannot know is answered with a stream as if nothing were wrong.",
        Some("answer 410, or send a `resync` event: a client cannot see this loss");
    UnknownReset, "unknown-cursor-told", Resume, Info, "A cursor that the server cannot know is answered with an event that says so.", None;

    PressureSkipped, "backpressure-not-probed", Backpressure, Info, "The slow reader was not tried.", None;
    NotFelt, "backpressure-not-felt", Backpressure, Info, "The slow reader was never behind by more than the network holds, so nothing is known of the policy.",
        Some("try `--for` longer, `--limit-rate` lower, or `--slow-for DUR`");
    Coalesced, "policy-coalesced", Backpressure, Info, "The newest event of each key is kept for a slow reader; older ones are superseded.", None;
    BufferDisconnect, "policy-buffer-disconnect", Backpressure, Info, "So many events wait for a slow reader, then it is disconnected and has to resume.", None;
    Dropped, "policy-dropped", Backpressure, Warning, "Events are dropped for a slow reader, and it is not told.",
        Some("say so in a comment, or end the stream, so that the client can resume");
    DroppedNotice, "policy-dropped-notice", Backpressure, Info, "Events are dropped for a slow reader, and it is told.", None;
    Unbounded, "policy-unbounded", Backpressure, Warning, "Everything waits for a slow reader, and no limit was found: it falls behind without loss, and the server's memory pays.",
        Some("bound the queue of each client on the server");
    Resnapshot, "policy-resnapshot", Backpressure, Info, "Nothing waits for a slow reader; when it has caught up it gets the current state.", None;
    Unclear, "policy-unclear", Backpressure, Info, "What was seen fits no policy that the probe knows.", Some("watch longer with `--for DUR`");
    SlowDisconnect, "slow-reader-disconnected", Backpressure, Info, "The slow connection was ended while the other stood.", None;
    CutResumed, "cut-resumed", Backpressure, Info, "Resuming after such an end brought back what was missed.", None;
    CutLost, "cut-lost", Backpressure, Warning, "Resuming after such an end did not bring back everything.",
        Some("make the server's log longer than what a slow reader may miss");
    SecondRefused, "second-connection-refused", Backpressure, Info, "The server takes no second connection beside the first.", None;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_words_of_their_own() {
        let words: std::collections::BTreeSet<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        assert_eq!(words.len(), Code::ALL.len());
        assert!(words.iter().all(|word| word.bytes().all(|byte| byte.is_ascii_lowercase() || b"-18".contains(&byte))));
    }

    #[test]
    fn every_warning_of_use_says_what_to_do() {
        let without: Vec<_> = Code::ALL
            .iter()
            .filter(|code| code.severity() == Severity::Warning && code.hint().is_none())
            .map(|code| code.as_str())
            .collect();
        assert_eq!(without, ["event-too-large"]);
    }
}
