//! Serving over HTTP, under wrk.

use crate::group::Group;

/// Nothing yet.
pub(crate) fn group() -> Group {
    Group {
        name: "http-server",
        about: "Serving over HTTP, under wrk.",
        figures: &[],
        contenders: Vec::new(),
        once: false,
    }
}
