//! Cursors: whether they work, and what becomes of one that the server cannot know.

use std::collections::HashMap;

use serde::Serialize;

use super::events::short;
use super::finding::{Code, Findings};
use super::observe::Observation;
use crate::consumer::drop_notice::is_reset_event;

/// An id that no server has.
pub const UNKNOWN_ID: &str = "ssectl-probe-0-unknown";
/// Query parameters that carry cursors on some servers.
pub const PARAMETERS: [&str; 4] = ["last-event-id", "lastEventId", "last_event_id", "since_id"];

/// What came of one request with a cursor.
#[derive(Clone, Debug)]
pub enum Answer {
    /// No event stream, and why.
    Refused(String),
    /// This.
    Stream(Box<Observation>),
}

/// One request with a cursor.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// The cursor.
    pub id: String,
    /// `header`, or `query:NAME`.
    pub by: String,
    /// What came of it.
    pub answer: Answer,
}

/// What is reported of cursors.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ResumeReport {
    /// `header` or `query:NAME`, whichever works.
    pub works_by: Option<String>,
    /// The event of the cursor itself came again.
    pub inclusive: Option<bool>,
    /// How many events a cursor brought back.
    pub brought_back: u64,
    /// How many events of that time it did not bring back.
    pub holes: u64,
    /// `refused`, `told` or `silent`; `null` if it was not tried.
    pub unknown: Option<&'static str>,
}

/// What a cursor led to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Led {
    Refused,
    Ignored,
    Back { inclusive: bool, brought: u64, holes: u64 },
}

/// The id of the oldest event from which enough was seen to tell whether it works as a cursor.
#[must_use]
pub fn known_id(control: &Observation) -> Option<String> {
    let with_id = |event: &&super::observe::Seen| event.id.as_deref().is_some_and(|id| !id.is_empty());
    let first = control.events().find(with_id)?;
    let others = control.events().filter(|event| event.id != first.id).count();
    (others > 0).then(|| first.id.as_deref().map(str::to_owned)).flatten()
}

/// Whether a cursor changed where the stream began.
#[must_use]
pub fn works(control: &Observation, attempt: &Attempt) -> bool {
    matches!(led(control, attempt), Led::Back { .. })
}

fn led(control: &Observation, attempt: &Attempt) -> Led {
    let Answer::Stream(seen) = &attempt.answer else { return Led::Refused };
    let Some(opened) = seen.stands.first().map(|stand| stand.opened) else { return Led::Ignored };
    let mut places = HashMap::new();
    let mut cursor = 0;
    for (at, event) in control.events().enumerate() {
        places.entry((&event.event, event.digest)).or_insert(at);
        if event.id.as_deref() == Some(&attempt.id) {
            cursor = at;
        }
    }
    let past: Vec<usize> =
        control.events().enumerate().filter(|(_, event)| event.at < opened).map(|(at, _)| at).collect();
    let came: Vec<usize> =
        seen.events().filter_map(|event| places.get(&(&event.event, event.digest)).copied()).collect();
    let back: std::collections::BTreeSet<usize> = came.into_iter().filter(|at| past.contains(at)).collect();
    let Some((&first, &last)) = back.first().zip(back.last()) else { return Led::Ignored };
    // A stream that begins anew whatever was sent has begun before the cursor.
    if first < cursor {
        return Led::Ignored;
    }
    let expected = (cursor + 1..=last).count() as u64;
    let brought = back.iter().filter(|at| **at > cursor).count() as u64;
    Led::Back { inclusive: first == cursor, brought, holes: expected - brought }
}

/// Looks at what cursors led to.
pub fn analyse(
    control: &Observation,
    known: &[Attempt],
    unknown: Option<&Attempt>,
    findings: &mut Findings,
) -> ResumeReport {
    let mut report = ResumeReport::default();
    let working = known.iter().find_map(|attempt| match led(control, attempt) {
        Led::Back { inclusive, brought, holes } => Some((attempt, inclusive, brought, holes)),
        _ => None,
    });
    match working {
        Some((attempt, inclusive, brought, holes)) => {
            report.works_by = Some(attempt.by.clone());
            report.inclusive = Some(inclusive);
            (report.brought_back, report.holes) = (brought, holes);
            let code = if attempt.by == "header" { Code::ResumeWorks } else { Code::ResumeByQuery };
            let id = short(&attempt.id);
            findings.add(code, format!("`{id}` by {}: {brought} events came back", attempt.by));
            let code = if inclusive { Code::ResumeInclusive } else { Code::ResumeExclusive };
            findings.add(code, format!("after `{id}`"));
            if holes > 0 {
                findings.add(Code::ResumeHoles, format!("{holes} events of that time did not come back"));
            }
            findings.add(Code::ResumeDepth, format!("at least {brought} events"));
        }
        None => {
            if let Some(attempt) = known.first() {
                match &attempt.answer {
                    Answer::Refused(why) => {
                        findings.add(Code::ResumeRefused, format!("`{}`: {why}", short(&attempt.id)))
                    }
                    Answer::Stream(_) => {
                        let ways: Vec<_> = known.iter().map(|attempt| attempt.by.as_str()).collect();
                        findings.add(Code::ResumeIgnored, format!("`{}` by {}", short(&attempt.id), ways.join(", ")));
                    }
                }
            }
        }
    }
    if let (Some(attempt), true) = (unknown, report.works_by.is_some()) {
        report.unknown = Some(of_unknown(attempt, findings));
    }
    report
}

fn of_unknown(attempt: &Attempt, findings: &mut Findings) -> &'static str {
    match &attempt.answer {
        Answer::Refused(why) => {
            findings.add(Code::UnknownRefused, why.as_str());
            "refused"
        }
        Answer::Stream(seen) => match seen.events().find(|event| is_reset_event(&event.event)) {
            Some(event) => {
                findings.add(Code::UnknownReset, format!("an event `{}` came", short(&event.event)));
                "told"
            }
            None => {
                findings.add(Code::UnknownSilent, format!("`{}` was answered with {} events", attempt.id, seen.events));
                "silent"
            }
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::consumer::time::Timestamp;
    use crate::probe::observe::Recorder;

    fn seen(opened_ms: i64, events: &[(i64, u64)]) -> Observation {
        let mut recorder = Recorder::new(1 << 20);
        recorder.opened(Timestamp(opened_ms * 1000));
        for (at_ms, id) in events {
            recorder.bytes(Timestamp(at_ms * 1000), format!("id: {id}\ndata: {{\"n\":{id}}}\n\n").as_bytes());
        }
        recorder.into_observation()
    }

    fn attempt(by: &str, answer: Answer) -> Attempt {
        Attempt { id: "1".into(), by: by.into(), answer }
    }

    fn stream(events: &[(i64, u64)]) -> Answer {
        Answer::Stream(Box::new(seen(100, events)))
    }

    fn analysed(answer: Answer) -> (ResumeReport, Vec<&'static str>) {
        let control = seen(0, &[(1, 1), (2, 2), (3, 3), (4, 4), (150, 5)]);
        let mut findings = Findings::default();
        let report = analyse(&control, &[attempt("header", answer)], None, &mut findings);
        (report, findings.into_vec().iter().map(|finding| finding.code.as_str()).collect())
    }

    #[test]
    fn a_cursor_that_works_is_exclusive_or_inclusive() {
        let (report, codes) = analysed(stream(&[(101, 2), (101, 3), (101, 4), (150, 5)]));
        assert_eq!((report.inclusive, report.brought_back, report.holes), (Some(false), 3, 0));
        assert_eq!(codes, ["resume-works", "resume-exclusive", "resume-depth"]);
        let (report, _) = analysed(stream(&[(101, 1), (101, 2), (101, 4)]));
        assert_eq!((report.inclusive, report.brought_back, report.holes), (Some(true), 2, 1));
    }

    #[test]
    fn a_cursor_that_changes_nothing_is_ignored() {
        assert_eq!(analysed(stream(&[(150, 5)])).1, ["resume-ignored"]);
        assert_eq!(analysed(stream(&[])).1, ["resume-ignored"]);
        assert_eq!(analysed(Answer::Refused("410 Gone".into())).1, ["resume-refused"]);
    }
}
