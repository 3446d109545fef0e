//! A server for tests, on `std` alone: it can do what mock servers cannot, such as send half an event and reset.
//!
//! Two floors. [`scripted`] plays one script for each accepted connection and captures every request:
//!
//! ```ignore
//! mod support;
//! use support::scripted::{Gate, Script, Server};
//!
//! let go = Gate::new();
//! let server = Server::start([
//!     Script::new().sse().send("id: 1\ndata: a\n\nid: 2\nda").wait(&go).reset(),
//!     Script::new().sse().send("id: 2\ndata: b\n\n").close(),
//!     Script::no_content(),
//! ]);
//! // ... run the program against server.url("/events") ...
//! go.open();
//! let requests = server.wait_for_requests(3);
//! assert_eq!(requests[1].header("last-event-id").as_deref(), Some("1"));
//! ```
//!
//! [`log`] is a server that behaves: it holds a list of events and serves those after the cursor, replay first and
//! then live, with the ways of real servers as options:
//!
//! ```ignore
//! use support::log::{Cut, LogServer};
//!
//! let server = LogServer::builder().events(1..=100).retained_from(50).gone_when_too_old(410).start();
//! server.push("101", "live");                 // to the log and to everybody connected
//! server.push_dropped("102", "lost");         // to the log only: a slow reader does not get it ...
//! server.comment("you are reading too slowly, dropped 1 messages");   // ... and is told so
//! server.finish();                            // clients that have everything get their end, and then 204
//! let ids = server.wait_for_requests(1)[0].header("last-event-id");
//! ```
//!
//! Every wait has a generous bound and panics with what it waited for. A dropped server closes all it has open.

#![expect(dead_code, reason = "each test binary uses its own part of this module")]

pub mod log;
pub mod program;
pub mod scripted;

use std::time::Duration;

/// How long anything is waited for before a test fails: only a hanging test gets there.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// Used by nobody, so that the expectation above holds in a binary that uses all the rest.
const UNUSED: () = ();
