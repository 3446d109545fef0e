//! The few colours that people see: SGR sequences (ECMA-48, section 8.3.117), only where colour is on.

/// Bold.
pub(super) const BOLD: &str = "\x1b[1m";
/// Faint.
pub(super) const DIM: &str = "\x1b[2m";
/// Green.
pub(super) const GREEN: &str = "\x1b[32m";
/// Yellow.
pub(super) const YELLOW: &str = "\x1b[33m";
/// Bold yellow.
pub(super) const BOLD_YELLOW: &str = "\x1b[1;33m";
/// Cyan.
pub(super) const CYAN: &str = "\x1b[36m";
/// Back to plain.
const RESET: &str = "\x1b[0m";

/// Whether colour is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paint(pub(super) bool);

impl Paint {
    pub(super) fn on(self, out: &mut Vec<u8>, code: &str) {
        if self.0 {
            out.extend_from_slice(code.as_bytes());
        }
    }

    pub(super) fn off(self, out: &mut Vec<u8>) {
        self.on(out, RESET);
    }
}
