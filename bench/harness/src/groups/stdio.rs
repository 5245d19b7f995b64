//! Calls over standard streams, both sides of one kind.

use crate::group::Group;

/// Nothing yet.
pub(crate) fn group() -> Group {
    Group {
        name: "stdio",
        about: "Calls over standard streams, both sides of one kind.",
        figures: &[],
        contenders: Vec::new(),
        once: false,
    }
}
