use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Parser;

use super::config::Config;
use super::template::{Field, Piece, Template};
use super::values::*;
use super::*;
use crate::cli::{Cli, Command};
use crate::error::{Exit, Failure};

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
            let _ = (Template::parse(&text), Environment::default().expand(&text));
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
        assert_eq!(parse::idle_timeout("30s"), Ok(IdleTimeout::After(Duration::from_secs(30))));
        assert!(parse::idle_timeout("15").unwrap_err().contains("`15s`"));
        assert!(parse::idle_timeout("none").is_err());
        assert!(parse::idle_timeout("0s").unwrap_err().contains("off"));
    }

    #[test]
    fn headers_are_names_with_values_or_files() {
        let inline = |name: &str, value: &str| HeaderSource::Inline { name: name.into(), value: Secret::new(value) };
        assert_eq!(parse::header("A: b: c "), Ok(inline("A", "b: c")));
        assert_eq!(parse::header("Accept:"), Ok(inline("Accept", "")));
        assert_eq!(parse::header("@h.txt"), Ok(HeaderSource::File("h.txt".into())));
        for text in ["hunter22", "a b: hunter22", ": hunter22", "A: hunter22\nB: c", "@"] {
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
    fn templates_hold_fields_and_escapes() {
        let template = Template::parse("{id}\\t{{x}} {data}\\n").unwrap();
        let expected = [
            Piece::Field(Field::Id),
            Piece::Literal("\t{x} ".into()),
            Piece::Field(Field::Data),
            Piece::Literal("\n".into()),
        ];
        assert_eq!(template.pieces(), expected);
        assert!(template.has_id() && !Template::parse("{data}").unwrap().has_id());
        let why = Template::parse("{dta}").unwrap_err();
        assert!(why.contains("`{data}`?") && why.contains("`{stream}`"), "{why}");
        for text in ["{", "}", "{id", "{id}\\q", "{id}\\", "{{}}", "a\\n"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        assert!(parse::output_format("jsno").unwrap_err().contains("`json`?"));
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
            HeaderSource::Inline { name, value } => format!("{name}={}", value.expose()),
            HeaderSource::File(path) => path.display().to_string(),
        };
        settings.streams[0].connection.headers.iter().map(show).collect()
    }

    #[test]
    fn a_streams_table_lies_over_the_defaults() {
        let settings = ConfigFile::new(CONFIG).resolve(&["tail", "accounts"]).unwrap();
        let stream = &settings.streams[0];
        assert_eq!((stream.name.as_str(), stream.from_config), ("accounts", true));
        assert_eq!(stream.url.as_str(), "https://h.example/accounts");
        assert_eq!(stream.cursors.window, Duration::from_secs(7_200));
        assert!(!stream.connection.insecure && !stream.connection.reconnect);
        assert_eq!(stream.connection.max_retries, Some(3));
        assert_eq!(stream.connection.send_cursor, SendCursor::Query("since_id".into()));
        assert_eq!(headers(&settings), ["B=defaults", "a=stream", "C=hunter22"]);
        assert_eq!(stream.cursors.drop_events, ["d"]);
        assert_eq!(stream.cursors.drop_notices[0].as_str(), r"lost (?<dropped>\d+)");
        let basic = Credentials::Basic { user: "me".into(), password: Secret::new("hunter22") };
        assert_eq!(stream.connection.credentials, Some(basic));
        assert!(!format!("{settings:?}").contains("hunter22"));
    }

    #[test]
    fn flags_lie_over_both() {
        let args = ["--window", "3h", "-H", "A: flag", "--bearer-cmd", "other", "--reconnect", "--drop-event", "f"];
        let settings = ConfigFile::new(CONFIG).resolve(&[&["tail", "accounts"][..], &args].concat()).unwrap();
        let stream = &settings.streams[0];
        assert_eq!(stream.cursors.window, Duration::from_secs(10_800));
        assert_eq!(headers(&settings), ["B=defaults", "C=hunter22", "A=flag"]);
        assert_eq!(stream.connection.credentials, Some(Credentials::BearerCommand(Secret::new("other"))));
        assert!(stream.connection.reconnect);
        assert_eq!(stream.cursors.drop_events, ["f"]);
    }

    #[test]
    fn defaults_hold_for_a_url_too() {
        let settings = ConfigFile::new(CONFIG).resolve(&["tail", "http://h.example/e"]).unwrap();
        assert_eq!(settings.streams[0].cursors.window, Duration::from_secs(3_600));
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

    #[test]
    fn what_is_not_said_has_its_default() {
        let settings = settings(&["tail", "https://h.example:8443/v1/e?x=1&token=s"]);
        let stream = &settings.streams[0];
        assert_eq!(stream.name.as_str(), "h.example:8443/v1/e?x=1");
        assert_eq!(stream.connection.method, "GET");
        assert!(stream.connection.reconnect);
        assert_eq!(stream.connection.retry_max, Duration::from_secs(30));
        assert_eq!(stream.connection.event_bytes_max, 64 << 20);
        assert_eq!(stream.cursors.window, Duration::from_secs(900));
        assert!(stream.cursors.default_drop_notices);
        assert_eq!(settings.output.format, OutputFormat::Json);
        assert_eq!(settings.output.read_ahead_bytes, 8 << 20);
        assert_eq!(settings.verbosity, Verbosity::Normal);
        assert!(!settings.bounds.is_bounded());
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
        let connection = |args: &[&str]| {
            let all = [&["tail", "http://h/"], args].concat();
            settings(&all).streams[0].connection.clone()
        };
        let post = connection(&["-d", "{}"]);
        assert_eq!((post.method.as_str(), post.reconnect), ("POST", false));
        assert!(connection(&["-d", "{}", "--reconnect"]).reconnect);
        assert_eq!(connection(&["-d", "{}", "-X", "PUT"]).method, "PUT");
        let get = connection(&["-d", "@-", "-X", "GET"]);
        assert_eq!((get.body, get.reconnect), (Some(BodySource::Stdin), true));
        assert!(!connection(&["--no-reconnect"]).reconnect);
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
        assert_eq!(settings.streams[0].connection.credentials, Some(Credentials::Bearer(Secret::new("hunter22"))));
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
        assert_eq!(long.streams[0].connection.retry_max, Duration::from_secs(60));
        let short = settings(&["tail", "http://h/", "--retry-max", "100ms"]);
        assert_eq!(short.streams[0].connection.retry_initial, Duration::from_millis(100));
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
