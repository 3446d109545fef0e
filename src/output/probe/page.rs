//! The report as one HTML page that needs nothing else: no script, no font, no picture from elsewhere.

use std::fmt::Write;

use crate::probe::pressure::TypePressure;
use crate::probe::{Report, Severity};

/// The size of a plot.
const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 160.0;

const HEAD: &str = "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>ssectl probe</title>\n\
<style>body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#222;background:#fff}\
table{border-collapse:collapse;width:100%}td,th{border-bottom:1px solid #ddd;padding:.3rem .5rem;text-align:left;vertical-align:top}\
code{background:#f3f3f3;padding:0 .2rem}.warning td:first-child{border-left:4px solid #c60}.info td:first-child{border-left:4px solid #8ac}\
svg{background:#fafafa;border:1px solid #ddd;max-width:100%}small{color:#666}</style></head><body>\n";

/// The report as a page.
#[must_use]
pub fn page(report: &Report) -> String {
    let mut page = HEAD.to_owned();
    let _ = writeln!(page, "<h1>Probe of <code>{}</code></h1>", escaped(&report.url));
    let _ = writeln!(page, "<p>{:.1} s from {}</p>", report.duration_ms / 1e3, escaped(&report.time));
    page.push_str("<h2>Findings</h2>\n<table><tr><th>code</th><th>evidence</th><th>hint</th></tr>\n");
    for finding in &report.findings {
        let class = if finding.severity == Severity::Warning { "warning" } else { "info" };
        let event = finding.event.as_deref().map(|event| format!(" <small>{}</small>", escaped(event)));
        let _ = writeln!(
            page,
            "<tr class=\"{class}\"><td><code>{}</code>{}</td><td>{}</td><td>{}</td></tr>",
            finding.code.as_str(),
            event.unwrap_or_default(),
            escaped(&finding.evidence),
            escaped(finding.hint.unwrap_or_default())
        );
    }
    page.push_str("</table>\n");
    for of_type in report.backpressure.iter().flat_map(|report| &report.types) {
        plot(&mut page, of_type);
    }
    page.push_str("</body></html>\n");
    page
}

/// How late the events of a type came, over time.
fn plot(page: &mut String, of_type: &TypePressure) {
    let most = |values: &mut dyn Iterator<Item = f64>| values.fold(1.0, f64::max);
    let (time, age) =
        (most(&mut of_type.ages.iter().map(|(at, _)| *at)), most(&mut of_type.ages.iter().map(|(_, age)| *age)));
    let _ = writeln!(page, "<h2>How late <code>{}</code> came to the slow reader</h2>", escaped(&of_type.event));
    let points: Vec<_> = of_type
        .ages
        .iter()
        .map(|(at, late)| format!("{:.1},{:.1}", at / time * WIDTH, HEIGHT - late / age * HEIGHT))
        .collect();
    let _ = writeln!(
        page,
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\"><polyline fill=\"none\" stroke=\"#06c\" stroke-width=\"1.5\" \
         points=\"{}\"/></svg>\n<p><small>0 to {:.1} s across, 0 to {:.2} s late up; policy: {}</small></p>",
        points.join(" "),
        time / 1e3,
        age / 1e3,
        of_type.policy
    );
}

/// Text that cannot be taken for markup.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn what_a_server_sends_is_no_markup() {
        assert_eq!(escaped("<script a=\"b\">&"), "&lt;script a=&quot;b&quot;&gt;&amp;");
    }
}
