//! What changed since a server was reviewed.

use std::fmt;

pub use bowline_schema::compare::ChangeKind;
use bowline_schema::compare::Comparison;

/// A difference between what was reviewed and what a server offers now.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Change {
    /// What has changed.
    pub item: ItemKind,
    /// Its name, or its URI; empty for the server itself.
    pub name: String,
    /// Whether it is new, gone or different.
    pub status: ChangeStatus,
    /// How it affects callers.
    pub kind: ChangeKind,
    /// Where and how it differs, if it was there before and is now.
    pub differences: Vec<Difference>,
}

/// Where and how two versions of something differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// How it affects callers.
    pub kind: ChangeKind,
    /// Where it is, as a JSON Pointer into the entry of the lock: the new one, or the old
    /// one for what was removed.
    pub pointer: String,
    /// What differs, in one sentence.
    pub message: String,
}

/// Whether something is new, gone or different.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChangeStatus {
    /// It was not there when the server was reviewed.
    Added,
    /// It is no longer there.
    Removed,
    /// It is still there, but different.
    Changed,
}

/// What a server offers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum ItemKind {
    /// The server itself: its instructions.
    Server,
    /// A tool.
    Tool,
    /// A prompt.
    Prompt,
    /// A resource.
    Resource,
    /// A resource template.
    Template,
}

impl Change {
    pub(crate) fn added(item: ItemKind, name: &str) -> Self {
        Self {
            item,
            name: name.to_owned(),
            status: ChangeStatus::Added,
            kind: ChangeKind::Compatible,
            differences: Vec::new(),
        }
    }

    pub(crate) fn removed(item: ItemKind, name: &str) -> Self {
        Self {
            status: ChangeStatus::Removed,
            kind: ChangeKind::Breaking,
            ..Self::added(item, name)
        }
    }

    /// Returns the change of something whose schema can no longer be read.
    #[cfg(feature = "client")]
    pub(crate) fn unreadable(item: ItemKind, name: &str) -> Self {
        let mut found = Differences::default();
        found.breaking("/inputSchema", "a schema cannot be read");
        found.into_change(item, name)
    }

    /// Returns the kind of change in words: `added`, `removed`, `text only`,
    /// `compatible` or `breaking`.
    #[must_use]
    pub fn summary(&self) -> &'static str {
        match (self.status, self.kind) {
            (ChangeStatus::Added, _) => "added",
            (ChangeStatus::Removed, _) => "removed",
            (_, ChangeKind::Breaking) => "breaking",
            (_, ChangeKind::Compatible) => "compatible",
            (_, ChangeKind::TextOnly | ChangeKind::Identical) => "text only",
        }
    }
}

/// Formats on one line: `` tool `roll`: breaking: `sides` is now required ``.
impl fmt::Display for Change {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.item {
            ItemKind::Server => write!(f, "server")?,
            item => write!(f, "{item} `{}`", self.name)?,
        }
        write!(f, ": {}", self.summary())?;
        for (index, difference) in self.differences.iter().enumerate() {
            let separator = if index == 0 { ": " } else { "; " };
            write!(f, "{separator}{}", difference.message)?;
        }
        Ok(())
    }
}

impl fmt::Display for ItemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Server => "server",
            Self::Tool => "tool",
            Self::Prompt => "prompt",
            Self::Resource => "resource",
            Self::Template => "resource template",
        })
    }
}

/// The differences of one item, while they are collected.
#[derive(Default)]
pub(super) struct Differences(Vec<Difference>);

impl Differences {
    /// Compares a text that people or models read.
    pub(super) fn text(&mut self, name: &str, old: Option<&String>, new: Option<&String>) {
        self.text_at(&format!("/{name}"), name, old, new);
    }

    /// The same, of a text that is not a member of the item itself.
    pub(super) fn text_at(
        &mut self,
        pointer: &str,
        name: &str,
        old: Option<&String>,
        new: Option<&String>,
    ) {
        let was = if name.ends_with('s') { "were" } else { "was" };
        let what = match (old, new) {
            (old, new) if old == new => return,
            (None, _) => format!("{was} added"),
            (_, None) => format!("{was} removed"),
            _ => "changed".to_owned(),
        };
        self.add(ChangeKind::TextOnly, pointer, &format!("the {name} {what}"));
    }

    pub(super) fn compatible(&mut self, pointer: &str, message: &str) {
        self.add(ChangeKind::Compatible, pointer, message);
    }

    pub(super) fn breaking(&mut self, pointer: &str, message: &str) {
        self.add(ChangeKind::Breaking, pointer, message);
    }

    /// Adds the differences of a schema, which is at a pointer.
    pub(super) fn schema(&mut self, pointer: &str, comparison: &Comparison) {
        for difference in comparison.differences() {
            let pointer = format!("{pointer}{}", difference.pointer);
            self.add(difference.kind, &pointer, &difference.message);
        }
    }

    fn add(&mut self, kind: ChangeKind, pointer: &str, message: &str) {
        self.0.push(Difference {
            kind,
            pointer: pointer.to_owned(),
            message: message.to_owned(),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_change(self, item: ItemKind, name: &str) -> Change {
        let kinds = self.0.iter().map(|difference| difference.kind);
        Change {
            item,
            name: name.to_owned(),
            status: ChangeStatus::Changed,
            // Only the spelling of the JSON differs.
            kind: kinds.max().unwrap_or(ChangeKind::TextOnly),
            differences: self.0,
        }
    }
}
