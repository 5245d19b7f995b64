//! Calls over HTTP, against bare hyper.

use crate::group::Group;

/// Nothing yet.
pub(crate) fn group() -> Group {
    Group {
        name: "http-client",
        about: "Calls over HTTP, against bare hyper.",
        figures: &[],
        contenders: Vec::new(),
        once: false,
    }
}
