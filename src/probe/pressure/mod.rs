//! What happens to a slow reader: what it got is laid beside what a reader that keeps up got at the same time.
//!
//! [`matching`] says which event became of which; [`policy`] infers, from pauses of the slow reader, how the server
//! treats a type. In a pause the network fills up, and from then on what is published is in the server's hands alone.
//! Whatever comes of it when the slow reader reads again, the server has held: everything, the newest of each key, the
//! first so many, or nothing.

pub mod matching;
pub mod policy;
mod snapshots;
#[cfg(test)]
mod tests;

use serde::Serialize;

use self::matching::Matching;
use self::policy::{Policy, Verdict};
use super::connection::ms;
use super::finding::{Code, Findings};
use super::observe::Observation;
use crate::consumer::drop_notice::DropNotices;
use crate::consumer::time::Timestamp;

/// So many points of a plot are kept.
const POINTS_MAX: usize = 120;

/// A time in which the slow reader read nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// From when.
    pub from: Timestamp,
    /// Until when.
    pub until: Timestamp,
    /// When the slow reader had caught up after it.
    pub caught_up: Timestamp,
}

/// What was tried, and what both readers saw.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The reader that kept up.
    pub control: &'a Observation,
    /// The slow one.
    pub slow: &'a Observation,
    /// When the slow one read nothing.
    pub pauses: &'a [Pause],
    /// What counts as a drop notice.
    pub notices: &'a DropNotices,
    /// The limit of the slow reader, in bytes a second, between the pauses.
    pub limit_rate: Option<u64>,
    /// When the watching began and ended.
    pub from: Timestamp,
    /// When it ended.
    pub until: Timestamp,
}

/// What is reported of the slow reader.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PressureReport {
    /// Bytes a second that the slow reader took at most, outside of pauses.
    pub limit_rate: Option<u64>,
    /// How often it paused.
    pub pauses: usize,
    /// How often the server ended its connection.
    pub disconnects: usize,
    /// Drop notices that it got.
    pub notices: Vec<String>,
    /// The types, by how many events of them were published.
    pub types: Vec<TypePressure>,
}

/// What is reported of one type.
#[derive(Clone, Debug, Default, Serialize)]
pub struct TypePressure {
    /// The type.
    pub event: String,
    /// The word of the policy that was inferred.
    pub policy: &'static str,
    /// The word of another policy that would have shown the same, where there is one.
    pub also_possible: Option<&'static str>,
    /// The place of the key, for one that has keys.
    pub key: Option<String>,
    /// Snapshots that a comment announced to the slow reader.
    pub snapshots: u64,
    /// About how many events wait at most, where that was seen.
    pub buffer_events: Option<u64>,
    /// Events that the control got while the slow reader stood.
    pub published: u64,
    /// Of these, those that the slow reader got.
    pub delivered: u64,
    /// Of those that it did not get, those that a newer one stood for.
    pub superseded: u64,
    /// The rest of them.
    pub missing: u64,
    /// Of the delivered, those that only a resume brought.
    pub brought_back: u64,
    /// Events that came again on the same connection.
    pub sent_again: u64,
    /// How late events came, in the middle, in milliseconds.
    pub age_p50_ms: f64,
    /// How late the latest hundredth came at least.
    pub age_p99_ms: f64,
    /// When events came (milliseconds from the start) and how late they were.
    pub ages: Vec<(f64, f64)>,
}

/// Looks at what a slow reader got.
#[must_use]
pub fn analyse(trial: &Trial<'_>, findings: &mut Findings) -> PressureReport {
    let matching = Matching::new(trial.control, trial.slow);
    let verdicts = policy::infer(trial, &matching);
    let cuts: Vec<_> = trial.slow.stands.iter().filter_map(|stand| stand.ended.clone()).collect();
    let notices = trial.slow.comments().filter(|(_, text)| trial.notices.comment(text).is_some());
    let mut report = PressureReport {
        limit_rate: trial.limit_rate,
        pauses: trial.pauses.len(),
        disconnects: cuts.len(),
        notices: notices.map(|(_, text)| super::events::short(text)).collect(),
        types: verdicts.iter().map(|verdict| of_type(trial, &matching, verdict)).collect(),
    };
    report.types.sort_by_key(|of_type| std::cmp::Reverse(of_type.published));
    for of_type in &report.types {
        let verdict = verdicts.iter().find(|verdict| *verdict.event == *of_type.event);
        if let Some(verdict) = verdict {
            findings.about(verdict.policy.code(), &of_type.event, evidence(verdict, of_type));
        }
    }
    disconnects(&report, trial, &matching, findings);
    report
}

fn of_type(trial: &Trial<'_>, matching: &Matching, verdict: &Verdict) -> TypePressure {
    let mut report = TypePressure {
        event: verdict.event.to_string(),
        policy: verdict.policy.word(),
        also_possible: verdict.also_possible.map(Policy::word),
        snapshots: verdict.snapshots,
        key: verdict.key.clone(),
        buffer_events: verdict.buffer_events,
        ..TypePressure::default()
    };
    let end = matching.horizon();
    let mut ages = Vec::new();
    for (at, event) in trial.control.events().enumerate().take(end).skip(matching.begins()) {
        if event.event != verdict.event {
            continue;
        }
        report.published += 1;
        report.sent_again += matching.again(at);
        match matching.delivery(at) {
            Some(delivery) => {
                report.delivered += 1;
                report.brought_back += u64::from(delivery.by_resume);
                ages.push((ms(delivery.at.since(trial.from)), ms(delivery.at.since(event.at))));
            }
            None if verdict.policy.is_state() => report.superseded += 1,
            None => report.missing += 1,
        }
    }
    let mut sorted: Vec<f64> = ages.iter().map(|(_, age)| *age).collect();
    sorted.sort_by(f64::total_cmp);
    let part = |share: usize| sorted.get((sorted.len() * share / 100).min(sorted.len().saturating_sub(1))).copied();
    report.age_p50_ms = part(50).unwrap_or_default();
    report.age_p99_ms = part(99).unwrap_or_default();
    let step = ages.len().div_ceil(POINTS_MAX).max(1);
    report.ages = ages.into_iter().step_by(step).collect();
    report
}

fn evidence(verdict: &Verdict, figures: &TypePressure) -> String {
    let mut text = format!("{} published, {} delivered", figures.published, figures.delivered);
    for (count, word) in [
        (figures.superseded, "superseded"),
        (figures.missing, "missing"),
        (figures.brought_back, "brought back by resuming"),
        (figures.sent_again, "sent again"),
        (figures.snapshots, "snapshot(s) announced by a comment"),
    ] {
        if count > 0 {
            text.push_str(&format!(", {count} {word}"));
        }
    }
    text.push_str(&format!(
        "; late by {:.2} s (p50), {:.2} s (p99)",
        figures.age_p50_ms / 1e3,
        figures.age_p99_ms / 1e3
    ));
    if let Some(other) = figures.also_possible {
        text.push_str(&format!("; `{other}` would have shown the same"));
    }
    let by_key = verdict.key.as_ref().map(|key| format!("coalesced by `{key}`: "));
    let buffer = verdict.buffer_events.map(|count| format!("about {count} wait at most, those on the way included: "));
    format!("{}{text}", by_key.filter(|_| verdict.policy == Policy::Coalesced).or(buffer).unwrap_or_default())
}

fn disconnects(report: &PressureReport, trial: &Trial<'_>, matching: &Matching, findings: &mut Findings) {
    if report.disconnects == 0 {
        return;
    }
    let is_alone = trial.control.stands.first().is_some_and(|stand| stand.ended.is_none());
    if is_alone {
        findings.add(Code::SlowDisconnect, format!("{} times", report.disconnects));
    }
    let resumed = trial.slow.stands.len() > 1;
    if !resumed {
        return;
    }
    let back: u64 = report.types.iter().map(|of_type| of_type.brought_back).sum();
    let buffered: u64 = report
        .types
        .iter()
        .filter(|of_type| of_type.policy == Policy::BufferDisconnect.word())
        .map(|of_type| of_type.missing)
        .sum();
    let last = matching.horizon();
    let text = format!("{back} events came back, {buffered} did not, of the first {last}");
    findings.add(if buffered == 0 { Code::CutResumed } else { Code::CutLost }, text);
}
