use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;

use super::config::Config;
use super::values::*;
use super::*;
use crate::cli::{Cli, Command};
use crate::error::{Exit, Failure};
use crate::http::Bearer;
use crate::output::format::Template;
use crate::redact::Secret;

fn env(vars: &[(&str, &str)]) -> Environment {
    let vars: HashMap<_, _> = vars.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Environment { vars, ..Environment::default() }
}

fn resolve(args: &[&str], env: &Environment) -> Result<Settings, Failure> {
    let cli = Cli::try_parse_from([&["ssectl"], args].concat()).unwrap_or_else(|error| panic!("{error}"));
    match cli.command {
        Command::Tail(args) => Settings::of_tail(*args, env),
        Command::Resume(args) => Settings::of_resume(*args, env),
        Command::Replay(args) => Settings::of_replay(*args, env),
        other => panic!("{other:?} has other settings"),
    }
}

fn settings(args: &[&str]) -> Settings {
    resolve(args, &env(&[("HOME", "/home/me")])).unwrap_or_else(|failure| panic!("{failure}"))
}

fn refusal(args: &[&str]) -> String {
    let failure = resolve(args, &env(&[("HOME", "/home/me")])).expect_err("it must be refused");
    assert_eq!(failure.exit, Exit::Usage);
    failure.to_string()
}

/// A config file in a directory of its own, and what reads it.
struct ConfigFile {
    _directory: tempfile::TempDir,
    path: PathBuf,
    env: Environment,
}

impl ConfigFile {
    fn new(text: &str) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.toml");
        std::fs::write(&path, text).unwrap();
        let env = env(&[("HOME", "/home/me"), ("SSECTL_CONFIG", path.to_str().unwrap()), ("TOKEN", "hunter22")]);
        Self { _directory: directory, path, env }
    }

    fn resolve(&self, args: &[&str]) -> Result<Settings, Failure> {
        resolve(args, &self.env)
    }

    fn refusal(&self, args: &[&str]) -> String {
        let failure = self.resolve(args).expect_err("it must be refused");
        assert_eq!(failure.exit, Exit::Usage);
        failure.to_string()
    }
}

mod parsers {
    use super::*;

    #[test]
    fn durations_have_units() {
        let good = [
            ("500ms", 500),
            ("0.1s", 100),
            ("1.5s", 1_500),
            ("15m", 900_000),
            ("2h", 7_200_000),
            ("7d", 604_800_000),
            ("0s", 0),
        ];
        for (text, ms) in good {
            assert_eq!(parse::duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "s", "15", "1x", "1..5s", ".5s", "1.s", "-1s", "1 s", "99999999999999999999d", "1h30m", "١s"]
        {
            assert!(parse::duration(text).is_err(), "{text}");
        }
        assert!(parse::duration("15").unwrap_err().contains("`15s`"));
    }

    #[test]
    fn a_duration_is_written_as_it_is_read() {
        for (ms, text) in [(900_000, "15m"), (5_400_000, "90m"), (86_400_000, "1d"), (1_500, "1500ms"), (0, "0s")] {
            assert_eq!(parse::duration_text(Duration::from_millis(ms)), text);
        }
        assert_eq!(parse::duration_text(Duration::from_micros(1_250)), "1.25ms");
        assert_eq!(parse::duration_text(Duration::from_micros(5)), "0.005ms");
    }

    proptest::proptest! {
        #[test]
        fn any_duration_survives(micros in 0_u64..u64::MAX / 2_000) {
            let duration = Duration::from_micros(micros);
            proptest::prop_assert_eq!(parse::duration(&parse::duration_text(duration)), Ok(duration));
        }

        #[test]
        fn no_text_panics(text in "\\PC*") {
            let _ = (parse::duration(&text), parse::size(&text), parse::header(&text), parse::pointer(&text));
            let _ = (parse::output_format(&text), Environment::default().expand(&text));
        }
    }

    #[test]
    fn an_export_is_rotated_by_a_duration_or_else_a_size() {
        use crate::output::export::RotationLimit::{Age, Bytes};
        assert_eq!(parse::rotation("15m"), Ok(Age(Duration::from_secs(900))));
        assert_eq!(parse::rotation("15M"), Ok(Bytes(15 << 20)));
        assert_eq!(parse::rotation("64MiB"), Ok(Bytes(64 << 20)));
        assert_eq!(parse::rotation("512"), Ok(Bytes(512)));
        for bad in ["", "daily", "0s", "0", "1w"] {
            assert!(parse::rotation(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sizes_count_in_1024s_unless_they_say_kb() {
        let good = [
            ("64KiB", 65_536),
            ("8MiB", 8 << 20),
            ("2k", 2_048),
            ("2K", 2_048),
            ("1MB", 1_000_000),
            ("1.5M", 3 << 19),
            ("512", 512),
            ("512B", 512),
            ("1GiB", 1 << 30),
        ];
        for (text, bytes) in good {
            assert_eq!(parse::size(text), Ok(bytes), "{text}");
        }
        for text in ["", "k", "0", "0.1", "1XB", "-1k", "99999999999G"] {
            assert!(parse::size(text).is_err(), "{text}");
        }
    }

    #[test]
    fn idle_timeouts_are_auto_off_or_a_duration() {
        assert_eq!(parse::idle_timeout("auto"), Ok(IdleTimeout::Auto));
        assert_eq!(parse::idle_timeout("off"), Ok(IdleTimeout::Off));
        assert_eq!(parse::idle_timeout("30s"), Ok(IdleTimeout::Fixed(Duration::from_secs(30))));
        assert!(parse::idle_timeout("15").unwrap_err().contains("`15s`"));
        assert!(parse::idle_timeout("none").is_err());
        assert!(parse::idle_timeout("0s").unwrap_err().contains("off"));
    }

    #[test]
    fn headers_are_names_with_values_or_files() {
        let inline = |name: &str, value: Option<&str>| {
            HeaderSource::Inline(Header { name: name.into(), value: value.map(Secret::new) })
        };
        assert_eq!(parse::header("A: b: c "), Ok(inline("A", Some("b: c"))));
        assert_eq!(parse::header("Accept:"), Ok(inline("Accept", None)));
        assert_eq!(parse::header("X-Empty;"), Ok(inline("X-Empty", Some(""))));
        assert_eq!(parse::header("@h.txt"), Ok(HeaderSource::File("h.txt".into())));
        for text in ["hunter22", "a b: hunter22", ": hunter22", "A: hunter22\nB: c", "hunter22\nA;", "@"] {
            let why = parse::header(text).expect_err(text);
            assert!(!why.contains("hunter22"), "{why}");
        }
    }

    #[test]
    fn cursors_go_into_a_header_or_a_parameter() {
        assert_eq!(parse::send_cursor("header"), Ok(SendCursor::Header));
        assert_eq!(parse::send_cursor("query:since_id"), Ok(SendCursor::Query("since_id".into())));
        for text in ["query:", "query", "header:X", "cookie:x", ""] {
            assert!(parse::send_cursor(text).is_err(), "{text}");
        }
    }

    #[test]
    fn pointers_start_with_a_slash() {
        for text in ["/a", "/a/0/b~1c~0", "/"] {
            assert!(parse::pointer(text).is_ok(), "{text}");
        }
        assert!(parse::pointer("a.b").unwrap_err().contains("`/a/b`"));
        for text in ["", "/a~2", "/a~"] {
            assert!(parse::pointer(text).is_err(), "{text}");
        }
        assert_eq!(parse::dedupe("/a").map(|_| ()), Ok(()));
        assert!(parse::dedupe("ids").is_err());
        assert!(parse::dedupe("").is_err());
    }

    #[test]
    fn starts_are_live_or_an_id() {
        assert_eq!(parse::initial("live"), Ok(Initial::Live));
        assert_eq!(parse::initial("id:a:b"), Ok(Initial::Id(EventId::new("a:b").unwrap())));
        for text in ["id:", "7", "id", "live:"] {
            assert!(parse::initial(text).is_err(), "{text}");
        }
    }

    #[test]
    fn formats_are_names_or_templates_and_near_ones_are_named() {
        assert_eq!(parse::output_format("raw"), Ok(OutputFormat::Raw));
        let template = Template::parse("{id}\\t{data}").unwrap();
        assert_eq!(parse::output_format("{id}\\t{data}"), Ok(OutputFormat::Template(template)));
        let why = parse::output_format("{dta}").unwrap_err();
        assert!(why.contains("`{data}`?") && why.contains("`{stream}`"), "{why}");
        assert!(parse::output_format("jsno").unwrap_err().ends_with("`json`?"));
        assert!(!parse::output_format("{id").unwrap_err().contains('?'));
    }

    #[test]
    fn variables_are_replaced_and_may_not_be_unset() {
        let env = env(&[("A", "x"), ("EMPTY", "")]);
        assert_eq!(env.expand("-${A}-${A}${EMPTY}$A {}"), Ok("-x-x$A {}".into()));
        assert_eq!(env.expand("$${A}"), Ok("${A}".into()));
        assert!(env.expand("${B}").unwrap_err().contains("`B`"));
        assert!(env.expand("${A").is_err());
    }
}

mod precedence {
    use super::*;

    const CONFIG: &str = r#"
[defaults]
window = "1h"
insecure = true
headers = { A = "defaults", B = "defaults" }
drop-event = ["d"]
bearer-cmd = "print-token"
max-retries = 3

[streams.accounts]
url = "https://h.example/accounts"
window = "2h"
insecure = false
headers = { a = "stream", C = "${TOKEN}" }
user = "me:${TOKEN}"
drop-notice = ['lost (?<dropped>\d+)']
send-cursor = "query:since_id"
no-reconnect = true
"#;

    fn headers(settings: &Settings) -> Vec<String> {
        let show = |header: &HeaderSource| match header {
            HeaderSource::Inline(Header { name, value }) => {
                format!("{name}={}", value.as_ref().map_or("nothing", |value| value.expose()))
            }
            HeaderSource::File(path) => path.display().to_string(),
        };
        settings.streams[0].http.headers.iter().map(show).collect()
    }

    fn drops_at_event(stream: &StreamSettings, event: &str) -> bool {
        stream.policy.notices.event(event, "").is_some()
    }

    #[test]
    fn a_streams_table_lies_over_the_defaults() {
        let settings = ConfigFile::new(CONFIG).resolve(&["tail", "accounts"]).unwrap();
        let stream = &settings.streams[0];
        assert_eq!((stream.name.as_str(), stream.from_config), ("accounts", true));
        assert_eq!(stream.http.url.as_str(), "https://h.example/accounts");
        assert_eq!(stream.policy.window, Duration::from_secs(7_200));
        assert!(!stream.http.insecure && !stream.connection.reconnect);
        assert!(!stream.policy.reconnect && !stream.policy.header_cursor);
        assert_eq!(stream.connection.backoff.max_retries, Some(3));
        assert_eq!(stream.http.send_cursor, SendCursor::Query("since_id".into()));
        assert_eq!(headers(&settings), ["B=defaults", "a=stream", "C=hunter22"]);
        assert!(drops_at_event(stream, "d") && drops_at_event(stream, "lagged"));
        assert_eq!(stream.policy.notices.comment("lost 7").and_then(|dropped| dropped.count), Some(7));
        assert_eq!(stream.policy.notices.comment("found 7"), None);
        assert_eq!((&stream.http.user, &stream.http.bearer), (&Some(Secret::new("me:hunter22")), &None));
        assert!(!format!("{settings:?}").contains("hunter22"));
    }

    #[test]
    fn flags_lie_over_both() {
        let args = ["--window", "3h", "-H", "A: flag", "--bearer-cmd", "other", "--reconnect", "--drop-event", "f"];
        let settings = ConfigFile::new(CONFIG).resolve(&[&["tail", "accounts"][..], &args].concat()).unwrap();
        let stream = &settings.streams[0];
        assert_eq!(stream.policy.window, Duration::from_secs(10_800));
        assert_eq!(headers(&settings), ["B=defaults", "C=hunter22", "A=flag"]);
        assert_eq!((&stream.http.user, &stream.http.bearer), (&None, &Some(Bearer::Command("other".into()))));
        assert!(stream.connection.reconnect);
        assert!(drops_at_event(stream, "f") && !drops_at_event(stream, "d"));
    }

    #[test]
    fn credentials_of_a_layer_take_the_place_of_those_below_in_whatever_form() {
        let config = "[streams.a]\nurl = \"http://h/\"\nheaders = { Authorization = \"Basic old\" }\n\
                      [streams.b]\nurl = \"http://h/\"\nuser = \"me:old\"\n";
        let settings = ConfigFile::new(config).resolve(&["tail", "a", "-u", "me:new"]).unwrap();
        assert!(headers(&settings).is_empty());
        assert!(settings.streams[0].http.user.is_some());
        let settings = ConfigFile::new(config).resolve(&["tail", "b", "-H", "Authorization: Basic new"]).unwrap();
        assert_eq!(headers(&settings), ["Authorization=Basic new"]);
        assert!(settings.streams[0].http.user.is_none());
    }

    #[test]
    fn what_is_written_may_stand_in_the_config_file_and_is_one_thing_for_all() {
        let config = "[defaults]\noutput = \"data\"\nevent = [\"trade\"]\nread-ahead = \"1MiB\"\n\
                      [streams.a]\nurl = \"http://h/a\"\ncomments = true\n[streams.b]\nurl = \"http://h/b\"\n";
        let output = ConfigFile::new(config).resolve(&["tail", "a"]).unwrap().output;
        assert_eq!((output.format, output.events.as_slice()), (OutputFormat::Data, &["trade".to_owned()][..]));
        assert!(output.comments && output.read_ahead_bytes == 1 << 20);
        let output = ConfigFile::new(config).resolve(&["tail", "b", "-o", "raw", "-e", "quote"]).unwrap().output;
        assert_eq!((output.format, output.events.as_slice()), (OutputFormat::Raw, &["quote".to_owned()][..]));
        let refused = ConfigFile::new(config).resolve(&["tail", "a", "b"]).unwrap_err();
        assert!(refused.to_string().contains("differ in what is written"), "{refused}");
        assert!(ConfigFile::new(config).resolve(&["tail", "a", "b", "--comments"]).is_ok());
    }

    #[test]
    fn a_header_may_be_taken_away_or_emptied() {
        let args = ["tail", "accounts", "-H", "b:", "-H", "C;", "-H", "@/dev/null"];
        let settings = ConfigFile::new(CONFIG).resolve(&args).unwrap();
        assert_eq!(headers(&settings), ["a=stream", "b=nothing", "C=", "/dev/null"]);
    }

    #[test]
    fn start_parameters_win_by_name() {
        let file = ConfigFile::new("[defaults]\nstart-param = [\"a=1\", \"B=2\", \"c=3\"]\n");
        let args = ["tail", "http://h/", "--start-param", "b=4", "--start-param", "c=5"];
        let pairs = &file.resolve(&args).unwrap().streams[0].http.start_params;
        let pairs: Vec<_> = pairs.iter().map(|(name, value)| format!("{name}={value}")).collect();
        assert_eq!(pairs, ["a=1", "B=2", "b=4", "c=5"], "case is part of a parameter's name");
    }

    #[test]
    fn defaults_hold_for_a_url_too() {
        let settings = ConfigFile::new(CONFIG).resolve(&["tail", "http://h.example/e"]).unwrap();
        assert_eq!(settings.streams[0].policy.window, Duration::from_secs(3_600));
        assert!(!settings.streams[0].from_config);
    }

    #[test]
    fn the_database_is_the_flags_then_the_environments_then_the_configs() {
        let mut file = ConfigFile::new("defaults = { db = \"/of/config\" }");
        let db = |file: &ConfigFile, args: &[&str]| {
            file.resolve(&[&["tail", "http://h/"], args].concat()).unwrap().store.db.map(|db| db.display().to_string())
        };
        assert_eq!(db(&file, &[]).as_deref(), Some("/of/config"));
        file.env.vars.insert("SSECTL_DB".into(), "/of/env".into());
        assert_eq!(db(&file, &[]).as_deref(), Some("/of/env"));
        assert_eq!(db(&file, &["--db", "/of/flag"]).as_deref(), Some("/of/flag"));
        assert_eq!(db(&file, &["--no-store"]), None);
    }

    #[test]
    fn the_database_lies_in_the_state_directory() {
        let db = |vars: &[(&str, &str)]| {
            let settings = resolve(&["tail", "http://h/"], &env(vars)).unwrap();
            settings.store.db.unwrap().display().to_string()
        };
        assert_eq!(db(&[("HOME", "/me")]), "/me/.local/state/ssectl/ssectl.db");
        assert_eq!(db(&[("HOME", "/me"), ("XDG_STATE_HOME", "/s")]), "/s/ssectl/ssectl.db");
        assert_eq!(db(&[("HOME", "/me"), ("XDG_STATE_HOME", "relative")]), "/me/.local/state/ssectl/ssectl.db");
        let failure = resolve(&["tail", "http://h/"], &env(&[])).unwrap_err();
        assert!(failure.to_string().contains("--db"), "{failure}");
        assert!(resolve(&["tail", "http://h/", "--no-store"], &env(&[])).is_ok());
    }

    #[test]
    fn colour_is_for_terminals_unless_told_otherwise() {
        let color = |args: &[&str], terminal: bool, no_color: &str| {
            let mut env = env(&[("HOME", "/me"), ("NO_COLOR", no_color)]);
            env.stdout_is_terminal = terminal;
            resolve(&[&["tail", "http://h/"], args].concat(), &env).unwrap().color.stdout
        };
        assert!(color(&[], true, ""));
        assert!(!color(&[], false, ""));
        assert!(!color(&[], true, "1"));
        assert!(color(&["--color", "always"], false, "1"));
        assert!(!color(&["--color", "never"], true, ""));
    }
}

mod config_file {
    use super::*;

    fn parse(text: &str) -> String {
        Config::parse("c.toml".into(), text).expect_err(text).to_string()
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest_known_one() {
        let why = parse("[streams.a]\nurl = \"http://h/\"\nwindw = \"1s\"\n");
        assert!(why.contains("`c.toml`") && why.contains("line 3") && why.contains("`window`?"), "{why}");
        assert!(parse("[default]\n").contains("`defaults`?"));
        assert!(parse("[defaults]\nhttp1.1 = true\n").contains("`\"http1.1\"`?"));
        assert!(parse("[streams.a]\nurl = \"http://h/\"\ndb = \"x\"\n").contains("[defaults]"));
        assert!(parse("[defaults]\nurl = \"http://h/\"\n").contains("own table"));
        assert!(parse("[streams.a]\nurl = \"http://h/\"\nlast-event-id = \"7\"\n").contains("line 3"));
    }

    #[test]
    fn what_is_no_config_file_says_where() {
        assert!(parse("[defaults]\nwindow = \n").contains("line 2"));
        assert!(parse("[streams.a]\nwindow = \"1s\"\n").contains("no `url`"));
        assert!(parse("[streams.\"a#b\"]\nurl = \"http://h/\"\n").contains("line 1"));
        assert!(parse("streams = 1\n").contains("table"));
    }

    #[test]
    fn a_bad_value_names_its_line_and_key() {
        let file = ConfigFile::new("[streams.a]\nurl = \"http://h/\"\nwindow = 15\n");
        let why = file.refusal(&["tail", "a"]);
        assert!(why.contains("line 3: `window`") && why.contains("\"15s\""), "{why}");
        let file = ConfigFile::new("[defaults]\nwindow = \"15\"\n");
        assert!(file.refusal(&["tail", "http://h/"]).contains("`15s`"));
    }

    #[test]
    fn an_unset_variable_matters_to_its_own_stream_only() {
        let file = ConfigFile::new(
            "[streams.a]\nurl = \"http://h/a\"\n[streams.b]\nurl = \"http://h/b\"\nheaders = { X = \"${MISSING}\" }\n",
        );
        assert!(file.resolve(&["tail", "a"]).is_ok());
        let why = file.refusal(&["tail", "b"]);
        assert!(why.contains("line 5") && why.contains("`MISSING`"), "{why}");
    }

    #[test]
    fn a_value_with_a_secret_in_it_is_not_repeated() {
        for line in
            ["headers = { \"a b\" = \"${TOKEN}\" }", "header = [\"${TOKEN}\"]", "headers = { A = \"${TOKEN}\\n\" }"]
        {
            let file = ConfigFile::new(&format!("[defaults]\n{line}\n"));
            let why = file.refusal(&["tail", "http://h/"]);
            assert!(why.contains("line 2") && !why.contains("hunter22"), "{why}");
        }
    }

    #[test]
    fn contradictions_within_a_table_are_refused() {
        let file = ConfigFile::new("[defaults]\nuser = \"a:b\"\nbearer-env = \"TOKEN\"\n");
        assert!(file.refusal(&["tail", "http://h/"]).contains("exclude"));
        let file = ConfigFile::new("[defaults]\nreconnect = true\nno-reconnect = true\n");
        assert!(file.refusal(&["tail", "http://h/"]).contains("exclude"));
    }

    #[test]
    fn an_unknown_stream_names_near_ones_and_the_file() {
        let file = ConfigFile::new("[streams.accounts]\nurl = \"http://h/\"\n");
        let why = file.refusal(&["tail", "acounts"]);
        assert!(why.contains("`accounts`?") && why.contains(file.path.to_str().unwrap()), "{why}");
        assert!(file.refusal(&["tail", "h.example/events"]).contains("`https://h.example/events`"));
    }

    #[test]
    fn only_a_named_file_must_exist() {
        let nowhere = tempfile::tempdir().unwrap();
        let nowhere = nowhere.path().join("none.toml");
        let home = env(&[("HOME", nowhere.to_str().unwrap())]);
        assert!(Config::load(None, &home).is_ok());
        assert!(Config::load(Some(Path::new(&nowhere)), &home).is_err());
        assert!(Config::load(None, &env(&[("SSECTL_CONFIG", nowhere.to_str().unwrap())])).is_err());
    }

    /// Every flag of a stream is a key, and every key is handled.
    #[test]
    fn keys_are_the_long_names_of_flags() {
        let command = crate::cli::command();
        let resume = command.find_subcommand("resume").unwrap();
        let of_stream = |arg: &&clap::Arg| matches!(arg.get_help_heading(), Some("Connection" | "Cursors"));
        let flags: Vec<_> = resume.get_arguments().filter(of_stream).filter_map(clap::Arg::get_long).collect();
        for flag in flags.iter().filter(|flag| !["last-event-id", "db", "no-store"].contains(*flag)) {
            for value in
                ["true", "\"1s\"", "\"1k\"", "[\"x\"]", "7", "\"live\"", "\"/x\"", "\"header\"", "\"stop\"", "\"warn\""]
            {
                let text = format!("[defaults]\n\"{flag}\" = {value}\n");
                let parsed = Config::parse("c.toml".into(), &text).unwrap_or_else(|why| panic!("{flag}: {why}"));
                if let Err(why) = parsed.defaults(&env(&[])) {
                    assert!(!why.to_string().contains("is not known"), "{flag}: {why}");
                }
            }
        }
        assert!(flags.len() > 35, "{flags:?}");
    }
}

mod usage {
    use super::*;
    use crate::consumer::options::Follow;

    /// A comment that the default patterns know for a drop notice.
    const NOTICE: &str = "you are reading too slowly, dropped 10000 messages";

    #[test]
    fn what_is_not_said_has_its_default() {
        let settings = settings(&["tail", "https://h.example:8443/v1/e?x=1&token=s"]);
        let stream = &settings.streams[0];
        assert_eq!(stream.name.as_str(), "h.example:8443/v1/e?x=1");
        assert_eq!(stream.http.effective_method(), "GET");
        assert_eq!(stream.http.connect_timeout, Duration::from_secs(10));
        assert!(stream.connection.reconnect && stream.policy.reconnect && stream.policy.header_cursor);
        let backoff =
            BackoffOptions { initial: Duration::from_secs(1), max: Duration::from_secs(30), max_retries: None };
        assert_eq!((stream.connection.idle, &stream.connection.backoff), (IdleTimeout::Auto, &backoff));
        assert_eq!(stream.connection.event_bytes_max, 64 << 20);
        assert_eq!(stream.policy.window, Duration::from_secs(900));
        assert_eq!(stream.policy.cooldown, Duration::from_secs(60));
        assert_eq!((stream.policy.on_drop, stream.policy.on_expired), (OnDrop::Recover, OnExpired::Stop));
        assert!(stream.policy.notices.comment(NOTICE).is_some());
        assert_eq!(settings.output.format, OutputFormat::Json);
        assert_eq!(settings.output.read_ahead_bytes, 8 << 20);
        assert_eq!(settings.verbosity, Verbosity::Normal);
        assert!(!settings.bounds.is_bounded());
    }

    #[test]
    fn what_is_said_of_the_policy_reaches_it() {
        let args = [
            "resume",
            "http://h/",
            "--no-default-drop-notices",
            "--drop-event",
            "lost",
            "--drop-notice",
            "behind by (?<dropped>[0-9]+)",
            "--dedupe",
            "/order/id",
            "--id-from",
            "/seq",
            "--no-cursor-event",
            "keepalive",
            "--drop-cooldown",
            "5s",
            "--max-replay",
            "9",
            "--on-drop",
            "exit",
            "--on-expired",
            "live",
            "--initial",
            "id:7",
        ];
        let policy = settings(&args).streams[0].policy.clone();
        assert_eq!(policy.follow, Follow::Resume);
        assert!(policy.notices.comment(NOTICE).is_none() && policy.notices.event("lagged", "").is_none());
        assert!(policy.notices.comment("behind by 3").is_some() && policy.notices.event("lost", "").is_some());
        assert!(matches!(policy.dedupe, Dedupe::Value(_)) && policy.id_from.is_some());
        assert_eq!(policy.no_cursor_events, ["keepalive"]);
        assert_eq!((policy.cooldown, policy.max_replay), (Duration::from_secs(5), Some(9)));
        assert_eq!((policy.on_drop, policy.on_expired), (OnDrop::Exit, OnExpired::Live));
        assert_eq!((policy.start, policy.initial), (None, EventId::new("7")));
        let tail = settings(&["tail", "http://h/", "--last-event-id", "8"]).streams[0].policy.clone();
        assert_eq!((tail.follow, tail.start), (Follow::Tail, EventId::new("8")));
    }

    #[test]
    fn no_credential_is_shown_by_debug() {
        let env = env(&[("HOME", "/me"), ("T", "hunter22")]);
        let secrets = [
            &["-u", "me:hunter22"][..],
            &["-H", "Cookie: hunter22"],
            &["-d", "hunter22"],
            &["--start-param", "key=hunter22"],
            &["--bearer-env", "T"],
            &["--bearer-cmd", "echo hunter22"],
            &["-x", "http://me:hunter22@proxy:3128"],
        ];
        for args in secrets {
            let all = [&["tail", "https://me:hunter22@h/e?token=hunter22"], args].concat();
            let cli = Cli::try_parse_from([&["ssectl"], &all[..]].concat()).unwrap();
            assert!(!format!("{:?}", resolve(&all, &env).unwrap()).contains("hunter22"), "{args:?}");
            let shown = format!("{cli:?}").replace("https://me:hunter22@h/e?token=hunter22", "");
            assert!(!shown.contains("hunter22"), "{args:?}: {shown}");
        }
    }

    #[test]
    fn a_terminal_gets_pretty_and_an_export_json() {
        let mut env = env(&[("HOME", "/me")]);
        env.stdout_is_terminal = true;
        let settings = resolve(&["tail", "http://h/"], &env).unwrap();
        assert_eq!(settings.output.format, OutputFormat::Pretty);
        let settings = resolve(&["resume", "http://h/", "--to", "f"], &env).unwrap();
        assert_eq!(settings.output.format, OutputFormat::Json);
        assert_eq!(settings.output.export.unwrap().commit_interval, Duration::from_secs(1));
        assert!(!settings.output.to_terminal);
    }

    #[test]
    fn a_body_implies_post_and_post_no_reconnection() {
        let stream = |args: &[&str]| settings(&[&["tail", "http://h/"], args].concat()).streams.remove(0);
        let method_and_reconnection = |args: &[&str]| {
            let stream = stream(args);
            assert_eq!(stream.connection.reconnect, stream.policy.reconnect, "both are told the same");
            (stream.http.effective_method().to_owned(), stream.connection.reconnect)
        };
        assert_eq!(method_and_reconnection(&["-d", "{}"]), ("POST".into(), false));
        assert_eq!(method_and_reconnection(&["-d", "{}", "--reconnect"]), ("POST".into(), true));
        assert_eq!(method_and_reconnection(&["-d", "{}", "-X", "PUT"]), ("PUT".into(), false));
        assert_eq!(method_and_reconnection(&["-d", "@-", "-X", "GET"]), ("GET".into(), true));
        assert_eq!(method_and_reconnection(&["--no-reconnect"]), ("GET".into(), false));
        assert_eq!(stream(&["-d", "@-"]).http.body, Some(BodySource::Stdin));
        assert_eq!(stream(&["-d", "{}"]).http.body, Some(BodySource::Inline(b"{}".to_vec())));
    }

    #[test]
    fn the_cursors_parameter_is_no_part_of_a_name() {
        let settings = settings(&["tail", "http://h/e?since=7&a=b", "--send-cursor", "query:since"]);
        assert_eq!(settings.streams[0].name.as_str(), "h/e?a=b");
    }

    #[test]
    fn a_bearer_token_is_read_from_its_variable() {
        let env = env(&[("HOME", "/me"), ("T", "hunter22")]);
        let settings = resolve(&["tail", "http://h/", "--bearer-env", "T"], &env).unwrap();
        assert_eq!(settings.streams[0].http.bearer, Some(Bearer::Token(Secret::new("hunter22"))));
        assert!(refusal(&["tail", "http://h/", "--bearer-env", "T"]).contains("`T` is not set"));
    }

    #[test]
    fn what_speaks_of_one_stream_is_refused_with_several() {
        let two = ["tail", "http://h/a", "http://h/b"];
        for args in [["--stream", "x"], ["--last-event-id", "7"], ["--until-id", "7"], ["-d", "@-"]] {
            let why = refusal(&[&two[..], &args].concat());
            assert!(why.contains("several streams"), "{why}");
        }
        assert!(refusal(&["tail", "http://h/a", "http://u:p@h/a"]).contains("twice"));
    }

    #[test]
    fn an_export_needs_ids_and_a_file_for_each_stream() {
        for format in ["data", "{data}"] {
            assert!(refusal(&["resume", "http://h/", "--to", "f", "-o", format]).contains("without ids"), "{format}");
        }
        for format in ["json", "raw", "{id} {data}"] {
            settings(&["resume", "http://h/", "--to", "f", "-o", format]);
        }
        assert!(refusal(&["resume", "http://h/a", "http://h/b", "--to", "f"]).contains("{stream}"));
        settings(&["resume", "http://h/a", "http://h/b", "--to", "{stream}.jsonl"]);
    }

    #[test]
    fn urls_are_of_http() {
        assert!(refusal(&["tail", "ftp://h/"]).contains("`ftp`"));
        let why = refusal(&["tail", "http://me:hunter22@h:99999/"]);
        assert!(!why.contains("hunter22"), "{why}");
        assert!(refusal(&["tail", "http://h/", "--proxy", "gopher://x"]).contains("`gopher`"));
        assert!(refusal(&["tail", "http://h/", "--stream", "a#b"]).contains('#'));
    }

    #[test]
    fn credentials_that_cannot_be_used_are_not_repeated() {
        for args in [["-u", "hunter22"], ["-H", "hunter22"], ["--start-param", "hunter22"]] {
            let why = refusal(&[&["tail", "http://h/"][..], &args].concat());
            assert!(!why.contains("hunter22"), "{why}");
        }
    }

    #[test]
    fn delays_must_fit_each_other() {
        assert!(refusal(&["tail", "http://h/", "--retry-initial", "1m", "--retry-max", "1s"]).contains("1m"));
        let long = settings(&["tail", "http://h/", "--retry-initial", "1m"]);
        assert_eq!(long.streams[0].connection.backoff.max, Duration::from_secs(60));
        let short = settings(&["tail", "http://h/", "--retry-max", "100ms"]);
        assert_eq!(short.streams[0].connection.backoff.initial, Duration::from_millis(100));
    }

    #[test]
    fn a_config_name_is_not_renamed() {
        let file = ConfigFile::new("[streams.a]\nurl = \"http://h/\"\n");
        assert!(file.refusal(&["tail", "a", "--stream", "b"]).contains("`a`"));
    }
}

#[test]
fn help_names_the_defaults_that_hold() {
    let mut command = crate::cli::command();
    let help = command.find_subcommand_mut("resume").unwrap().render_long_help().to_string();
    let durations = [
        ("connect-timeout", defaults::CONNECT_TIMEOUT),
        ("retry-initial", defaults::RETRY_INITIAL),
        ("retry-max", defaults::RETRY_MAX),
        ("window", defaults::WINDOW),
        ("commit-interval", defaults::COMMIT_INTERVAL),
    ];
    let says = |flag: &str, default: &str| {
        let (_, after) = help.split_once(&format!("--{flag} <")).unwrap_or_else(|| panic!("no --{flag}"));
        let (_, shown) = after.split_once("[default: ").unwrap();
        assert!(shown.starts_with(default), "--{flag}: {}", &shown[..12]);
    };
    for (flag, default) in durations {
        says(flag, &parse::duration_text(default));
    }
    says("drop-cooldown", "60s");
    assert_eq!(defaults::DROP_COOLDOWN, Duration::from_secs(60));
    says("max-event-bytes", &format!("{}MiB", defaults::MAX_EVENT_BYTES >> 20));
    says("read-ahead", &format!("{}MiB", defaults::READ_AHEAD_BYTES >> 20));
}
