//! The report as one HTML page that needs nothing else.

use std::fmt::Write;

use crate::probe::Report;

const STYLE: &str = "body{font:15px system-ui;max-width:60em;margin:2em auto;padding:0 1em}\
table{border-collapse:collapse;width:100%}td,th{text-align:left;vertical-align:top;border-bottom:1px solid #8886;\
padding:.4em}.warning{color:#a50}";

/// The report as a page.
#[must_use]
pub fn page(report: &Report) -> String {
    let url = escaped(&report.url);
    let mut text = format!(
        "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Probe of {url}</title><style>{STYLE}</style>\n\
         <h1>Probe of {url}</h1><p>{:.1} s from {}</p>\n<table><tr><th>finding<th>event<th>evidence<th>hint</tr>\n",
        report.duration_ms / 1e3,
        escaped(&report.time)
    );
    for finding in &report.findings {
        let class = if finding.severity == crate::probe::Severity::Warning { " class=\"warning\"" } else { "" };
        let _ = writeln!(
            text,
            "<tr><td{class}>{}<td>{}<td>{}<td>{}</tr>",
            finding.code.as_str(),
            escaped(finding.event.as_deref().unwrap_or_default()),
            escaped(&finding.evidence),
            escaped(finding.hint.unwrap_or_default())
        );
    }
    text.push_str("</table></html>\n");
    text
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_no_markup() {
        assert_eq!(escaped("<b a=\"&\">"), "&lt;b a=&quot;&amp;&quot;&gt;");
    }
}
