//! How well something fits a query.

use std::cmp::Reverse;

use serde::Serialize;
use serde_json::Value;

/// Something that a server offers.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub(crate) server: String,
    pub(crate) kind: Kind,
    /// Its name, or its URI: by which it is used.
    pub(crate) name: String,
    pub(crate) title: Option<String>,
    pub(crate) description: Option<String>,
    /// As the server describes it.
    pub(crate) definition: Value,
}

/// What kind of thing it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    Tool,
    Resource,
    Template,
    Prompt,
}

/// How much each place counts in which a word may be found.
const NAME: u32 = 8;
const TITLE: u32 = 4;
const DESCRIPTION: u32 = 2;

/// Those items in which every word of the query is found, the best first.
/// Names count more than titles, titles more than descriptions, whole words
/// more than parts of words.
pub(crate) fn rank(items: Vec<Item>, query: &str) -> Vec<Item> {
    let words: Vec<String> = words(query).collect();
    let scored = items.into_iter().filter_map(|item| {
        let score = score(&item, &words)?;
        Some((score, item))
    });
    let mut scored: Vec<_> = scored.collect();
    // Equals stay in the order in which their servers have them.
    scored.sort_by_key(|(score, _)| Reverse(*score));
    scored.into_iter().map(|(_, item)| item).collect()
}

fn score(item: &Item, query: &[String]) -> Option<u32> {
    let places = [
        (NAME, Some(&item.name)),
        (TITLE, item.title.as_ref()),
        (DESCRIPTION, item.description.as_ref()),
    ];
    let places: Vec<(u32, Vec<String>)> = places
        .into_iter()
        .filter_map(|(weight, text)| Some((weight, words(text?).collect())))
        .collect();
    let mut total = 0;
    for wanted in query {
        let found = places
            .iter()
            .map(|(weight, words)| weight * fit(words, wanted));
        total += found.max().filter(|best| *best > 0)?;
    }
    // A name that is just what was asked for comes before longer ones.
    let name: Vec<String> = words(&item.name).collect();
    Some(total * 2 + u32::from(name == query))
}

/// How well a word fits a text: whole, at the start of a word, or within one.
fn fit(words: &[String], wanted: &str) -> u32 {
    let fits = words.iter().map(|word| match word.find(wanted) {
        Some(0) if word.len() == wanted.len() => 4,
        Some(0) => 3,
        Some(_) => 1,
        None => 0,
    });
    fits.max().unwrap_or_default()
}

/// The words of a text, in lower case. Names are made of words, too:
/// `searchFlights` has two, as `search_flights` does.
fn words(text: &str) -> impl Iterator<Item = String> {
    let mut parted = String::with_capacity(text.len() + 8);
    let mut before_is_lower = false;
    for letter in text.chars() {
        if letter.is_uppercase() && before_is_lower {
            parted.push(' ');
        }
        before_is_lower = letter.is_lowercase() || letter.is_numeric();
        parted.extend(letter.to_lowercase());
    }
    let words: Vec<String> = parted
        .split(|letter: char| !letter.is_alphanumeric())
        .filter(|word| !word.is_empty())
        .map(str::to_owned)
        .collect();
    words.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(name: &str, description: &str) -> Item {
        Item {
            server: "server".to_owned(),
            kind: Kind::Tool,
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
