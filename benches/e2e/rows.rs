//! The rows of the table: what is sent, who reads it, and what is printed.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::run::{Taken, once};
use crate::server::{Framing, Load, serve};
use crate::setting;

/// Who reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reader {
    /// `curl -sN`.
    Curl,
    /// A program of [`crate::peers`].
    Peer(&'static str),
    /// `ssectl tail --no-reconnect` with these arguments.
    Tail(&'static [&'static str]),
    /// `ssectl resume --no-reconnect --to FILE`.
    Export,
    /// `curl -o FILE`, then `sync FILE`.
    CurlToFile,
    /// `ssectl tail` of so many streams at once.
    Streams(usize),
}

const NO_STORE: &[&str] = &["-o", "json", "--no-store"];
const STORE: &[&str] = &["-o", "json"];
const DATA: &[&str] = &["-o", "data", "--no-store"];
const RAW: &[&str] = &["-o", "raw", "--no-store"];

impl Reader {
    fn name(self) -> String {
        match self {
            Self::Curl => "curl -sN".to_owned(),
            Self::Peer("read") => "read loop".to_owned(),
            Self::Peer(name) => name.to_owned(),
            Self::Tail(arguments) => format!("tail {}", arguments.join(" ")),
            Self::Export => "resume --to FILE".to_owned(),
            Self::CurlToFile => "curl -o FILE, sync".to_owned(),
            Self::Streams(count) => format!("tail of {count}"),
        }
    }

    fn command(self, address: SocketAddr, folder: &Path) -> Command {
        let url = format!("http://{address}/");
        let file = folder.join("out");
        match self {
            Self::Curl => command("curl", &["-sN", &url]),
            Self::Peer(name) => {
                let bench = std::env::current_exe().expect("it runs");
                command(bench.to_str().expect("UTF-8"), &["peer", name, &url])
            }
            Self::Tail(arguments) => ssectl(folder, &[&["tail", "--no-reconnect", &url], arguments].concat()),
            Self::Export => {
                let _ = std::fs::remove_file(&file);
                let _ = std::fs::remove_file(folder.join("db"));
                ssectl(folder, &["resume", "--no-reconnect", &url, "--to", file.to_str().expect("UTF-8")])
            }
            Self::CurlToFile => {
                let script = format!("curl -sN -o '{0}' '{url}' && sync '{0}'", file.display());
                command("sh", &["-c", &script])
            }
            Self::Streams(count) => {
                let urls: Vec<String> = (0..count).map(|number| format!("{url}?{number}")).collect();
                let urls: Vec<&str> = urls.iter().map(String::as_str).collect();
                ssectl(folder, &[&["tail", "--no-reconnect"], NO_STORE, &urls].concat())
            }
        }
    }

    /// How many bodies it reads.
    fn bodies(self) -> usize {
        if let Self::Streams(count) = self { count } else { 1 }
    }
}

fn command(program: &str, arguments: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.args(arguments);
    command
}

fn ssectl(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = command(env!("CARGO_BIN_EXE_ssectl"), arguments);
    command.env("SSECTL_DB", folder.join("db")).env("XDG_CONFIG_HOME", folder).arg("-q");
    command
}

/// What one row sends, and to whom.
struct Row {
    name: &'static str,
    shape: &'static str,
    framing: Framing,
    /// The part of the usual amount that is sent.
    part: usize,
    readers: &'static [Reader],
}

const PEERS: [Reader; 4] =
    [Reader::Curl, Reader::Peer("read"), Reader::Peer("sse-stream"), Reader::Peer("eventsource-stream")];

const ROWS: [Row; 10] = [
    Row {
        name: "1.3 KB JSON",
        shape: "1.3 KB JSON",
        framing: Framing::Close,
        part: 1,
        readers: &[
            PEERS[0],
            PEERS[1],
            PEERS[2],
            PEERS[3],
            Reader::Tail(NO_STORE),
            Reader::Tail(STORE),
            Reader::Tail(DATA),
            Reader::Tail(RAW),
        ],
    },
    Row {
        name: "80-byte events",
        shape: "small events",
        framing: Framing::Close,
        part: 2,
        readers: &[PEERS[0], PEERS[1], PEERS[2], PEERS[3], Reader::Tail(NO_STORE), Reader::Tail(STORE)],
    },
    Row {
        name: "150-byte deltas",
        shape: "150-byte deltas",
        framing: Framing::Close,
        part: 2,
        readers: &[PEERS[0], PEERS[1], PEERS[2], PEERS[3], Reader::Tail(NO_STORE)],
    },
    Row {
        name: "20-line events",
        shape: "20-line events",
        framing: Framing::Close,
        part: 2,
        readers: &[PEERS[0], PEERS[1], PEERS[2], PEERS[3], Reader::Tail(NO_STORE)],
    },
    Row {
        name: "1 MiB lines",
        shape: "1 MiB lines",
        framing: Framing::Close,
        part: 1,
        readers: &[PEERS[0], PEERS[1], PEERS[2], Reader::Tail(NO_STORE)],
    },
    Row {
        name: "64 MiB line",
        shape: "64 MiB line",
        framing: Framing::Close,
        part: 4,
        readers: &[PEERS[0], PEERS[1], Reader::Tail(&["-o", "json", "--no-store", "--max-event-bytes", "65MiB"])],
    },
    Row {
        name: "one-byte chunks",
        shape: "one-byte chunks",
        framing: Framing::ByteChunks,
        part: 32,
        readers: &[PEERS[0], PEERS[1], PEERS[2], Reader::Tail(NO_STORE)],
    },
    Row {
        name: "chunk per event",
        shape: "small events",
        framing: Framing::ChunkPerEvent,
        part: 4,
        readers: &[PEERS[0], PEERS[1], PEERS[2], Reader::Peer("sse-stream-threads"), Reader::Tail(NO_STORE)],
    },
    Row {
        name: "export",
        shape: "1.3 KB JSON",
        framing: Framing::Close,
        part: 1,
        readers: &[Reader::CurlToFile, Reader::Export],
    },
    Row {
        name: "ten streams",
        shape: "1.3 KB JSON",
        framing: Framing::Close,
        part: 8,
        readers: &[Reader::Tail(NO_STORE), Reader::Streams(10)],
    },
];

/// Measures the rows whose names hold one of `words`; all, where there are none.
pub fn measure(words: &[String]) {
    let chosen = |name: &str| words.is_empty() || words.iter().any(|word| name.contains(word.as_str()));
    println!("| row | reader | MB/s | of the read loop | memory, MiB |\n| --- | --- | ---: | ---: | ---: |");
    for row in ROWS.iter().filter(|row| chosen(row.name)) {
        row.measure();
    }
}

/// Serves what a row sends, and says where.
pub fn serve_row(name: &str) {
    let row = ROWS.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("no row is called `{name}`"));
    println!("http://{}/", serve(row.load()));
    loop {
        std::thread::park();
    }
}

impl Row {
    fn load(&self) -> Load {
        let bytes = setting("E2E_MEGABYTES", 256) * 1_000_000 / self.part;
        Load::new(self.shape, self.framing, bytes)
    }

    fn measure(&self) {
        let load = self.load();
        let bytes = load.bytes();
        let address = serve(load);
        let folder = tempfile::tempdir().expect("there is room for files");
        let mut taken: Vec<Vec<Taken>> = vec![Vec::new(); self.readers.len()];
        for _ in 0..setting("E2E_RUNS", 5) {
            for (reader, taken) in self.readers.iter().zip(&mut taken) {
                taken.push(once(reader.command(address, &PathBuf::from(folder.path()))));
            }
        }
        let speed = |reader: Reader, taken: &[Taken]| {
            let mut times: Vec<f64> = taken.iter().map(|taken| taken.time.as_secs_f64()).collect();
            times.sort_by(f64::total_cmp);
            (bytes * reader.bodies()) as f64 / 1e6 / times[times.len() / 2]
        };
        let base = self.readers.iter().position(|reader| *reader == Reader::Peer("read")).unwrap_or(0);
        let base = speed(self.readers[base], &taken[base]);
        for (reader, taken) in self.readers.iter().zip(&taken) {
            let speed = speed(*reader, taken);
            let memory = taken.iter().map(|taken| taken.memory_kib).max().unwrap_or(0) as f64 / 1024.0;
            println!("| {} | {} | {speed:.0} | {:.2} | {memory:.1} |", self.name, reader.name(), speed / base);
        }
    }
}
