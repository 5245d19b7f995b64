//! The path to a value within the checked one.

use std::fmt::Write as _;

use crate::pointer::escape_token;

/// The path to a value. A list on the stack: a path is only written out for errors.
pub(super) enum Location<'a> {
    Root,
    Member(&'a Location<'a>, &'a str),
    Item(&'a Location<'a>, usize),
}

impl Location<'_> {
    /// Returns the path as a JSON Pointer.
    pub(super) fn pointer(&self) -> String {
        match self {
            Self::Root => String::new(),
            Self::Member(parent, name) => {
                let name = escape_token(name);
                parent.pointer() + "/" + &name
            }
            Self::Item(parent, at) => {
                let mut pointer = parent.pointer();
                // Writing to a string cannot fail.
                let _ = write!(pointer, "/{at}");
                pointer
            }
        }
    }
}
