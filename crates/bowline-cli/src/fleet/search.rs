//! Ranking items against a query.

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::Value;

/// An item that a server offers.
#[derive(Clone, Debug)]
pub(crate) struct SearchItem {
    pub(crate) server: String,
    pub(crate) kind: ItemKind,
    /// The name or URI by which it is used.
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    /// The server's definition.
    pub(crate) definition: Value,
}

/// The kind of item.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ItemKind {
    Tool,
    Resource,
    Template,
    Prompt,
}

/// Weights of the places in which a word may be found.
const NAME_WEIGHT: u32 = 8;
const TITLE_WEIGHT: u32 = 4;
const DESCRIPTION_WEIGHT: u32 = 2;

/// Returns the items in which every word of the query is found, best match
/// first. Names count more than titles, titles more than descriptions, whole
/// words more than parts of words.
pub(crate) fn rank(items: Vec<SearchItem>, query: &str) -> Vec<SearchItem> {
    let words: Vec<String> = words(query).collect();
    let scored = items.into_iter().filter_map(|item| {
        let score = score(&item, &words)?;
        Some((score, item))
    });
    let mut scored: Vec<_> = scored.collect();
    // The sort is stable: ties keep the order of their servers.
    scored.sort_by_key(|(score, _)| Reverse(*score));
    scored.into_iter().map(|(_, item)| item).collect()
}

fn score(item: &SearchItem, query: &[String]) -> Option<u32> {
    let fields = [
        (NAME_WEIGHT, Some(&item.name)),
        (TITLE_WEIGHT, item.title.as_ref()),
        (DESCRIPTION_WEIGHT, item.description.as_ref()),
    ];
    let fields: Vec<(u32, Vec<String>)> = fields
        .into_iter()
        .filter_map(|(weight, text)| Some((weight, words(text?).collect())))
        .collect();
    let mut total = 0;
    for term in query {
        let found = fields
            .iter()
            .map(|(weight, words)| weight * match_score(words, term));
        total += found.max().filter(|best| *best > 0)?;
    }
    // An exact name comes before longer ones.
    let name: Vec<String> = words(&item.name).collect();
    Some(total * 2 + u32::from(name == query))
}

/// Scores how a word matches: whole, at the start of a word, or inside one.
fn match_score(words: &[String], term: &str) -> u32 {
    let scores = words.iter().map(|word| match word.find(term) {
        Some(0) if word.len() == term.len() => 4,
        Some(0) => 3,
        Some(_) => 1,
        None => 0,
    });
    scores.max().unwrap_or_default()
}

/// Splits a string into lowercase words. Names are split too: `searchFlights`
/// has two words, like `search_flights`.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut separated = String::with_capacity(text.len() + 8);
    let mut previous_is_lower = false;
    for character in text.chars() {
        if character.is_uppercase() && previous_is_lower {
            separated.push(' ');
        }
        previous_is_lower = character.is_lowercase() || character.is_numeric();
        separated.extend(character.to_lowercase());
    }
    let words: Vec<String> = separated
        .split(|character: char| !character.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, description: &str) -> SearchItem {
        SearchItem {
            server: "server".to_owned(),
            kind: ItemKind::Tool,
            name: name.to_owned(),
            title: None,
            description: Some(description.to_owned()),
            definition: Value::Null,
        }
    }

    #[track_caller]
    fn check(query: &str, names: &[&str]) {
        let items = vec![
            item("book_flight", "Books a flight to a place"),
            item("searchFlights", "Finds flights"),
            item("search", "Searches notes"),
            item("echo", "Says something; has nothing to do with a flight"),
        ];
        let ranked = rank(items, query);
        let found: Vec<_> = ranked.iter().map(|item| item.name.as_str()).collect();
        assert_eq!(found, names, "{query}");
    }

    #[test]
    fn the_best_come_first() {
        check("search", &["search", "searchFlights"]);
        check("flight", &["book_flight", "searchFlights", "echo"]);
        check("search flight", &["searchFlights"]);
        check("FLIGHTS", &["searchFlights"]);
        check("weather", &[]);
    }
}
