//! Cursors: whether they work, and what becomes of one that the server cannot know.

use serde::Serialize;

/// What is reported of cursors.
#[derive(Clone, Debug, Default, Serialize)]
pub struct ResumeReport {}
