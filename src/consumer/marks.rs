//! Marks, and the lagging cursor that follows from them (rule 2).

use std::time::Duration;

use super::id::EventId;
use super::record::{MARKS_MAX, Mark};
use super::time::Timestamp;

/// Marks a window is divided into: between two marks, ids are not told apart.
const MARKS_PER_WINDOW: u32 = 128;

/// The marks of one record. The last one is the id that is being read; it may still gain events.
#[derive(Clone, Debug)]
pub struct Marks {
    list: Vec<Mark>,
    dirty: Vec<u64>,
    dropped: Vec<u64>,
    next_ordinal: u64,
    committed_below: u64,
    window: Duration,
    /// The width of a part of the window, in microseconds; at least 1.
    part_micros: i64,
}

/// What changed of the marks since the last commit.
#[derive(Debug, Default)]
pub struct MarksChange {
    /// To insert or replace.
    pub put: Vec<Mark>,
    /// To delete.
    pub drop: Vec<u64>,
}

impl Marks {
    /// Marks as stored. A stored time later than now counts as now.
    #[must_use]
    pub fn new(mut list: Vec<Mark>, window: Duration, now: Timestamp) -> Self {
        for mark in &mut list {
            mark.at = mark.at.min(now);
        }
        let next_ordinal = list.last().map_or(0, |mark| mark.ordinal + 1);
        let part_micros = i64::try_from((window / MARKS_PER_WINDOW).as_micros()).unwrap_or(i64::MAX).max(1);
        Self {
            list,
            dirty: Vec::new(),
            dropped: Vec::new(),
            next_ordinal,
            committed_below: next_ordinal,
            window,
            part_micros,
        }
    }

    /// An id was delivered; `seq` is the sequence number of its event's key.
    pub fn delivered(&mut self, id: &EventId, seq: u64, now: Timestamp) {
        if let Some(last) = self.list.last_mut() {
            if last.id == *id {
                last.at = last.at.max(now);
                let ordinal = last.ordinal;
                self.touch(ordinal);
                return;
            }
            self.fold();
        }
        if self.list.len() >= MARKS_MAX {
            self.thin();
        }
        let ordinal = self.next_ordinal;
        self.next_ordinal += 1;
        self.list.push(Mark { ordinal, id: id.clone(), at: now, seq });
        self.touch(ordinal);
    }

    /// Moves on: the newest mark that is a window old and after which another id was delivered, if there is one.
    /// It and all before it are marks no longer.
    pub fn advance(&mut self, now: Timestamp) -> Option<Mark> {
        let limit = now.minus(self.window);
        let finished = self.list.len().saturating_sub(1);
        let old = self.list[..finished].partition_point(|mark| mark.at <= limit);
        self.take_front(old)
    }

    /// Moves on to the first mark from sequence number `seq` on, whatever its age: keys before it are given up.
    pub fn advance_to(&mut self, seq: u64) -> Option<Mark> {
        let finished = self.list.len().saturating_sub(1);
        let below = self.list[..finished].partition_point(|mark| mark.seq < seq);
        self.take_front((below + 1).min(finished))
    }

    /// What changed since this was asked last.
    pub fn take_change(&mut self) -> MarksChange {
        let dirty = std::mem::take(&mut self.dirty);
        let put = self.list.iter().filter(|mark| dirty.contains(&mark.ordinal)).cloned().collect();
        self.committed_below = self.next_ordinal;
        MarksChange { put, drop: std::mem::take(&mut self.dropped) }
    }

    /// The replay window.
    #[must_use]
    pub fn window(&self) -> Duration {
        self.window
    }

    /// All marks.
    #[must_use]
    pub fn all(&self) -> &[Mark] {
        &self.list
    }

    /// Keeps one mark for each part of the window: where the last two lie in one, the newer takes the place of the older.
    fn fold(&mut self) {
        let part = |mark: &Mark| mark.at.0.div_euclid(self.part_micros);
        let [.., older, newer] = self.list.as_slice() else { return };
        if older.at == newer.at || part(older) == part(newer) {
            let index = self.list.len() - 2;
            let ordinal = self.list.remove(index).ordinal;
            self.forget(ordinal);
        }
    }

    /// Drops every second mark: a gap that stays open for many windows still has at most [`MARKS_MAX`].
    fn thin(&mut self) {
        let mut index = 0;
        let mut gone = Vec::new();
        self.list.retain(|mark| {
            index += 1;
            let keep = index % 2 == 1;
            if !keep {
                gone.push(mark.ordinal);
            }
            keep
        });
        for ordinal in gone {
            self.forget(ordinal);
        }
    }

    fn take_front(&mut self, count: usize) -> Option<Mark> {
        let gone: Vec<Mark> = self.list.drain(..count).collect();
        for mark in &gone {
            self.forget(mark.ordinal);
        }
        gone.into_iter().last()
    }

    fn touch(&mut self, ordinal: u64) {
        if self.dirty.last() != Some(&ordinal) {
            self.dirty.push(ordinal);
        }
    }

    /// A mark that was never committed needs no deletion.
    fn forget(&mut self, ordinal: u64) {
        if let Some(at) = self.dirty.iter().position(|&dirty| dirty == ordinal) {
            self.dirty.swap_remove(at);
        }
        if ordinal < self.committed_below {
            self.dropped.push(ordinal);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WINDOW: Duration = Duration::from_secs(60);

    fn id(number: u64) -> EventId {
        EventId::new(number.to_string()).expect("a number is not empty")
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp(seconds * 1_000_000)
    }

    #[test]
    fn lagging_is_the_newest_mark_a_window_old() {
        let mut marks = Marks::new(Vec::new(), WINDOW, at(0));
        for number in 1..=5 {
            marks.delivered(&id(number), number, at(0));
        }
        assert_eq!(marks.advance(at(60)).map(|mark| mark.id), Some(id(4)), "no other id was delivered after 5");
        marks.delivered(&id(6), 6, at(61));
        assert_eq!(marks.advance(at(61)).map(|mark| mark.id), Some(id(5)));
        assert_eq!(marks.advance(at(61)), None);
    }

    #[test]
    fn an_id_that_goes_on_being_delivered_is_as_young_as_its_last_event() {
        let mut marks = Marks::new(Vec::new(), WINDOW, at(0));
        marks.delivered(&id(1), 1, at(0));
        marks.delivered(&id(1), 2, at(50));
        marks.delivered(&id(2), 3, at(61));
        assert_eq!(marks.advance(at(61)), None);
        assert_eq!(marks.advance(at(110)).map(|mark| (mark.id, mark.seq)), Some((id(1), 1)));
    }

    #[test]
    fn marks_stay_bounded_and_no_more_than_a_part_of_the_window_is_lost() {
        let mut marks = Marks::new(Vec::new(), WINDOW, at(0));
        for number in 1..=1_000_000_u64 {
            let now = Timestamp(i64::try_from(number * 1_000).expect("small"));
            marks.delivered(&id(number), number, now);
            if number % 1_000 == 0 {
                marks.advance(now);
                assert!(marks.all().len() <= MARKS_MAX);
            }
        }
        // At 1,000 s the mark must be at 940 s, less a 128th of 60 s.
        let now = at(1_000);
        marks.delivered(&id(2_000_000), 2_000_000, now);
        let oldest = marks.all()[0].at;
        assert!(oldest >= Timestamp(940_000_000 - 470_000), "{oldest:?}");
    }

    #[test]
    fn an_open_gap_of_many_windows_keeps_marks_bounded() {
        let mut marks = Marks::new(Vec::new(), WINDOW, at(0));
        for number in 0..10_000 {
            marks.delivered(&id(number), number, at(i64::try_from(number).expect("small")));
        }
        assert!(marks.all().len() <= MARKS_MAX);
        assert!(marks.all().windows(2).all(|pair| pair[0].ordinal < pair[1].ordinal));
    }

    #[test]
    fn a_stored_time_later_than_now_counts_as_now() {
        let stored = vec![
            Mark { ordinal: 0, id: id(1), at: at(1_000), seq: 0 },
            Mark { ordinal: 1, id: id(2), at: at(1_001), seq: 1 },
        ];
        let mut marks = Marks::new(stored, WINDOW, at(100));
        assert_eq!(marks.advance(at(160)).map(|mark| mark.id), Some(id(1)));
    }
}
