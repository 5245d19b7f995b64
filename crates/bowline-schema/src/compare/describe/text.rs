//! Text for people, and hints to programs, neither of which restricts values.

use super::{
    super::{
        document::{Node, address},
        findings::Place,
        keyword::Role,
        report::ChangeKind,
    },
    Pair, Walk,
    path::{Path, json},
    place_of,
};

impl<'a> Walk<'a> {
    /// Describes changes of text and hints.
    pub(super) fn describe_text(&mut self, pair: Pair<'_, 'a>, path: &Path<'_>) {
        for keyword in annotations(&pair.new.text, &pair.old.text) {
            let [old, new] = [&pair.old.text, &pair.new.text].map(|it| find(it, keyword));
            let is_equal = match (old, new) {
                (Some(old), Some(new)) => self.prover.is_equal(old.value, new.value),
                _ => old.is_none() && new.is_none(),
            };
            let Some(place) = new.or(old).filter(|_| !is_equal) else {
                continue;
            };
            if !self.seen_text.insert(address(place.value)) {
                continue;
            }
            let kind = match Role::of(keyword) {
                Role::Text => ChangeKind::TextOnly,
                _ => ChangeKind::Compatible,
            };
            let message = sentence(keyword, old, new, &path.subject());
            self.findings.add(kind, place, message);
        }
    }
}

/// Returns the text and hints that occur, in their order.
fn annotations<'a>(new: &[Node<'a>], old: &[Node<'a>]) -> Vec<&'a str> {
    let mut found: Vec<&str> = Vec::new();
    for node in new.iter().chain(old) {
        for keyword in node.members().into_iter().flat_map(|it| it.keys()) {
            let is_annotation = matches!(Role::of(keyword), Role::Text | Role::Hint);
            if is_annotation && !found.contains(&keyword.as_str()) {
                found.push(keyword);
            }
        }
    }
    found
}

/// Returns what the outermost schema that has a keyword says.
fn find<'a>(nodes: &[Node<'a>], keyword: &str) -> Option<Place<'a>> {
    let mut values = nodes.iter();
    values.find_map(|node| Some(place_of(*node, node.get(keyword)?)))
}

fn sentence(
    keyword: &str,
    old: Option<Place<'_>>,
    new: Option<Place<'_>>,
    subject: &str,
) -> String {
    let name = match keyword {
        "title" | "description" | "default" | "examples" => keyword.to_owned(),
        "$comment" => "comment".to_owned(),
        keyword => format!("`{keyword}`"),
    };
    match (keyword, old, new) {
        ("default", Some(old), Some(new)) => {
            let (old, new) = (json(old.value), json(new.value));
            format!("the default of {subject} changed from {old} to {new}")
        }
        ("default", None, Some(new)) => {
            format!("{subject} now has a default, {}", json(new.value))
        }
        ("default", Some(old), None) => {
            format!(
                "{subject} no longer has a default; it was {}",
                json(old.value)
            )
        }
        ("deprecated", _, Some(new)) if new.value == true => format!("{subject} is now deprecated"),
        ("deprecated", ..) => format!("{subject} is no longer deprecated"),
        ("examples", None, _) => format!("examples of {subject} were added"),
        ("examples", _, None) => format!("the examples of {subject} were removed"),
        (_, Some(_), Some(_)) => format!("the {name} of {subject} changed"),
        (_, None, _) => format!("the {name} of {subject} was added"),
        (_, _, None) => format!("the {name} of {subject} was removed"),
    }
}
