use super::*;
use crate::consumer::delivery::NoticeKind;

const TIME: Timestamp = Timestamp(1_796_071_266_123_456);

fn stream() -> StreamName {
    StreamName::new("accounts").unwrap()
}

fn options(output: &str) -> FormatOptions {
    let kind = FormatKind::parse(output).unwrap();
    FormatOptions { comments: true, notices: true, ..FormatOptions::new(kind, stream()) }
}

fn trade(data: &str) -> EventRecord<'_> {
    EventRecord { id: Some("53990"), own_id: Some("53990"), event: "trade", data, time: TIME, replayed: false }
}

fn bare(data: &str) -> EventRecord<'_> {
    EventRecord { id: None, own_id: None, event: "message", data, time: TIME, replayed: false }
}

fn dropped() -> Notice {
    let text = "you are reading too slowly, dropped 10000 messages";
    Notice { dropped: Some(10_000), ..Notice::new(NoticeKind::DropNotice, text) }
}

/// What the events give, one after the other in one batch.
fn written(options: FormatOptions, events: &[EventRecord<'_>]) -> String {
    let mut formatter = Formatter::new(options);
    let mut batch = Vec::new();
    for event in events {
        assert!(formatter.is_wanted(event));
        formatter.event(&mut batch, event);
    }
    String::from_utf8(batch).unwrap()
}

/// An event, a comment and each sort of notice.
fn all_kinds(options: FormatOptions) -> String {
    let mut formatter = Formatter::new(options);
    let mut batch = Vec::new();
    formatter.event(&mut batch, &trade("{\"price\":1.5}"));
    formatter.event(&mut batch, &EventRecord { replayed: true, ..trade("two\nlines") });
    formatter.event(&mut batch, &bare(""));
    formatter.comment(&mut batch, "ping", TIME);
    formatter.notice(&mut batch, &Notice::new(NoticeKind::Connected, "HTTP/1.1 200 OK"), TIME);
    formatter.notice(&mut batch, &dropped(), TIME);
    let text = "filled from `53000`";
    let finished =
        Notice { recovered: Some(9_990), removed: Some(3), ..Notice::new(NoticeKind::RecoveryFinished, text) };
    formatter.notice(&mut batch, &finished, TIME);
    String::from_utf8(batch).unwrap()
}

#[test]
fn json_records_are_the_contract() {
    let expected = [
        r#"{"kind":"event","stream":"accounts","id":"53990","event":"trade","data":"{\"price\":1.5}","time":"2026-11-30T20:41:06.123456Z"}"#,
        r#"{"kind":"event","stream":"accounts","id":"53990","event":"trade","data":"two\nlines","time":"2026-11-30T20:41:06.123456Z","replayed":true}"#,
        r#"{"kind":"event","stream":"accounts","id":null,"event":"message","data":"","time":"2026-11-30T20:41:06.123456Z"}"#,
        r#"{"kind":"comment","stream":"accounts","text":"ping","time":"2026-11-30T20:41:06.123456Z"}"#,
        r#"{"kind":"notice","stream":"accounts","notice":"connected","text":"HTTP/1.1 200 OK","time":"2026-11-30T20:41:06.123456Z"}"#,
        r#"{"kind":"notice","stream":"accounts","notice":"drop-notice","text":"you are reading too slowly, dropped 10000 messages","dropped":10000,"time":"2026-11-30T20:41:06.123456Z"}"#,
        r#"{"kind":"notice","stream":"accounts","notice":"recovery-finished","text":"filled from `53000`","recovered":9990,"removed":3,"time":"2026-11-30T20:41:06.123456Z"}"#,
    ];
    let got = all_kinds(options("json"));
    assert_eq!(got.lines().collect::<Vec<_>>(), expected);
    assert!(got.ends_with("}\n"));
    for line in got.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn json_data_is_embedded_only_where_it_is_json() {
    let options = FormatOptions { json_data: true, ..options("json") };
    let got = written(options, &[trade("{\"price\": 1.50}"), trade("{\n\"a\": 1\n}"), trade("[DONE]")]);
    let data: Vec<&str> = got.lines().map(|line| line.split_once("\"data\":").unwrap().1).collect();
    assert_eq!(
        data,
        [
            r#"{"price": 1.50},"time":"2026-11-30T20:41:06.123456Z"}"#,
            r#"{"a":1},"time":"2026-11-30T20:41:06.123456Z"}"#,
            r#""[DONE]","time":"2026-11-30T20:41:06.123456Z"}"#,
        ]
    );
}

#[test]
fn a_name_that_needs_escapes_is_escaped() {
    let name = StreamName::new("a\"b\u{202e}").unwrap();
    let on = |terminal| FormatOptions { terminal, ..FormatOptions::new(FormatKind::Json, name.clone()) };
    assert!(written(on(false), &[bare("")]).starts_with("{\"kind\":\"event\",\"stream\":\"a\\\"b\u{202e}\","));
    assert!(written(on(true), &[bare("")]).starts_with("{\"kind\":\"event\",\"stream\":\"a\\\"b\\u202e\","));
}

#[test]
fn comments_and_notices_only_where_asked_for() {
    for output in ["pretty", "json", "data", "raw", "{data}"] {
        let mut formatter = Formatter::new(FormatOptions { comments: false, notices: false, ..options(output) });
        let mut batch = Vec::new();
        formatter.comment(&mut batch, "ping", TIME);
        formatter.notice(&mut batch, &dropped(), TIME);
        assert!(batch.is_empty(), "{output}");
    }
}

#[test]
fn data_is_the_data_alone() {
    let got = written(options("data"), &[trade("{\"price\":1.5}"), trade("two\nlines"), bare("")]);
    assert_eq!(got, "{\"price\":1.5}\ntwo\nlines\n\n");
}

#[test]
fn raw_is_sse_again() {
    let reset = EventRecord { own_id: Some(""), id: None, ..bare(" x") };
    let inherited = EventRecord { own_id: None, ..trade("a\n\nb") };
    let got = written(options("raw"), &[trade("one"), inherited, bare(""), reset]);
    assert_eq!(
        got,
        "id: 53990\nevent: trade\ndata: one\n\n\
         event: trade\ndata: a\ndata:\ndata: b\n\n\
         id:\ndata:\n\n\
         id:\ndata:  x\n\n"
    );
}

#[test]
fn raw_gives_the_id_in_force_though_it_came_with_what_is_not_written() {
    let mut only_trades = options("raw");
    only_trades.types = vec!["trade".into()];
    let held_back = EventRecord { own_id: Some("2"), id: Some("2"), ..bare("x") };
    let inherits = EventRecord { own_id: None, id: Some("2"), ..trade("a") };
    let after_an_id_only_block = EventRecord { own_id: None, id: Some("3"), ..trade("b") };
    let again = EventRecord { own_id: None, id: Some("3"), ..trade("c") };
    let mut formatter = Formatter::new(only_trades);
    let mut got = Vec::new();
    let events = [held_back, inherits, after_an_id_only_block, again];
    let are_written = events.map(|event| {
        let wanted = formatter.is_wanted(&event);
        if wanted {
            formatter.event(&mut got, &event);
        }
        wanted
    });
    assert_eq!(are_written, [false, true, true, true]);
    let expected = "id: 2\nevent: trade\ndata: a\n\nid: 3\nevent: trade\ndata: b\n\nevent: trade\ndata: c\n\n";
    assert_eq!(String::from_utf8(got).unwrap(), expected);
}

#[test]
fn an_id_that_no_field_can_carry_does_not_break_out_of_it() {
    for id in ["1\ndata: forged", "1\rdata: forged", "1\0"] {
        let got = written(options("raw"), &[EventRecord { own_id: Some(id), id: Some(id), ..trade("x") }]);
        assert_eq!(got, "event: trade\ndata: x\n\n");
    }
}

#[test]
fn additions_are_comments_where_a_format_has_no_record_for_them() {
    for output in ["raw", "data", "{id}"] {
        let mut formatter = Formatter::new(options(output));
        let mut batch = Vec::new();
        formatter.comment(&mut batch, "ping", TIME);
        formatter.comment(&mut batch, "", TIME);
        formatter.notice(&mut batch, &dropped(), TIME);
        let got = String::from_utf8(batch).unwrap();
        let notice = "ssectl drop-notice: you are reading too slowly, dropped 10000 messages (10000 dropped)";
        assert_eq!(got, format!(": ping\n:\n: {notice}\n"), "{output}");
    }
}

#[test]
fn a_template_is_filled_in() {
    let events = [trade("x"), EventRecord { id: None, ..bare("y\nz") }];
    let got = written(options(r"{stream}\t{id}\t{event}\t{{{data}}}\\"), &events);
    assert_eq!(got, "accounts\t53990\ttrade\t{x}\\\naccounts\t\tmessage\t{y\nz}\\\n");
    assert_eq!(written(options(r"{time}"), &[trade("x")]), "2026-11-30T20:41:06.123456Z\n");
}

#[test]
fn a_template_ends_its_line_once() {
    assert_eq!(written(options("{data}"), &[trade("x")]), "x\n");
    assert_eq!(written(options(r"{data}\n"), &[trade("x")]), "x\n");
    assert_eq!(written(options(r"{data}\n\n"), &[trade("x")]), "x\n\n");
    assert_eq!(written(options("{data}"), &[trade("x\n")]), "x\n\n");
}

#[test]
fn what_is_no_format_says_why() {
    let messages: Vec<String> = ["jsno", "", "{dta}", r"{id}\q", r"{id}\", "{id", "id}", r#"{"id":"{id}"}"#]
        .iter()
        .map(|value| FormatKind::parse(value).unwrap_err().to_string())
        .collect();
    insta::assert_snapshot!(messages.join("\n"));
}

#[test]
fn formats_with_ids() {
    for (output, has_ids) in
        [("json", true), ("raw", true), ("pretty", true), ("data", false), ("{data}", false), ("{id}{data}", true)]
    {
        assert_eq!(FormatKind::parse(output).unwrap().has_ids(), has_ids, "{output}");
    }
}

#[test]
fn pretty_is_readable() {
    insta::assert_snapshot!(all_kinds(options("pretty")));
}

#[test]
fn pretty_names_the_stream_where_several_run() {
    insta::assert_snapshot!(all_kinds(FormatOptions { several: true, ..options("pretty") }));
}

#[test]
fn pretty_in_colour() {
    let colored = all_kinds(FormatOptions { several: true, color: true, ..options("pretty") });
    insta::assert_snapshot!(colored.replace('\u{1b}', "ESC"));
}

/// Everything a server can choose, hostile: on a terminal nothing of it arrives, in any format.
#[test]
fn no_format_lets_a_stream_drive_the_terminal() {
    let hostile = "\u{1b}]0;t\u{7} \u{9b}2J \u{202e} \u{7f} \r \u{1b}[2J";
    let notice = Notice::new(NoticeKind::DropNotice, hostile);
    for output in ["pretty", "json", "data", "raw", "{id} {event} {data} {stream} {time}"] {
        for json_data in [false, true] {
            let name = StreamName::new("a\u{202e}b").unwrap();
            let options = FormatOptions { stream: name, several: true, terminal: true, json_data, ..options(output) };
            let mut formatter = Formatter::new(options);
            let mut batch = Vec::new();
            let data = format!("\"{}\"\n{hostile}", "\u{9b}\u{202e}\u{7f}");
            for data in [data.as_str(), "\"\u{9b}2J\u{202e}\u{7f}\""] {
                let event = EventRecord { id: Some(hostile), own_id: Some(hostile), event: hostile, ..trade(data) };
                formatter.event(&mut batch, &event);
            }
            formatter.comment(&mut batch, hostile, TIME);
            formatter.notice(&mut batch, &notice, TIME);
            let got = String::from_utf8(batch).unwrap();
            assert!(!got.chars().any(crate::output::escape::is_unsafe), "{output}: {got:?}");
        }
    }
}

#[test]
fn pretty_is_safe_wherever_it_goes() {
    let got = written(options("pretty"), &[trade("\u{1b}[31m")]);
    assert_eq!(got, "20:41:06.123Z 53990 trade \\x1b[31m\n");
}

#[test]
fn what_goes_to_a_program_is_not_changed() {
    assert_eq!(written(options("data"), &[trade("\u{1b}[31m")]), "\u{1b}[31m\n");
    assert!(written(options("raw"), &[trade("\u{1b}[31m")]).contains("data: \u{1b}[31m\n"));
}

#[test]
fn filters_hold_back_what_matches_no_type_or_no_expression() {
    let grep = vec![Regex::new("^a").unwrap(), Regex::new("z$").unwrap()];
    let types = vec!["trade".to_owned(), "quote".to_owned()];
    let formatter = Formatter::new(FormatOptions { types, grep, ..options("data") });
    let event = |event: &'static str, data| formatter.is_wanted(&EventRecord { event, ..trade(data) });
    assert!(event("trade", "a1"));
    assert!(event("quote", "1z"));
    assert!(!event("trade", "b1"), "the type alone is not enough");
    assert!(!event("message", "a2"), "the data alone is not enough");
}

#[test]
fn a_batch_that_has_grown_is_enough_for_the_same_events_again() {
    let mut formatter = Formatter::new(options("json"));
    let mut batch = Vec::new();
    formatter.event(&mut batch, &trade("{\"price\":1.5}"));
    let capacity = batch.capacity();
    batch.clear();
    formatter.event(&mut batch, &trade("{\"price\":1.5}"));
    assert_eq!(batch.capacity(), capacity);
}
