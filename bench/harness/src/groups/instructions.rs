//! Instructions and allocations, counted.

use crate::group::Group;

/// Nothing yet.
pub(crate) fn group() -> Group {
    Group {
        name: "instructions",
        about: "Instructions and allocations, counted.",
        figures: &[],
        contenders: Vec::new(),
        once: false,
    }
}
