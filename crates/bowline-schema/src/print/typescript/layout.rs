//! Text that is broken into lines where it is too wide, as prettier does it.

/// How wide lines may be.
const MAX_WIDTH: usize = 80;
const INDENT: usize = 2;

/// Text with places where it can be broken into lines.
#[derive(Clone, Debug)]
pub(super) enum Doc {
    /// Text without line breaks.
    Text(String),
    /// A space that only lines have.
    Space,
    /// A space, or a new line if the group around it is broken.
    Line,
    /// Nothing, or a new line if the group around it is broken.
    SoftLine,
    /// A new line.
    HardLine,
    /// Text only if the group around it is broken.
    IfBroken(&'static str),
    /// Lines further to the right.
    Indent(Box<Doc>),
    /// On one line, if it fits.
    Group { doc: Box<Doc>, must_break: bool },
    /// One after another.
    List(Vec<Doc>),
}

impl Doc {
    pub(super) fn text(text: impl Into<String>) -> Self {
        Self::Text(text.into())
    }

    pub(super) fn group(docs: Vec<Self>) -> Self {
        let doc = Self::List(docs);
        Self::Group {
            must_break: doc.has_hard_line(),
            doc: Box::new(doc),
        }
    }

    pub(super) fn indent(docs: Vec<Self>) -> Self {
        Self::Indent(Box::new(Self::List(docs)))
    }

    /// Puts separators between docs.
    pub(super) fn join(docs: Vec<Self>, separator: &[Self]) -> Self {
        let mut joined = Vec::new();
        for (at, doc) in docs.into_iter().enumerate() {
            if at > 0 {
                joined.extend_from_slice(separator);
            }
            joined.push(doc);
        }
        Self::List(joined)
    }

    /// Returns whether it cannot be on one line. Groups know, so this is not recursive
    /// through the whole tree.
    pub(super) fn has_hard_line(&self) -> bool {
        match self {
            Self::HardLine => true,
            Self::Indent(doc) => doc.has_hard_line(),
            Self::Group { must_break, .. } => *must_break,
            Self::List(docs) => docs.iter().any(Self::has_hard_line),
            _ => false,
        }
    }

    /// Writes it in lines.
    pub(super) fn render(&self) -> String {
        Renderer::render(self, Some(MAX_WIDTH))
    }

    /// Writes it on one line if it takes up to `max_length` bytes.
    pub(super) fn render_within(&self, max_length: usize, is_compact: bool) -> Option<String> {
        let mut text = String::new();
        let mut pending = vec![self];
        while let Some(doc) = pending.pop() {
            match doc {
                Self::Text(part) => text.push_str(part),
                Self::Line | Self::Space if !is_compact => text.push(' '),
                Self::HardLine => return None,
                Self::Indent(doc) | Self::Group { doc, .. } => pending.push(doc),
                Self::List(docs) => pending.extend(docs.iter().rev()),
                _ => {}
            }
            if text.len() > max_length {
                return None;
            }
        }
        Some(text)
    }

    /// Writes it on one line, apart from hard lines, and without spaces.
    pub(super) fn render_compact(&self) -> String {
        Renderer::render(self, None)
    }
}

/// A part that is still to be written.
#[derive(Clone, Copy)]
struct Part<'d> {
    doc: &'d Doc,
    indent: usize,
    is_broken: bool,
}

struct Renderer {
    text: String,
    column: usize,
}

impl Renderer {
    /// Writes a doc in lines of this width, or on one line.
    fn render(doc: &Doc, width: Option<usize>) -> String {
        let mut renderer = Self {
            text: String::new(),
            column: 0,
        };
        let mut pending = vec![Part {
            doc,
            indent: 0,
            is_broken: false,
        }];
        while let Some(part) = pending.pop() {
            match part.doc {
                Doc::Text(text) => renderer.push(text),
                Doc::IfBroken(text) if part.is_broken => renderer.push(text),
                Doc::HardLine => renderer.new_line(part.indent),
                Doc::Line | Doc::SoftLine if part.is_broken => renderer.new_line(part.indent),
                Doc::Line | Doc::Space if width.is_some() => renderer.push(" "),
                Doc::Line | Doc::Space | Doc::IfBroken(_) | Doc::SoftLine => {}
                Doc::Group { doc, must_break } => {
                    let flat = Part {
                        doc,
                        is_broken: false,
                        ..part
                    };
                    let fits = width.is_none_or(|width| {
                        let remaining = width.saturating_sub(renderer.column);
                        fits(flat, &pending, remaining)
                    });
                    let is_broken = !fits || (*must_break && width.is_some());
                    pending.push(Part { is_broken, ..flat });
                }
                _ => push_children(part, &mut pending),
            }
        }
        renderer.text
    }

    fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.column += text.chars().count();
    }

    fn new_line(&mut self, indent: usize) {
        self.text.truncate(self.text.trim_end_matches(' ').len());
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', indent));
        self.column = indent;
    }
}

fn push_children<'d>(part: Part<'d>, pending: &mut Vec<Part<'d>>) {
    match part.doc {
        Doc::Indent(doc) => pending.push(Part {
            doc,
            indent: part.indent + INDENT,
            ..part
        }),
        Doc::Group { doc, .. } => pending.push(Part { doc, ..part }),
        Doc::List(docs) => pending.extend(docs.iter().rev().map(|doc| Part { doc, ..part })),
        _ => {}
    }
}

/// Returns whether a part, and what follows it up to the next line break, fits.
fn fits(part: Part<'_>, following: &[Part<'_>], mut width: usize) -> bool {
    let mut pending = vec![part];
    let mut following = following.iter().rev();
    loop {
        let Some(part) = pending.pop().or_else(|| following.next().copied()) else {
            return true;
        };
        let length = match part.doc {
            Doc::HardLine => return true,
            Doc::Line | Doc::SoftLine if part.is_broken => return true,
            Doc::Text(text) => text.chars().count(),
            Doc::IfBroken(text) if part.is_broken => text.chars().count(),
            Doc::Line | Doc::Space => 1,
            _ => {
                push_children(part, &mut pending);
                0
            }
        };
        match width.checked_sub(length) {
            Some(remaining) => width = remaining,
            None => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Doc;

    fn list(items: &[&str]) -> Doc {
        let items = items.iter().map(|item| Doc::text(*item)).collect();
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

    #[test]
    fn what_fits_stays_on_one_line() {
        assert_eq!(list(&["a", "b"]).render(), "[a, b]");
        let wide = "x".repeat(76);
        assert_eq!(list(&[&wide]).render(), format!("[{wide}]"));
        assert_eq!(
            list(&[&wide, "b"]).render(),
            format!("[\n  {wide},\n  b,\n]")
        );
        assert_eq!(list(&[&wide, "b"]).render_compact(), format!("[{wide},b]"));
    }

    #[test]
    fn what_follows_must_fit_too() {
        let wide = "x".repeat(76);
        let followed = Doc::List(vec![list(&[&wide]), Doc::text("[][]")]);
        assert_eq!(followed.render(), format!("[\n  {wide},\n][][]"));
    }

    #[test]
    fn a_hard_line_breaks_the_groups_around_it() {
        let inner = Doc::List(vec![Doc::text("a"), Doc::HardLine, Doc::text("b")]);
        let doc = Doc::group(vec![Doc::text("("), Doc::Line, Doc::group(vec![inner])]);
        assert_eq!(doc.render(), "(\na\nb");
    }
}
