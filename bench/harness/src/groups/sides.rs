//! Each side of a pipe alone, against the least that is possible.

use crate::group::Group;

/// Nothing yet.
pub(crate) fn group() -> Group {
    Group {
        name: "sides",
        about: "Each side of a pipe alone, against the least that is possible.",
        figures: &[],
        contenders: Vec::new(),
        once: false,
    }
}
