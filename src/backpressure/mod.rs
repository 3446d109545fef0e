//! What waits for a reader that is too slow, and what gives way: a rule for each event type, a bounded queue.
//!
//! [`policy`] is the rules, as a person writes them. [`queue`] is what one reader's slowness costs: events enter as
//! they come, and leave in batches when the reader can take more. Whatever comes, the queue holds one entry for each
//! key of a `coalesce` type, a stated number of events of a `buffer` type, nothing but a mark of the others, and never
//! more bytes than it may.
//!
//! No IO, no clock, no runtime, and no HTTP: who reads, and how it is seen that he is slow, this floor must never know.
//! An event's payload is the caller's.
//!
//! ```
//! use ssectl::backpressure::{Offer, Policies, Queue, Taken};
//!
//! let policies = Policies::parse(["price=coalesce:/sym", "*=buffer:2,overflow=notice"]).unwrap();
//! let mut queue = Queue::new(policies.clone());
//! for (seq, (kind, data)) in [("price", r#"{"sym":"A","p":1}"#), ("trade", "t"), ("price", r#"{"sym":"A","p":2}"#)]
//!     .into_iter()
//!     .enumerate()
//! {
//!     queue.push(Offer { seq: seq as u64, route: policies.route(kind, data), bytes: data.len(), payload: data });
//! }
//! let left: Vec<_> = queue.take(1000).into_iter().collect();
//! assert!(matches!(left[..], [Taken::Event { payload: "t", .. }, Taken::Event { payload: r#"{"sym":"A","p":2}"#, .. }]));
//! ```

pub mod policy;
pub mod queue;

pub use policy::{BadPolicy, Kind, Overflow, Policies, Route, RuleIndex};
pub use queue::{Offer, Queue, Taken, Verdict};

#[cfg(test)]
mod tests;
