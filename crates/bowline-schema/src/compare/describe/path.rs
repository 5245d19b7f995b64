//! The words of messages: what they are about, and values in them.

use std::io::{self, Write};

use serde_json::Value;

use super::super::report::Usage;

/// The maximum number of characters of a name or value in a message.
const MAX_CHARS: usize = 80;

/// The way from the compared values to a part of them.
#[derive(Clone, Copy)]
pub(super) enum Path<'p> {
    Root(Usage),
    Member(&'p Path<'p>, &'p str),
    /// The members that are not named.
    Others(&'p Path<'p>),
    Item(&'p Path<'p>, usize),
    /// All items that have no schemas of their own.
    Items(&'p Path<'p>),
}

impl Path<'_> {
    /// Returns what a sentence is about.
    pub(super) fn subject(&self) -> String {
        match self {
            Self::Root(Usage::Input) => "the input".to_owned(),
            Self::Root(Usage::Output) => "the output".to_owned(),
            _ => quote(&self.name()),
        }
    }

    /// Returns a member as what a sentence is about.
    pub(super) fn member(&self, name: &str) -> String {
        quote(&Path::Member(self, name).name())
    }

    fn name(&self) -> String {
        match self {
            Self::Root(_) => String::new(),
            Self::Member(parent, name) => match parent.name() {
                outer if outer.is_empty() => (*name).to_owned(),
                outer => format!("{outer}.{name}"),
            },
            Self::Others(parent) => match parent.name() {
                outer if outer.is_empty() => "*".to_owned(),
                outer => format!("{outer}.*"),
            },
            Self::Item(parent, at) => format!("{}[{at}]", parent.name()),
            Self::Items(parent) => format!("{}[]", parent.name()),
        }
    }
}

/// Returns a value as JSON, cut if it is long.
pub(super) fn json(value: &Value) -> String {
    let mut start = Start(Vec::new());
    // The writer fails when it has enough, so a deep value is not read to its end.
    let _ = serde_json::to_writer(&mut start, value);
    cut(&String::from_utf8_lossy(&start.0))
}

/// Returns some values as a list, of which only the first are shown.
pub(super) fn list<'a>(values: impl ExactSizeIterator<Item = &'a Value>) -> String {
    const MAX_LISTED: usize = 5;
    let more = values.len().saturating_sub(MAX_LISTED);
    let mut shown: Vec<String> = values.take(MAX_LISTED).map(json).collect();
    shown.extend((more > 0).then(|| format!("{more} more")));
    match shown.as_slice() {
        [] => "nothing".to_owned(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

fn quote(name: &str) -> String {
    format!("`{}`", cut(name))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text.to_owned(),
    }
}

/// The first bytes of what is written.
struct Start(Vec<u8>);

impl Write for Start {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // A character has up to four bytes.
        if self.0.len() > 4 * MAX_CHARS {
            return Err(io::ErrorKind::WriteZero.into());
        }
        let bytes = &bytes[..bytes.len().min(5 * MAX_CHARS)];
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_names_members_and_items() {
        let root = Path::Root(Usage::Input);
        let legs = Path::Member(&root, "legs");
        let leg = Path::Items(&legs);
        assert_eq!(root.subject(), "the input");
        assert_eq!(leg.member("from"), "`legs[].from`");
        assert_eq!(Path::Others(&Path::Item(&legs, 2)).subject(), "`legs[2].*`");
    }

    #[test]
    fn of_a_long_value_the_beginning_is_shown() {
        assert_eq!(json(&json!({"a": [1, "x"]})), r#"{"a":[1,"x"]}"#);
        for value in [json!("ü".repeat(100_000)), json!(vec![1; 100_000])] {
            let shown = json(&value);
            assert_eq!(shown.chars().count(), MAX_CHARS + 1, "{shown}");
        }
        let many = [
            json!(1),
            json!(2),
            json!(3),
            json!(4),
            json!(5),
            json!(6),
            json!(7),
        ];
        assert_eq!(list(many.iter()), "1, 2, 3, 4, 5 and 2 more");
        assert_eq!(list(many[..2].iter()), "1 and 2");
    }
}
