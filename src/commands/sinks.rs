//! The outputs that a run may have, as one type.

use std::path::{Path, PathBuf};

use crate::consumer::id::StreamName;
use crate::consumer::ports::{Sink, SinkError, Turned};
use crate::consumer::record::ExportMark;
use crate::output::export::ExportSink;
use crate::output::stdout::StdoutSink;

/// Standard output, shared by all streams, or an export of the stream's own.
#[derive(Clone)]
pub(super) enum AnySink {
    /// Standard output.
    Stdout(StdoutSink),
    /// An export.
    Export(ExportSink),
}

impl Sink for AnySink {
    async fn write(&self, batch: Vec<u8>) -> Result<Vec<u8>, SinkError> {
        match self {
            Self::Stdout(sink) => sink.write(batch).await,
            Self::Export(sink) => sink.write(batch).await,
        }
    }

    async fn sync(&self) -> Result<Option<ExportMark>, SinkError> {
        match self {
            Self::Stdout(sink) => sink.sync().await,
            Self::Export(sink) => sink.sync().await,
        }
    }

    fn turn_is_due(&self) -> bool {
        match self {
            Self::Stdout(sink) => sink.turn_is_due(),
            Self::Export(sink) => sink.turn_is_due(),
        }
    }

    async fn turn_due(&self) {
        match self {
            Self::Stdout(sink) => sink.turn_due().await,
            Self::Export(sink) => sink.turn_due().await,
        }
    }

    async fn turn(&self) -> Result<Option<Turned>, SinkError> {
        match self {
            Self::Stdout(sink) => sink.turn().await,
            Self::Export(sink) => sink.turn().await,
        }
    }

    async fn closed(&self) {
        match self {
            Self::Stdout(sink) => sink.closed().await,
            Self::Export(sink) => sink.closed().await,
        }
    }
}

/// The file of one stream: `{stream}` in the template is its name, in which whatever could lead out of the folder
/// is replaced.
pub(super) fn export_path(template: &Path, stream: &StreamName) -> PathBuf {
    let text = template.to_string_lossy();
    if !text.contains("{stream}") {
        return template.to_path_buf();
    }
    let safe: String = stream
        .as_str()
        .chars()
        .map(|c| if c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '=' | ',' | '@' | '+') { c } else { '_' })
        .collect();
    // A name of dots alone, or one that begins with a dot, is no ordinary file.
    let safe = safe.strip_prefix('.').map_or_else(|| safe.clone(), |rest| format!("_{rest}"));
    PathBuf::from(text.replace("{stream}", &safe))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_name_cannot_leave_the_folder_of_the_template() {
        let path = |name: &str| {
            export_path(Path::new("out/{stream}.ndjson"), &StreamName::new(name).unwrap()).display().to_string()
        };
        assert_eq!(path("accounts"), "out/accounts.ndjson");
        assert_eq!(path("../../etc/passwd"), "out/_._.._etc_passwd.ndjson");
        assert_eq!(path(".."), "out/_..ndjson");
        assert_eq!(path("example.com/v1/events?a=b"), "out/example.com_v1_events_a=b.ndjson");
    }
}
