//! How types are laid out, in files and in prompts.

use super::layout::Doc;

/// How TypeScript is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Style {
    /// Where lines are broken.
    pub layout: Layout,
    /// Which comments there are.
    pub docs: Docs,
}

/// Where lines are broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// Lines of up to 80 characters, as prettier breaks them, for files.
    Pretty,
    /// One line, as short as possible, for prompts. Named types that are used once are
    /// spelled out there.
    Compact,
}

/// Which comments there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Docs {
    /// None.
    None,
    /// One sentence for a member, with its bounds and its default.
    Brief,
    /// Everything that the schema says, as JSDoc.
    Full,
}

/// How many values are listed in a type. Enumerations of more are widened.
const MAX_LITERALS: usize = 1_000;
const MAX_LITERALS_COMPACT: usize = 50;

impl Style {
    /// Files: pretty, with all comments, and declarations that are exported.
    pub const FILE: Self = Self {
        layout: Layout::Pretty,
        docs: Docs::Full,
    };
    /// Prompts: compact, without comments.
    pub const PROMPT: Self = Self {
        layout: Layout::Compact,
        docs: Docs::None,
    };

    /// Changes which comments there are. A compact layout has one sentence at most.
    #[must_use]
    pub const fn with_docs(self, docs: Docs) -> Self {
        Self { docs, ..self }
    }

    pub(super) fn is_compact(self) -> bool {
        self.layout == Layout::Compact
    }

    pub(super) fn max_literals(self) -> usize {
        match self.layout {
            Layout::Pretty => MAX_LITERALS,
            Layout::Compact => MAX_LITERALS_COMPACT,
        }
    }

    /// A member of an object.
    pub(super) fn member(self, name: &str, is_optional: bool, ty: Doc) -> Doc {
        let mark = if is_optional { "?" } else { "" };
        Doc::List(vec![Doc::text(format!("{name}{mark}:")), Doc::Space, ty])
    }

    /// The members of an object with any names.
    pub(super) fn index_signature(self, ty: Doc) -> Doc {
        let key = match self.layout {
            Layout::Pretty => "[key: string]",
            Layout::Compact => "[key:string]",
        };
        self.member(key, false, ty)
    }

    /// Adds a short comment.
    pub(super) fn remark(self, text: &str, remark: &str) -> String {
        format!("{text} /* {remark} */")
    }

    /// An object with these members.
    pub(super) fn object(self, members: Vec<Doc>) -> Doc {
        if self.is_compact() {
            return Doc::List(vec![
                Doc::text("{"),
                Doc::join(members, &[Doc::text(",")]),
                Doc::text("}"),
            ]);
        }
        Doc::group(vec![
            Doc::text("{"),
            Doc::indent(vec![
                Doc::Line,
                Doc::join(members, &[Doc::text(";"), Doc::Line]),
                Doc::IfBroken(";"),
            ]),
            Doc::Line,
            Doc::text("}"),
        ])
    }

    /// A tuple of these items.
    pub(super) fn tuple(self, items: Vec<Doc>) -> Doc {
        if items.is_empty() {
            return Doc::text("[]");
        }
        Doc::group(vec![
            Doc::text("["),
            Doc::indent(vec![
                Doc::SoftLine,
                Doc::join(items, &[Doc::text(","), Doc::Line]),
                Doc::IfBroken(","),
            ]),
            Doc::SoftLine,
            Doc::text("]"),
        ])
    }

    /// An object with any names, and values of one type.
    pub(super) fn record(self, values: Doc) -> Doc {
        Doc::group(vec![
            Doc::text("Record<"),
            Doc::indent(vec![Doc::SoftLine, Doc::text("string,"), Doc::Line, values]),
            Doc::SoftLine,
            Doc::text(">"),
        ])
    }
}
