//! What a call costs as things grow in number.

use crate::group::Group;

/// Nothing yet.
pub(crate) fn group() -> Group {
    Group {
        name: "growth",
        about: "What a call costs as things grow in number.",
        figures: &[],
        contenders: Vec::new(),
        once: false,
    }
}
