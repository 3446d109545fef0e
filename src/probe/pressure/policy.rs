//! Which policy a server has for a type, by what it held while nothing was read.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use super::matching::Matching;
use super::{Pause, Trial, snapshots};
use crate::probe::finding::Code;
use crate::probe::observe::{Seen, is_named_like_a_time};

/// What was published this shortly before the slow reader read again may be on either side of that, in milliseconds.
const EDGES_MS: [u64; 4] = [0, 5, 10, 15];
/// What a server held, not being read, in so many of a hundred pauses, was held by its rule and not by chance.
const HELD_PERCENT_MIN: usize = 30;
/// Without loss, so many bytes behind are more than the network holds.
const NETWORK_BYTES_MAX: u64 = 160 * 1024;
/// After fewer pauses from which nothing came, a snapshot may have missed them all: it shows only if its event was
/// published in the pause.
const DROPS_MIN: usize = 3;
/// A place in the data explains what was kept if it does so this well (the F1 measure: 1 is all and nothing else).
const FIT_MIN: f64 = 0.75;
/// What an event takes on the wire besides its data, about, in bytes.
const OVERHEAD_BYTES: u64 = 30;

/// What a server does for a slow reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The newest of each key waits.
    Coalesced,
    /// So many wait, then the stream ends.
    BufferDisconnect,
    /// What has no room is lost without a word.
    Dropped,
    /// What has no room is lost, and a comment says so.
    DroppedNotice,
    /// Everything waits.
    Unbounded,
    /// The current state comes when the reader has caught up.
    Resnapshot,
    /// It was never put to the test.
    NotFelt,
    /// Nothing known explains it.
    Unclear,
}

impl Policy {
    /// The word for it in the report.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Coalesced => "coalesced",
            Self::BufferDisconnect => "buffer-disconnect",
            Self::Dropped => "dropped",
            Self::DroppedNotice => "dropped-notice",
            Self::Unbounded => "unbounded",
            Self::Resnapshot => "resnapshot",
            Self::NotFelt => "not-felt",
            Self::Unclear => "unclear",
        }
    }

    /// Of what did not come, a newer event stood for it.
    #[must_use]
    pub fn is_state(self) -> bool {
        matches!(self, Self::Coalesced | Self::Resnapshot)
    }

    /// The code of the finding.
    #[must_use]
    pub fn code(self) -> Code {
        match self {
            Self::Coalesced => Code::Coalesced,
            Self::BufferDisconnect => Code::BufferDisconnect,
            Self::Dropped => Code::Dropped,
            Self::DroppedNotice => Code::DroppedNotice,
            Self::Unbounded => Code::Unbounded,
            Self::Resnapshot => Code::Resnapshot,
            Self::NotFelt => Code::NotFelt,
            Self::Unclear => Code::Unclear,
        }
    }
}

/// What was inferred of one type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The type.
    pub event: Arc<str>,
    /// What is done for it.
    pub policy: Policy,
    /// What else would have shown the same.
    pub also_possible: Option<Policy>,
    /// Snapshots that a comment announced.
    pub snapshots: u64,
    /// The place of the key.
    pub key: Option<String>,
    /// About how many wait at most.
    pub buffer_events: Option<u64>,
}

/// What one pause showed of one type.
#[derive(Clone, Debug, PartialEq)]
enum Shown {
    /// Everything came, so many events.
    All(u64),
    /// The connection ended; so many events had come since the last that was read.
    Cut(u64),
    /// The first so many came, then none.
    None(u64),
    /// The newest of each key came, and how well each place in the data explains it.
    Newest(Vec<(String, f64)>),
    /// One event came for all, the newest.
    One,
    /// Something else.
    Other,
}

/// Infers the policy of each type.
#[must_use]
pub fn infer(trial: &Trial<'_>, matching: &Matching) -> Vec<Verdict> {
    let mut types: Vec<Arc<str>> = Vec::new();
    for event in trial.control.events() {
        if !types.contains(&event.event) {
            types.push(Arc::clone(&event.event));
        }
    }
    let shown: Vec<Vec<Shown>> = types
        .iter()
        .map(|event| trial.pauses.iter().filter_map(|pause| look(trial, matching, event, *pause)).collect())
        .collect();
    // Where another type lost something the network was full.
    let is_felt = shown.iter().flatten().any(|shown| !matches!(shown, Shown::All(_)));
    let verdict = |(event, shown): (&Arc<str>, &Vec<Shown>)| judge(trial, matching, event, shown, is_felt);
    types.iter().zip(&shown).map(verdict).collect()
}

/// The events of a type that were published in a pause, by their numbers.
fn in_the_dark<'a>(trial: &Trial<'a>, event: &str, pause: Pause) -> Vec<(usize, &'a Seen)> {
    let until = pause.until;
    let all = trial.control.events().enumerate();
    all.filter(|(_, seen)| *seen.event == *event && seen.at > pause.from && seen.at <= until).collect()
}

/// Whether the connection that stood in a pause ended in it.
fn is_cut(trial: &Trial<'_>, pause: Pause) -> bool {
    trial
        .slow
        .stands
        .iter()
        .filter_map(|stand| stand.ended.as_ref())
        .any(|(at, _)| *at >= pause.from && *at <= pause.caught_up)
}

fn look(trial: &Trial<'_>, matching: &Matching, event: &str, pause: Pause) -> Option<Shown> {
    let dark = in_the_dark(trial, event, pause);
    if dark.is_empty() {
        return None;
    }
    let came =
        |at: usize| matching.delivery(at).is_some_and(|delivery| !delivery.by_resume && delivery.at <= pause.caught_up);
    let first_missing = dark.iter().position(|(at, _)| !came(*at));
    if is_cut(trial, pause) {
        return Some(Shown::Cut((dark.len() - first_missing.unwrap_or(dark.len())) as u64));
    }
    let Some(prefix) = first_missing else { return Some(Shown::All(dark.len() as u64)) };
    let rest = &dark[prefix..];
    let kept: BTreeSet<usize> = rest.iter().map(|(at, _)| *at).filter(|at| came(*at)).collect();
    if kept.is_empty() {
        return Some(Shown::None(prefix as u64));
    }
    if rest.len() < 3 {
        return None;
    }
    // Of a type with keys one event stands for all.
    if kept.len() == 1 && rest.iter().rev().take(4).any(|(at, _)| kept.contains(at)) && has_keys(trial, &dark) {
        return Some(Shown::One);
    }
    let mut fits: Vec<(String, f64)> = Vec::new();
    for edge in EDGES_MS {
        let until = pause.until.minus(Duration::from_millis(edge));
        let rest = &rest[..rest.partition_point(|(_, seen)| seen.at <= until)];
        let kept: BTreeSet<usize> = rest.iter().map(|(at, _)| *at).filter(|at| kept.contains(at)).collect();
        for (pointer, fit) in fits_of(trial, rest, &kept) {
            match fits.iter_mut().find(|(known, _)| *known == pointer) {
                Some((_, best)) => *best = best.max(fit),
                None => fits.push((pointer, fit)),
            }
        }
    }
    Some(if fits.is_empty() { Shown::Other } else { Shown::Newest(fits) })
}

/// Whether a place in the data has several values, each of them several times: a key by which one could coalesce.
fn has_keys(trial: &Trial<'_>, events: &[(usize, &Seen)]) -> bool {
    places(trial, events).iter().any(|pointer| {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for (_, event) in events {
            if let Some(value) = trial.control.value_at(event, pointer) {
                *counts.entry(value).or_default() += 1;
            }
        }
        counts.len() > 1 && counts.len() * 2 <= events.len()
    })
}

fn places(trial: &Trial<'_>, events: &[(usize, &Seen)]) -> Vec<String> {
    let shape = events.iter().rev().find_map(|(_, event)| event.leaves.as_ref());
    let places = shape.map(|leaves| trial.control.shape(leaves).to_vec()).unwrap_or_default();
    places.into_iter().filter(|pointer| !is_named_like_a_time(pointer)).collect()
}

/// How well each place in the data explains, as a key, which events were kept; those that do so well enough.
fn fits_of(trial: &Trial<'_>, rest: &[(usize, &Seen)], kept: &BTreeSet<usize>) -> Vec<(String, f64)> {
    let fit = |pointer: String| {
        let mut newest: HashMap<u64, usize> = HashMap::new();
        for (at, event) in rest {
            newest.insert(trial.control.value_at(event, &pointer)?, *at);
        }
        let expected: BTreeSet<usize> = newest.into_values().collect();
        if expected.is_empty() || kept.is_empty() {
            return None;
        }
        let both = expected.intersection(kept).count();
        let fit = 2.0 * both as f64 / (expected.len() + kept.len()) as f64;
        (fit >= FIT_MIN).then_some((pointer, fit))
    };
    places(trial, rest).into_iter().filter_map(fit).collect()
}

fn judge(trial: &Trial<'_>, matching: &Matching, event: &Arc<str>, shown: &[Shown], is_felt: bool) -> Verdict {
    let (snapshots, messages) = snapshots::of_type(trial, event);
    let verdict = |policy| Verdict {
        event: Arc::clone(event),
        policy,
        also_possible: None,
        snapshots,
        key: None,
        buffer_events: None,
    };
    if snapshots > 0 {
        return Verdict { key: best_key(shown).filter(|_| messages > 1), ..verdict(Policy::Resnapshot) };
    }
    let again: u64 = trial
        .control
        .events()
        .enumerate()
        .filter(|(_, seen)| seen.event == *event)
        .map(|(at, _)| matching.again(at))
        .sum();
    let count = |is: fn(&Shown) -> bool| shown.iter().filter(|shown| is(shown)).count();
    let newest = count(|shown| matches!(shown, Shown::Newest(_)));
    let one = count(|shown| matches!(shown, Shown::One));
    let none = count(|shown| matches!(shown, Shown::None(_)));
    let is_told = is_told(trial, matching, event);
    // State that comes again on one connection is a snapshot: nothing else sends twice.
    let is_often = |count: usize| count > 0 && count * 100 >= (count + none) * HELD_PERCENT_MIN;
    if one > newest && is_often(one) || again > 0 {
        return Verdict { key: best_key(shown), ..verdict(Policy::Resnapshot) };
    }
    if is_often(newest) {
        let key = best_key(shown);
        let silent = key.as_ref().is_some_and(|key| stayed_silent(trial, matching, event, key));
        let also_possible = (!silent).then_some(Policy::Resnapshot);
        return Verdict { key, also_possible, ..verdict(Policy::Coalesced) };
    }
    if is_told {
        let held =
            shown.iter().filter_map(|shown| if let Shown::None(count) = shown { Some(*count) } else { None }).max();
        return Verdict { buffer_events: held.filter(|held| *held > 0), ..verdict(Policy::DroppedNotice) };
    }
    // What came after all was late, not dropped.
    if none > 0 && lost_any(trial, matching, event) {
        let also_possible = (none < DROPS_MIN).then_some(Policy::Resnapshot);
        return Verdict { also_possible, ..verdict(Policy::Dropped) };
    }
    let cuts = trial.slow.stands.iter().any(|stand| stand.ended.is_some());
    let control_stands = trial.control.stands.first().is_some_and(|stand| stand.ended.is_none());
    if cuts && control_stands {
        return Verdict { buffer_events: buffer(trial, matching, event, shown), ..verdict(Policy::BufferDisconnect) };
    }
    // What came only after the wait for it came all the same.
    let is_whole = !lost_any(trial, matching, event);
    let behind = bytes_behind(trial, matching);
    if is_whole && (behind >= NETWORK_BYTES_MAX || is_felt && !shown.is_empty()) {
        return Verdict { buffer_events: None, ..verdict(Policy::Unbounded) };
    }
    verdict(if is_whole { Policy::NotFelt } else { Policy::Unclear })
}

/// Whether a key that the server knew did not change from a hole until the slow reader had caught up, and did not come
/// again: a snapshot would have held it.
fn stayed_silent(trial: &Trial<'_>, matching: &Matching, event: &str, key: &str) -> bool {
    let of_type: Vec<(usize, &Seen)> =
        trial.control.events().enumerate().filter(|(_, seen)| *seen.event == *event).collect();
    let values = |events: &[(usize, &Seen)]| -> HashSet<u64> {
        events.iter().filter_map(|(_, seen)| trial.control.value_at(seen, key)).collect()
    };
    trial.pauses.iter().filter(|pause| !is_cut(trial, **pause)).any(|pause| {
        let begin = of_type.partition_point(|(_, seen)| seen.at <= pause.from);
        let end = of_type.partition_point(|(_, seen)| seen.at <= pause.until);
        let after = of_type.partition_point(|(_, seen)| seen.at <= pause.caught_up);
        let hole = of_type[begin..end].iter().position(|(at, _)| matching.delivery(*at).is_none());
        hole.is_some_and(|hole| {
            let known = &of_type[..begin + hole];
            let known = &known[known.partition_point(|(at, _)| *at < matching.begins())..];
            !values(known).is_subset(&values(&of_type[begin + hole..after]))
        })
    })
}

/// The place that explains best over all pauses; of equals the first in the data.
fn best_key(shown: &[Shown]) -> Option<String> {
    let mut sums: Vec<(&str, f64)> = Vec::new();
    for (pointer, fit) in
        shown.iter().filter_map(|shown| if let Shown::Newest(fits) = shown { Some(fits) } else { None }).flatten()
    {
        match sums.iter_mut().find(|(known, _)| known == pointer) {
            Some((_, sum)) => *sum += fit,
            None => sums.push((pointer, *fit)),
        }
    }
    let best = sums.iter().map(|(_, sum)| *sum).fold(0.0, f64::max);
    sums.iter().find(|(_, sum)| *sum >= best).map(|(pointer, _)| (*pointer).to_owned())
}

/// Whether notices speak of this type: one of them gives the length of a hole in it.
fn is_told(trial: &Trial<'_>, matching: &Matching, event: &str) -> bool {
    let counts: Vec<Option<u64>> =
        trial.slow.comments().filter_map(|(_, text)| Some(trial.notices.comment(text)?.count)).collect();
    if counts.is_empty() {
        return false;
    }
    let mut holes = BTreeSet::new();
    let mut hole = 0;
    for (at, seen) in trial.control.events().enumerate().take(matching.horizon()).skip(matching.begins()) {
        if *seen.event != *event {
            continue;
        }
        if matching.delivery(at).is_some() {
            holes.insert(std::mem::take(&mut hole));
        } else {
            hole += 1;
        }
    }
    holes.remove(&0);
    counts.iter().any(|count| count.map_or(!holes.is_empty(), |count| holes.contains(&count)))
}

/// How many events of a type waited at the end of a connection that the server ended, at most: the fewest of all ends.
fn buffer(trial: &Trial<'_>, matching: &Matching, event: &str, shown: &[Shown]) -> Option<u64> {
    let in_pauses = shown.iter().filter_map(|shown| if let Shown::Cut(count) = shown { Some(*count) } else { None });
    let ends = trial.slow.stands.iter().enumerate().filter_map(|(number, stand)| {
        let (at, _) = stand.ended.as_ref()?;
        let on_it =
            |index: usize| matching.delivery(index).is_some_and(|delivery| delivery.connection as usize == number);
        let of_type: Vec<_> = trial.control.events().enumerate().filter(|(_, seen)| *seen.event == *event).collect();
        let last = of_type.iter().rposition(|(index, _)| on_it(*index))?;
        Some(of_type[last + 1..].iter().filter(|(_, seen)| seen.at <= *at).count() as u64)
    });
    in_pauses.chain(ends).filter(|count| *count > 0).min()
}

/// How many bytes the slow reader was behind at most.
fn bytes_behind(trial: &Trial<'_>, matching: &Matching) -> u64 {
    let mut arrivals: Vec<_> = trial
        .control
        .events()
        .enumerate()
        .filter_map(|(at, event)| Some((event.at, matching.delivery(at)?.at, event.bytes as u64 + OVERHEAD_BYTES)))
        .flat_map(|(published, delivered, bytes)| [(published, i128::from(bytes)), (delivered, -i128::from(bytes))])
        .collect();
    arrivals.sort_by_key(|(at, bytes)| (*at, *bytes));
    let mut behind = 0;
    let most = arrivals.into_iter().map(|(_, bytes)| {
        behind += bytes;
        behind
    });
    u64::try_from(most.max().unwrap_or(0)).unwrap_or(0)
}

fn lost_any(trial: &Trial<'_>, matching: &Matching, event: &str) -> bool {
    let mut of_type = trial.control.events().enumerate().take(matching.horizon()).skip(matching.begins());
    of_type.any(|(at, seen)| *seen.event == *event && matching.delivery(at).is_none())
}

/// How many events (of all types) the network took in a pause before the server held or lost something.
#[must_use]
pub fn network_events(trial: &Trial<'_>, matching: &Matching, pause: Pause) -> Option<usize> {
    if is_cut(trial, pause) {
        return None;
    }
    let dark = trial.control.events().enumerate().filter(|(_, seen)| seen.at > pause.from && seen.at <= pause.until);
    let dark: Vec<usize> = dark.map(|(at, _)| at).collect();
    dark.iter().position(|at| matching.delivery(*at).is_none())
}
