//! The loopback server: sends prepared bytes as fast as a socket takes them.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::shapes;

/// How a body comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// Until the connection ends, in large writes.
    Close,
    /// One HTTP chunk an event, many to a write, as most servers send.
    ChunkPerEvent,
    /// One byte a chunk.
    ByteChunks,
    /// An event at a time, with the time at which it is sent in it.
    Paced,
}

/// What a row sends.
#[derive(Clone, Debug)]
pub struct Load {
    /// A prepared piece of the stream, ...
    pub piece: Arc<Vec<u8>>,
    /// ... sent so many times.
    pub times: usize,
    /// How.
    pub framing: Framing,
}

impl Load {
    /// About `bytes` of a shape.
    pub fn new(shape: &str, framing: Framing, bytes: usize) -> Self {
        let stream = shapes::shape(shape).stream;
        let times = (bytes / stream.len()).max(1);
        let piece = match framing {
            Framing::Close | Framing::Paced => stream,
            Framing::ChunkPerEvent => chunked(&stream),
            Framing::ByteChunks => stream.iter().flat_map(|byte| [b'1', b'\r', b'\n', *byte, b'\r', b'\n']).collect(),
        };
        Self { piece: Arc::new(piece), times, framing }
    }

    /// Bytes of one body.
    pub fn bytes(&self) -> usize {
        self.piece.len() * self.times
    }
}

/// One chunk an event.
fn chunked(stream: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(stream.len() * 2);
    let mut rest = stream;
    while !rest.is_empty() {
        let end = memchr::memmem::find(rest, b"\n\n").map_or(rest.len(), |at| at + 2);
        let _ = write!(out, "{end:x}\r\n");
        out.extend_from_slice(&rest[..end]);
        out.extend_from_slice(b"\r\n");
        rest = &rest[end..];
    }
    out
}

/// Serves `load` to everybody who asks, until the process ends.
pub fn serve(load: Load) -> SocketAddr {
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has a port");
    let address = listener.local_addr().expect("it is bound");
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            let load = load.clone();
            thread::spawn(move || {
                // A reader that has gone is no concern of the server's.
                let _ = answer(socket, &load);
            });
        }
    });
    address
}

fn answer(mut socket: TcpStream, load: &Load) -> std::io::Result<()> {
    socket.set_nodelay(true)?;
    let mut head = BufReader::new(socket.try_clone()?);
    let mut line = String::new();
    while line != "\r\n" {
        line.clear();
        if head.read_line(&mut line)? == 0 {
            return Ok(());
        }
    }
    let chunked = matches!(load.framing, Framing::ChunkPerEvent | Framing::ByteChunks);
    let framing = if chunked { "Transfer-Encoding: chunked" } else { "Connection: close" };
    write!(socket, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{framing}\r\n\r\n")?;
    if load.framing == Framing::Paced {
        return pace(&mut socket, load.times);
    }
    for _ in 0..load.times {
        socket.write_all(&load.piece)?;
    }
    if chunked {
        socket.write_all(b"0\r\n\r\n")?;
    }
    Ok(())
}

/// A thousand events a second, each with the time at which it was sent.
fn pace(socket: &mut TcpStream, events: usize) -> std::io::Result<()> {
    for _ in 0..events {
        thread::sleep(Duration::from_millis(1));
        write!(socket, "data: sent {}\n\n", now_us())?;
    }
    Ok(())
}

/// The wall clock, in microseconds since the Unix epoch.
pub fn now_us() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_micros())
}
