//! The report for a terminal of 80 columns.

use std::fmt::Write;

use textplots::{Chart, Plot, Shape};

use super::super::escape::one_line;
use super::super::paint::{BOLD, BOLD_YELLOW, CYAN, DIM, Paint};
use crate::probe::{Finding, Report, Section, Severity};

/// No line is longer, in characters.
const COLUMNS: usize = 80;
/// So many plots are drawn, of the types that came most.
const PLOTS_MAX: usize = 4;
/// The size of a plot, in dots: two make a column, four a line.
const PLOT_DOTS_WIDE: u32 = 120;
const PLOT_DOTS_HIGH: u32 = 28;
/// Where what belongs to a finding begins.
const INDENT: usize = 4;

/// The report as text; `color` says whether colours may be used.
#[must_use]
pub fn pretty(report: &Report, color: bool) -> String {
    let mut page = Page { text: String::new(), paint: Paint(color) };
    page.title(report);
    for section in [Section::Connection, Section::Events, Section::Resume, Section::Backpressure] {
        page.section(report, section);
    }
    page.plots(report);
    page.text
}

struct Page {
    text: String,
    paint: Paint,
}

impl Page {
    fn title(&mut self, report: &Report) {
        self.painted(BOLD, "Probe of ");
        self.line(&one_line(&report.url));
        let interrupted = if report.interrupted { ", interrupted" } else { "" };
        self.line(&format!("{:.1} s from {}{interrupted}", report.duration_ms / 1e3, report.time));
    }

    fn section(&mut self, report: &Report, section: Section) {
        let findings: Vec<_> = report.findings.iter().filter(|finding| finding.section == section).collect();
        if findings.is_empty() {
            return;
        }
        self.text.push('\n');
        let name = match section {
            Section::Connection => "Connection",
            Section::Events => "Events",
            Section::Resume => "Resume",
            Section::Backpressure => "Backpressure",
        };
        self.painted(BOLD, name);
        self.text.push('\n');
        for finding in findings {
            self.finding(finding);
        }
    }

    fn finding(&mut self, finding: &Finding) {
        let (mark, color) = match finding.severity {
            Severity::Info => ("  ", CYAN),
            Severity::Warning => ("! ", BOLD_YELLOW),
        };
        self.text.push_str(mark);
        self.painted(color, finding.code.as_str());
        if let Some(event) = &finding.event {
            let _ = write!(self.text, " {}", one_line(event));
        }
        self.text.push('\n');
        self.wrapped(&one_line(&finding.evidence));
        if let (Some(hint), Severity::Warning) = (finding.hint, finding.severity) {
            let from = self.text.len();
            self.wrapped(&format!("hint: {hint}"));
            self.faint_from(from);
        }
    }

    /// How late the events of each type came, over time.
    fn plots(&mut self, report: &Report) {
        for of_type in report.backpressure.iter().flat_map(|report| &report.types).take(PLOTS_MAX) {
            if of_type.ages.len() < 2 {
                continue;
            }
            #[expect(clippy::cast_possible_truncation, reason = "drawn with a hundred dots")]
            let points: Vec<(f32, f32)> =
                of_type.ages.iter().map(|(at, age)| ((at / 1e3) as f32, (age / 1e3) as f32)).collect();
            let most = |values: &mut dyn Iterator<Item = f32>| values.fold(0.1, f32::max);
            let time = most(&mut points.iter().map(|(at, _)| *at));
            let age = most(&mut points.iter().map(|(_, age)| *age));
            self.line("");
            self.line(&format!("Seconds late over seconds: {}", one_line(&of_type.event)));
            let shape = Shape::Lines(&points);
            let mut chart = Chart::new_with_y_range(PLOT_DOTS_WIDE, PLOT_DOTS_HIGH, 0.0, time, 0.0, age);
            let chart = chart.lineplot(&shape);
            chart.axis();
            chart.figures();
            let drawn = chart.to_string();
            for line in drawn.lines() {
                self.line(line.trim_end_matches(['\u{2800}', ' ']));
            }
        }
    }

    fn wrapped(&mut self, text: &str) {
        for line in wrap(text, COLUMNS - INDENT) {
            let _ = writeln!(self.text, "{:INDENT$}{line}", "");
        }
    }

    fn faint_from(&mut self, from: usize) {
        let tail = self.text.split_off(from);
        self.painted(DIM, &tail);
    }

    fn line(&mut self, text: &str) {
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn painted(&mut self, color: &str, text: &str) {
        let mut bytes = Vec::with_capacity(text.len() + color.len() * 2);
        self.paint.on(&mut bytes, color);
        bytes.extend_from_slice(text.as_bytes());
        self.paint.off(&mut bytes);
        self.text.push_str(&String::from_utf8_lossy(&bytes));
    }
}

/// The text in lines of so many characters, broken at spaces where there are some.
fn wrap(text: &str, columns: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        loop {
            let line = lines.last_mut().expect("there is a line from the start");
            let used = line.chars().count();
            let space = usize::from(used > 0);
            if used + space + word.len() <= columns {
                if space > 0 {
                    line.push(' ');
                }
                line.extend(&word);
                break;
            }
            if used == 0 {
                line.extend(word.drain(..columns));
            }
            lines.push(String::new());
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_are_broken_at_spaces_or_anywhere() {
        assert_eq!(wrap("aa bb cc", 5), ["aa bb", "cc"]);
        assert_eq!(wrap("abcdefgh i", 3), ["abc", "def", "gh", "i"]);
        assert_eq!(wrap("", 3), [""]);
    }
}
