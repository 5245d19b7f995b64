//! Lists of a thousand tools.

use crate::group::Group;

/// Nothing yet.
pub(crate) fn group() -> Group {
    Group {
        name: "list",
        about: "Lists of a thousand tools.",
        figures: &[],
        contenders: Vec::new(),
        once: false,
    }
}
