//! How much of a type is spelled out.

/// How much of a type is spelled out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Detail {
    /// The maximum depth of nested objects.
    depth: usize,
    /// The maximum number of choices listed.
    pub(super) choices: usize,
    /// The maximum depth of nested types, which may be recursive.
    nesting: usize,
}

impl Detail {
    /// For a line in a list.
    pub const SHORT: Self = Self {
        depth: 1,
        choices: 6,
        nesting: 8,
    };

    /// For a page about one thing.
    pub const PAGE: Self = Self {
        depth: 3,
        choices: 40,
        nesting: 8,
    };

    /// For everything.
    pub const FULL: Self = Self {
        depth: 8,
        choices: usize::MAX,
        nesting: 8,
    };

    /// Returns the detail with another maximum number of choices listed.
    #[must_use]
    pub const fn with_max_choices(self, choices: usize) -> Self {
        Self { choices, ..self }
    }

    /// Returns the detail of what is inside of an object.
    pub(super) fn deeper(self) -> Option<Self> {
        let depth = self.depth.checked_sub(1)?;
        Some(Self { depth, ..self })
    }

    /// Returns the detail of what is inside of a type.
    pub(super) fn nested(self) -> Option<Self> {
        let nesting = self.nesting.checked_sub(1)?;
        Some(Self { nesting, ..self })
    }
}
