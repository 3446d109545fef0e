//! A record made anew from what was delivered, for an export whose database is lost (section "Exports" of the rules).

use std::collections::VecDeque;
use std::time::Duration;

use super::cursors::follow;
use super::delivery::NoticeKind;
use super::id::EventId;
use super::keys::{Identity, Keyer};
use super::machine::{KEYS_MAX, KEYS_MIN};
use super::marks::Marks;
use super::options::Options;
use super::record::{Commit, Head, Key};
use super::time::Timestamp;

/// An event as an export tells it.
#[derive(Clone, Copy, Debug)]
pub struct Delivered<'a> {
    /// The last event ID in force at its dispatch.
    pub id: Option<&'a str>,
    /// Its type.
    pub event: &'a str,
    /// Its data, where the export has it as it came.
    pub data: Option<&'a str>,
    /// When it came.
    pub at: Timestamp,
    /// A recovery delivered it, before its end.
    pub replayed: bool,
    /// Its id moves cursors.
    pub moves: bool,
}

/// Times the cooldown by which a recovery may come after its notice: attempts that further notices end begin again
/// after a cooldown each (rule 6).
const COOLDOWNS: u32 = 4;

/// Takes the events of an export in order, and makes a record of them.
#[derive(Clone, Debug)]
pub struct Rebuild {
    keyer: Keyer,
    marks: Marks,
    head: Head,
    keys: VecDeque<Key>,
    /// How much older than a window `lagging` is kept, for a notice that came before the recovery which is seen.
    slack: Duration,
    ends_replayed: bool,
    gap_open: bool,
}

impl Rebuild {
    /// Begins, with the options that the stream is followed with. `seed` is the secret of its keys from now on.
    #[must_use]
    pub fn new(seed: &[u8; 32], options: &Options) -> Self {
        Self {
            keyer: Keyer::new(seed, options.dedupe.clone()),
            marks: Marks::new(Vec::new(), options.window, Timestamp(i64::MAX)),
            head: Head::default(),
            keys: VecDeque::new(),
            slack: options.cooldown.saturating_mul(COOLDOWNS),
            ends_replayed: false,
            gap_open: false,
        }
    }

    /// A notice of the tool itself, where the export has them.
    pub fn notice(&mut self, kind: &str) {
        let is = |known: NoticeKind| known.as_str() == kind;
        if is(NoticeKind::DropNotice) {
            self.gap_open = true;
        } else if is(NoticeKind::RecoveryFinished) || is(NoticeKind::GapUnrecoverable) {
            self.gap_open = false;
        }
    }

    /// The next event.
    pub fn push(&mut self, delivered: &Delivered<'_>) {
        self.ends_replayed = delivered.replayed;
        self.head.delivered_at = Some(delivered.at);
        let Some(id) = delivered.id.and_then(EventId::new) else { return };
        let comes_again = self.head.newest.as_ref().is_some_and(|newest| newest.id == id);
        let seq = self.head.next_seq;
        let key = delivered.data.map(|data| {
            // Whether an id that comes again was its own is not told.
            let own = (!comes_again).then_some(id.as_str());
            self.keyer.key(&Identity { in_force: id.as_str(), own, event: delivered.event, data })
        });
        if let Some(key) = key {
            self.keys.push_back(key);
            self.head.next_seq += 1;
        }
        if delivered.moves {
            // An id that comes again is one that several events share, or that of events without: both go on before it.
            self.head.shared_ids |= comes_again;
            self.move_to(id, key, seq, delivered.at);
        }
        self.advance(delivered.at.minus(self.slack));
        self.prune();
    }

    fn move_to(&mut self, id: EventId, key: Option<Key>, seq: u64, at: Timestamp) {
        if self.head.lagging.is_none() {
            self.head.lagging = Some(id.clone());
            self.head.lagging_at = Some(at);
            self.head.lagging_seq = seq;
        }
        self.marks.delivered(&id, seq, at);
        self.head.newest = Some(follow(self.head.newest.as_ref(), id));
        self.head.newest_key = key;
    }

    /// A recovery was under way, or waited.
    fn is_interrupted(&self) -> bool {
        self.ends_replayed || self.gap_open
    }

    /// `lagging` follows, unless a gap is open (rule 2).
    fn advance(&mut self, now: Timestamp) {
        if self.is_interrupted() {
            return;
        }
        if let Some(mark) = self.marks.advance(now) {
            self.head.lagging = Some(mark.id);
            self.head.lagging_at = Some(mark.at);
            self.head.lagging_seq = mark.seq;
        }
    }

    /// Forgets keys that rule 7 does not ask for, so that memory does not grow with the export. Gives where they begin.
    fn prune(&mut self) -> u64 {
        let next = self.head.next_seq;
        let keep = self.head.lagging_seq.min(next.saturating_sub(KEYS_MIN)).max(next.saturating_sub(KEYS_MAX));
        let first = next - self.keys.len() as u64;
        let unneeded = usize::try_from(keep.saturating_sub(first)).unwrap_or(usize::MAX).min(self.keys.len());
        self.keys.drain(..unneeded);
        keep
    }

    /// The record, as the commit that begins it; `None` if no event had an id.
    ///
    /// If the last events are those of a recovery, more of it may be missing: the record then goes on from where
    /// `lagging` was when the notice came at the latest, and its keys remove what is there.
    #[must_use]
    pub fn finish(mut self, now: Timestamp) -> Option<Commit> {
        self.advance(now);
        let keys_keep_from = self.prune();
        // Only now: a mark that lies in the future counts as now.
        let marks = Marks::new(self.marks.all().to_vec(), self.marks.window(), now);
        let mut marks_put = marks.all().to_vec();
        self.head.latest = self.head.newest.clone();
        if self.is_interrupted() {
            self.head.newest = None;
            self.head.newest_key = None;
            self.head.latest = self.head.lagging.clone().map(|id| follow(None, id));
            // The re-read delivers them anew; their times are known no better then.
            marks_put.clear();
        }
        self.head.latest_at = self.head.delivered_at;
        self.head.latest.as_ref()?;
        Some(Commit {
            begin: true,
            marks_put,
            keys: self.keys.into(),
            keys_keep_from,
            head: self.head,
            ..Commit::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::options::Follow;
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    fn options() -> Options {
        Options { window: Duration::from_secs(60), cooldown: Duration::from_secs(10), ..Options::new(Follow::Resume) }
    }

    fn delivered(id: &str, seconds: i64, replayed: bool) -> Delivered<'_> {
        let at = Timestamp(seconds * 1_000_000);
        Delivered { id: Some(id), event: "message", data: Some("x"), at, replayed, moves: true }
    }

    fn rebuilt(events: &[(&str, bool)]) -> Option<Commit> {
        let mut rebuild = Rebuild::new(&[1; 32], &options());
        for (id, replayed) in events {
            rebuild.push(&Delivered {
                id: (!id.is_empty()).then_some(*id),
                event: "message",
                data: Some("x"),
                at: NOW,
                replayed: *replayed,
                moves: true,
            });
        }
        rebuild.finish(NOW)
    }

    fn ids_of(commit: &Commit) -> (Option<&str>, Option<&str>) {
        let head = &commit.head;
        (head.latest.as_ref().map(|place| place.id.as_str()), head.lagging.as_ref().map(EventId::as_str))
    }

    #[test]
    fn the_last_event_is_the_cursor() {
        let commit = rebuilt(&[("1", false), ("2", false), ("3", true), ("4", false)]).expect("there are ids");
        assert_eq!(ids_of(&commit), (Some("4"), Some("1")));
        assert_eq!(commit.keys.len(), 4);
        assert_eq!(commit.head.next_seq, 4);
        assert!(!commit.head.shared_ids);
    }

    #[test]
    fn a_recovery_that_was_under_way_begins_again_from_lagging() {
        let commit = rebuilt(&[("1", false), ("2", false), ("9", false), ("3", true)]).expect("there are ids");
        assert_eq!(ids_of(&commit), (Some("1"), Some("1")));
        assert_eq!(commit.keys.len(), 4);
        assert_eq!(commit.head.newest, None);
    }

    #[test]
    fn an_id_that_comes_again_is_shared() {
        let commit = rebuilt(&[("1", false), ("2", false), ("2", false)]).expect("there are ids");
        assert!(commit.head.shared_ids);
        assert_eq!(commit.head.latest.and_then(|place| place.before).as_ref().map(EventId::as_str), Some("1"));
    }

    #[test]
    fn without_ids_there_is_no_record() {
        assert_eq!(rebuilt(&[("", false), ("", false)]), None);
    }

    #[test]
    fn an_old_recovery_that_was_under_way_begins_where_lagging_was_then() {
        let mut rebuild = Rebuild::new(&[1; 32], &options());
        let ids: Vec<String> = (0..=300).map(|id| id.to_string()).collect();
        for (id, second) in ids.iter().zip(0..) {
            rebuild.push(&delivered(id, second, false));
        }
        rebuild.push(&delivered("x", 301, true));
        let long_after = Timestamp(100_000 * 1_000_000);
        let commit = rebuild.finish(long_after).expect("there are ids");
        // A window and four cooldowns before the last event that was live.
        assert_eq!(ids_of(&commit), (Some("200"), Some("200")));
        assert_eq!(commit.keys.len(), 302);
        assert_eq!(commit.head.lagging_seq, 200);
    }

    #[test]
    fn a_notice_in_the_export_keeps_a_gap_open_until_it_is_ended() {
        let mut rebuild = Rebuild::new(&[1; 32], &options());
        rebuild.push(&delivered("1", 1, false));
        rebuild.notice("drop-notice");
        rebuild.push(&delivered("2", 500, false));
        let open = rebuild.clone().finish(NOW).expect("there are ids");
        assert_eq!(ids_of(&open).0, Some("1"));
        rebuild.notice("recovery-finished");
        assert_eq!(ids_of(&rebuild.finish(NOW).expect("there are ids")).0, Some("2"));
    }

    #[test]
    fn an_event_that_moves_no_cursor_is_known_and_no_position() {
        let mut rebuild = Rebuild::new(&[1; 32], &options());
        rebuild.push(&delivered("1", 1, false));
        rebuild.push(&Delivered { moves: false, ..delivered("ping", 2, false) });
        let commit = rebuild.finish(NOW).expect("there are ids");
        assert_eq!((ids_of(&commit).0, commit.keys.len()), (Some("1"), 2));
    }

    #[test]
    fn keys_do_not_grow_with_the_export() {
        let mut rebuild = Rebuild::new(&[1; 32], &options());
        for id in 0..200_000_u32 {
            rebuild.push(&delivered(&id.to_string(), i64::from(id), false));
            assert!(rebuild.keys.len() as u64 <= KEYS_MIN);
        }
    }
}
