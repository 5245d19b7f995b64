//! The two ways to speak of tasks.

use crate::model::WireFeatures;

/// The messages and rules by which both sides speak of tasks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dialect {
    /// Tasks as part of the core protocol: whoever sends a request decides.
    Core,
    /// The extension: the server decides.
    Extension,
}

impl Dialect {
    /// Returns the dialect of a revision, if it has one.
    #[must_use]
    pub fn of(features: &WireFeatures) -> Option<Self> {
        match (features.core_tasks, features.result_type) {
            (true, _) => Some(Self::Core),
            (false, true) => Some(Self::Extension),
            (false, false) => None,
        }
    }
}
