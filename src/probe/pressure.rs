//! What happens to a slow reader.

use serde::Serialize;

/// What is reported of the slow reader.
#[derive(Clone, Debug, Default, Serialize)]
pub struct PressureReport {}
