//! Comments by which a server says that the current state follows, as `serve` does: `: snapshot, 8 messages`.

use std::sync::Arc;

use super::{Pause, Trial};
use crate::consumer::time::Timestamp;
use crate::probe::observe::{Observation, Said};

/// A snapshot that a comment announced.
struct Announced {
    at: Timestamp,
    /// The types of the messages that are it.
    events: Vec<Arc<str>>,
}

/// How many snapshots of each type were announced to the slow reader in its pauses, beyond those that everybody got; and
/// of how many messages the largest was.
pub(super) fn of_type(trial: &Trial<'_>, event: &str) -> (u64, usize) {
    let slow = announced(trial.slow);
    let control = announced(trial.control);
    let (mut count, mut messages) = (0, 0);
    for pause in trial.pauses.iter().filter(|pause| is_on_one_connection(trial, pause)) {
        let of = |all: &[Announced]| -> Vec<usize> {
            let inside = all.iter().filter(|one| one.at >= pause.from && one.at <= pause.caught_up);
            let sizes = inside.map(|one| one.events.iter().filter(|name| ***name == *event).count());
            sizes.filter(|size| *size > 0).collect()
        };
        let (own, common) = (of(&slow), of(&control).len());
        if own.len() > common {
            count += (own.len() - common) as u64;
            messages = own.into_iter().max().unwrap_or(0).max(messages);
        }
    }
    (count, messages)
}

/// A connection may begin with a snapshot for everybody.
fn is_on_one_connection(trial: &Trial<'_>, pause: &Pause) -> bool {
    trial.slow.stands.iter().all(|stand| stand.opened < pause.from || stand.opened > pause.caught_up)
}

fn announced(seen: &Observation) -> Vec<Announced> {
    let mut all: Vec<Announced> = Vec::new();
    let mut left = 0;
    for said in &seen.said {
        match said {
            Said::Comment { at, text, .. } if text.to_ascii_lowercase().contains("snapshot") => {
                left = messages(text);
                all.push(Announced { at: *at, events: Vec::new() });
            }
            Said::Event(event) if left > 0 => {
                left -= 1;
                if let Some(announced) = all.last_mut() {
                    announced.events.push(Arc::clone(&event.event));
                }
            }
            _ => {}
        }
    }
    all
}

/// The first number in a text: how many messages follow. Without one it is the next.
fn messages(text: &str) -> usize {
    let digits = text.split(|c: char| !c.is_ascii_digit()).find(|digits| !digits.is_empty());
    digits.map_or(1, |digits| digits.parse().unwrap_or(1))
}
