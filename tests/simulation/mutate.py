#!/usr/bin/env python3
"""Breaks the rules on purpose, one at a time, in a copy of the source, and shows that the simulation catches each (what
is below the simulation is caught by the test of the driver).

    python3 tests/simulation/mutate.py            # all of them; some minutes
    python3 tests/simulation/mutate.py freeze     # those whose name has this word

Exits 1 if one is not caught, or if the code it changes is no longer there.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MUTATIONS = [
    ("commit before the event is delivered", "tests/simulation/client.rs",
     "Verdict::Deliver { .. } => self.sink.push(data.to_owned()),",
     "Verdict::Deliver { .. } => { self.commit(); self.sink.push(data.to_owned()) }"),
    ("forget the freeze", "src/consumer/machine.rs",
     "self.gap.as_ref().is_some_and(|gap| gap.phase != Phase::Reporting)\n    }\n\n    /// The stream repeats",
     "false\n    }\n\n    /// The stream repeats"),
    ("prune keys too early", "src/consumer/machine.rs",
     "self.head.lagging_seq.min(self.head.next_seq.saturating_sub(KEYS_MIN))", "self.head.next_seq"),
    ("let lagging pass an open gap", "src/consumer/cursors.rs",
     "    pub(super) fn advance_lagging(&mut self, now: Timestamp) {\n        if self.gap.is_some() {\n            return;\n        }\n",
     "    pub(super) fn advance_lagging(&mut self, now: Timestamp) {\n"),
    ("resume in the middle of a group of one id", "src/consumer/machine.rs",
     "Some(before) if self.head.shared_ids => before.clone(),", "Some(before) if false => before.clone(),"),
    ("recover from latest, not from lagging", "src/consumer/machine.rs",
     "        if !self.nothing_after_lagging() {\n            candidates", "        if false {\n            candidates"),
    ("lose the far side", "src/consumer/cursors.rs",
     "        self.outgoing.push(Outgoing::Event(event));", "        let _ = (event, Outgoing::Note(String::new()));"),
    ("thaw when the recovery begins", "src/consumer/machine.rs",
     "        self.attempt.expected = ", "        gap.phase = Phase::Reporting;\n        self.attempt.expected = "),
    ("remove nothing", "src/consumer/events.rs",
     "        removal.when(key?)", "        let _ = removal.when(key?);\n        None"),
    ("end removal at the first unknown event", "src/consumer/events.rs",
     "let met = self.link.newest_met && self.link.loose_end.is_none();", "let met = true;"),
    ("forget how far a cut recovery had read before its first group", "src/consumer/cursors.rs",
     "gap.progress.as_ref().or(sent.as_ref())", "gap.progress.as_ref()"),
    ("give a gap up at the first failure", "src/consumer/gaps.rs",
     "let second = self.gap.as_ref().is_some_and(|gap| gap.attempt >= 2);", "let second = true;"),
    ("never end a report", "src/consumer/gaps.rs",
     "        if self.report_deadline().is_some_and(|deadline| deadline <= now) {\n            self.finish_report(now);\n        }\n", ""),
    ("let what a notice interrupted move newest", "src/consumer/gaps.rs",
     "        self.link.reading = None;\n        self.head.recovery_at = Some(now);\n        let Some(gap)",
     "        self.leave_reading_live(now);\n        self.head.recovery_at = Some(now);\n        let Some(gap)"),
    ("forget what came from newest", "src/consumer/events.rs",
     "                gap.recovered += std::mem::take(&mut gap.filled);\n", ""),
    ("end the gap at a notice in its report", "src/consumer/gaps.rs",
     "if reporting && self.report_is_full() && self.end_of_gap().is_none() {", "if reporting {"),
    ("take what lies after the hole for what fills it", "src/consumer/machine.rs",
     "gap.phase == Phase::Waiting && !gap.passed && ends", "gap.phase == Phase::Waiting && ends"),
]

# The same, caught by `cargo test --test driver`.
OF_THE_DRIVER = [
    ("write on though the export is to be rotated", "src/driver/delivery.rs",
     "        if !self.pump.is_writing() && self.pump.turn_is_due() {", "        if false {"),
    ("write between the sync of an export and its commit", "src/driver/pump.rs",
     "self.writing.is_some() || (self.grouping.durable && self.committing.is_some())", "self.writing.is_some()"),
    ("commit what was not written", "src/driver/pump.rs",
     "self.delivers.take().filter(|_| !self.failed)", "self.delivers.take()"),
]


def main():
    root = pathlib.Path(__file__).resolve().parents[2]
    wanted = sys.argv[1] if len(sys.argv) > 1 else ""
    tests = [(mutation, "simulation") for mutation in MUTATIONS] + [(mutation, "driver") for mutation in OF_THE_DRIVER]
    chosen = [(mutation, test) for mutation, test in tests if wanted in mutation[0]]
    missed = []
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder)
        for name in ["src", "tests", "Cargo.toml", "Cargo.lock"]:
            source = root / name
            (shutil.copytree if source.is_dir() else shutil.copy)(source, copy / name)
        env = dict(os.environ, CARGO_TARGET_DIR=str(root / "target" / "mutations"), SSECTL_SIM_HISTORIES="20000")
        for (name, file, before, after), test in chosen:
            path = copy / file
            whole = path.read_text()
            if whole.count(before) != 1:
                missed.append(name)
                print(f"GONE    {name}: the code it changes is not in {file}", flush=True)
                continue
            path.write_text(whole.replace(before, after))
            command = ["cargo", "test", "--quiet", "--test", test]
            done = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True)
            path.write_text(whole)
            said = done.stdout + done.stderr
            if "could not compile" in said:
                missed.append(name)
                print(f"BROKEN  {name}: it does not compile\n{said[-1500:]}", flush=True)
            elif done.returncode == 0:
                missed.append(name)
                print(f"MISSED  {name}", flush=True)
            else:
                history = next((line for line in said.splitlines() if any(word in line for word in ("history ", "delivered", "panicked"))), "")
                print(f"caught  {name}: {history[-90:]}", flush=True)
    print(f"{len(chosen) - len(missed)} of {len(chosen)} caught")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
