//! What must hold between the parts of one stream's record, whatever store keeps them: what `checkpoint verify` checks.

use crate::consumer::id::StreamName;
use crate::consumer::record::{Gap, GapState, Head, MARKS_MAX, Mark, Phase, Place};

/// One stream as it is stored, to be looked at.
pub(super) struct Stored<'a> {
    /// Its name.
    pub(super) stream: &'a StreamName,
    /// The scalar part.
    pub(super) head: &'a Head,
    /// All marks in the order of the store.
    pub(super) marks: &'a [Mark],
    /// All gaps in the order of the store.
    pub(super) gaps: &'a [Gap],
    /// First sequence number and count of each run of keys, in the order of the store.
    pub(super) segments: &'a [(u64, u64)],
}

/// One sentence for each thing that is not as it must be.
pub(super) fn violations(stored: &Stored<'_>) -> Vec<String> {
    let mut found = Vec::new();
    heads(stored, &mut found);
    marks(stored, &mut found);
    gaps(stored, &mut found);
    keys(stored, &mut found);
    found.into_iter().map(|what| format!("stream `{}`: {what}", stored.stream)).collect()
}

fn heads(stored: &Stored<'_>, found: &mut Vec<String>) {
    let head = stored.head;
    if head.lagging_seq > head.next_seq {
        found.push(format!(
            "the keys under `lagging` begin at {}, after the last one ({})",
            head.lagging_seq, head.next_seq
        ));
    }
    let frozen = stored.gaps.iter().any(|gap| gap.state == GapState::Open && gap.phase != Phase::Reporting);
    let id = |place: &Option<Place>| place.as_ref().map(|place| place.id.clone());
    if let (Some(latest), Some(newest)) = (id(&head.latest), id(&head.newest))
        && latest != newest
        && !frozen
    {
        found.push(format!("`latest` ({latest}) is not the newest id delivered ({newest}), and no gap is open"));
    }
}

fn marks(stored: &Stored<'_>, found: &mut Vec<String>) {
    if stored.marks.len() > MARKS_MAX {
        found.push(format!("it has {} marks, {MARKS_MAX} at most are written", stored.marks.len()));
    }
    if !stored.marks.is_sorted_by(|a, b| a.ordinal < b.ordinal && a.seq <= b.seq) {
        found.push("its marks are not in ascending order".to_owned());
    }
    if stored.marks.iter().any(|mark| mark.seq > stored.head.next_seq) {
        found.push("a mark begins after the last key".to_owned());
    }
}

fn gaps(stored: &Stored<'_>, found: &mut Vec<String>) {
    let open = stored.gaps.iter().filter(|gap| gap.state == GapState::Open).count();
    if open > 1 {
        found.push(format!("{open} gaps are open at once"));
    }
    for gap in stored.gaps {
        let is_open = gap.state == GapState::Open;
        if is_open == gap.ended_at.is_some() {
            let end = if is_open { "is open and has an end" } else { "has ended without a time of its end" };
            found.push(format!("gap {} {end}", gap.number));
        }
        if is_open && gap.seq > stored.head.next_seq {
            found.push(format!("gap {} begins after the last key", gap.number));
        }
    }
}

fn keys(stored: &Stored<'_>, found: &mut Vec<String>) {
    for pair in stored.segments.windows(2) {
        let (end, next) = (pair[0].0 + pair[0].1, pair[1].0);
        if end != next {
            found.push(format!("its keys break off at {end} and go on at {next}"));
        }
    }
    if let Some((first, count)) = stored.segments.last()
        && first + count != stored.head.next_seq
    {
        found.push(format!("its keys end at {}, the record says {}", first + count, stored.head.next_seq));
    }
}
