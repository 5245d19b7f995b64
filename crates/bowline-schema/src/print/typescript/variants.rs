//! The variants of a type, which are put together by `|`.

use std::collections::HashSet;

use super::layout::Doc;

/// A type as a list of variants. Most types have one.
pub(super) struct Variants(Vec<Variant>);

/// One of several types.
pub(super) struct Variant {
    /// What is said about it, ending with a line break.
    pub(super) comment: Option<Doc>,
    pub(super) doc: Doc,
    is_object: bool,
}

impl Variant {
    pub(super) fn new(doc: Doc) -> Self {
        Self {
            comment: None,
            doc,
            is_object: false,
        }
    }

    pub(super) fn object(doc: Doc) -> Self {
        Self {
            is_object: true,
            ..Self::new(doc)
        }
    }

    /// Returns its text if it is a single word or value.
    fn word(&self) -> Option<&str> {
        match &self.doc {
            Doc::Text(text) => Some(text),
            _ => None,
        }
    }
}

impl Variants {
    pub(super) fn word(text: &str) -> Self {
        Self::one(Variant::new(Doc::text(text)))
    }

    pub(super) fn one(variant: Variant) -> Self {
        Self(vec![variant])
    }

    /// Puts variants together. What is there twice is left out, and so is everything
    /// beside `unknown`, which includes it.
    pub(super) fn union(variants: impl IntoIterator<Item = Variant>) -> Self {
        let mut seen = HashSet::new();
        let mut kept = Vec::new();
        for variant in variants {
            match variant.word() {
                Some("unknown") => return Self::word("unknown"),
                Some(word) if !seen.insert(word.to_owned()) => {}
                _ => kept.push(variant),
            }
        }
        // `never` includes nothing, so it is left out beside others.
        if kept.len() > 1 {
            kept.retain(|variant| variant.word() != Some("never"));
        }
        Self(kept)
    }

    pub(super) fn is_unknown(&self) -> bool {
        matches!(&self.0[..], [only] if only.word() == Some("unknown"))
    }

    /// Writes it where a type may begin on the next line: after the name of a member
    /// or of an alias.
    pub(super) fn into_doc(self) -> Doc {
        if self.is_on_one_line() {
            return self.into_line();
        }
        Doc::group(vec![Doc::indent(vec![Doc::SoftLine, self.into_lines()])])
    }

    /// Writes it where something that binds tighter follows.
    pub(super) fn into_operand(self) -> Doc {
        if self.0.len() == 1 {
            return self.into_line();
        }
        if self.is_on_one_line() {
            return Doc::List(vec![Doc::text("("), self.into_line(), Doc::text(")")]);
        }
        Doc::group(vec![
            Doc::text("("),
            Doc::indent(vec![Doc::SoftLine, self.into_lines()]),
            Doc::SoftLine,
            Doc::text(")"),
        ])
    }

    /// An object that may be `null` begins on the same line.
    fn is_on_one_line(&self) -> bool {
        match &self.0[..] {
            [_] => true,
            [object, null] => {
                object.is_object && object.comment.is_none() && null.word() == Some("null")
            }
            _ => false,
        }
    }

    fn into_line(self) -> Doc {
        let docs = self.0.into_iter().map(|variant| variant.doc).collect();
        Doc::join(docs, &[Doc::Space, Doc::text("|"), Doc::Space])
    }

    /// Writes each variant on its own line, if there is not enough space on one.
    fn into_lines(mut self) -> Doc {
        let mut lines = Vec::new();
        let first_comment = self.0.first_mut().and_then(|first| first.comment.take());
        for (at, variant) in self.0.into_iter().enumerate() {
            if at > 0 {
                lines.push(Doc::Line);
            }
            lines.extend(variant.comment);
            match at {
                0 => lines.push(Doc::IfBroken("| ")),
                _ => lines.extend([Doc::text("|"), Doc::Space]),
            }
            lines.push(Doc::indent(vec![variant.doc]));
        }
        let lines = Doc::group(lines);
        Doc::List(first_comment.into_iter().chain([lines]).collect())
    }
}

impl IntoIterator for Variants {
    type Item = Variant;
    type IntoIter = std::vec::IntoIter<Variant>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}
