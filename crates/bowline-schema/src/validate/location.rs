//! The path to a value within the checked one.

use std::fmt::Write as _;

use crate::pointer::escape_token;

/// The number of bytes that most paths fit in.
const USUAL_LENGTH: usize = 64;

/// The path to a value. A list on the stack: a path is only written out for errors.
pub(super) enum Location<'a> {
    Root,
    Member(&'a Location<'a>, &'a str),
    Item(&'a Location<'a>, usize),
}

impl Location<'_> {
    /// Returns the path as a JSON Pointer.
    pub(super) fn pointer(&self) -> String {
        let mut pointer = match self {
            Self::Root => return String::new(),
            _ => String::with_capacity(USUAL_LENGTH),
        };
        self.append_to(&mut pointer);
        pointer
    }

    fn append_to(&self, pointer: &mut String) {
        match self {
            Self::Root => {}
            Self::Member(parent, name) => {
                parent.append_to(pointer);
                pointer.push('/');
                pointer.push_str(&escape_token(name));
            }
            Self::Item(parent, at) => {
                parent.append_to(pointer);
                // Writing to a string cannot fail.
                let _ = write!(pointer, "/{at}");
            }
        }
    }
}
