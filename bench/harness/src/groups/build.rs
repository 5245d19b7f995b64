//! What a user pays at build time.

use crate::group::Group;

/// Nothing yet.
pub(crate) fn group() -> Group {
    Group {
        name: "build",
        about: "What a user pays at build time.",
        figures: &[],
        contenders: Vec::new(),
        once: false,
    }
}
