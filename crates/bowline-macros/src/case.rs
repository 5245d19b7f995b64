//! Naming conventions, such as camel case.

/// A naming convention.
#[derive(Clone, Copy)]
pub(crate) enum Case {
    Lower,
    Upper,
    Camel,
    Pascal,
    Snake,
    ScreamingSnake,
    Kebab,
}

/// All conventions, with the names that show them.
const ALL: &[(&str, Case)] = &[
    ("lowercase", Case::Lower),
    ("UPPERCASE", Case::Upper),
    ("camelCase", Case::Camel),
    ("PascalCase", Case::Pascal),
    ("snake_case", Case::Snake),
    ("SCREAMING_SNAKE_CASE", Case::ScreamingSnake),
    ("kebab-case", Case::Kebab),
];

impl Case {
    /// Returns the convention with this name.
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        let found = ALL.iter().find(|(known, _)| *known == name);
        found.map(|(_, case)| *case)
    }

    /// Returns the names of all conventions.
    pub(crate) fn names() -> impl Iterator<Item = &'static str> {
        ALL.iter().map(|(name, _)| *name)
    }

    /// Converts a name.
    pub(crate) fn apply(self, name: &str) -> String {
        let words = words(name);
        match self {
            Self::Lower => words.concat(),
            Self::Upper => words.concat().to_uppercase(),
            Self::Camel => {
                let (first, rest) = words.split_at(words.len().min(1));
                first.concat() + &pascal_case(rest)
            }
            Self::Pascal => pascal_case(&words),
            Self::Snake => words.join("_"),
            Self::ScreamingSnake => words.join("_").to_uppercase(),
            Self::Kebab => words.join("-"),
        }
    }
}

/// Splits a name in snake case or Pascal case into words in lower case. A run
/// of capitals is one word.
fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words = vec![String::new()];
    for (at, &character) in chars.iter().enumerate() {
        let after_lowercase = at > 0 && !chars[at - 1].is_uppercase();
        let before_lowercase = chars.get(at + 1).is_some_and(|next| next.is_lowercase());
        if character == '_' || (character.is_uppercase() && (after_lowercase || before_lowercase)) {
            words.push(String::new());
        }
        if character != '_'
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words
}

fn pascal_case(words: &[String]) -> String {
    let capitalize = |word: &String| {
        let mut chars = word.chars();
        let first = chars.next().into_iter().flat_map(char::to_uppercase);
        first.chain(chars).collect::<String>()
    };
    words.iter().map(capitalize).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_written_in_every_case() {
        for (name, expected) in [
            (
                "AisleSeat",
                [
                    "aisleseat",
                    "AISLESEAT",
                    "aisleSeat",
                    "AisleSeat",
                    "aisle_seat",
                    "AISLE_SEAT",
                    "aisle-seat",
                ],
            ),
            (
                "aisle_seat2",
                [
                    "aisleseat2",
                    "AISLESEAT2",
                    "aisleSeat2",
                    "AisleSeat2",
                    "aisle_seat2",
                    "AISLE_SEAT2",
                    "aisle-seat2",
                ],
            ),
            (
                "HTTPServer",
                [
                    "httpserver",
                    "HTTPSERVER",
                    "httpServer",
                    "HttpServer",
                    "http_server",
                    "HTTP_SERVER",
                    "http-server",
                ],
            ),
            ("A", ["a", "A", "a", "A", "a", "A", "a"]),
        ] {
            let written: Vec<String> = ALL.iter().map(|(_, case)| case.apply(name)).collect();
            assert_eq!(written, expected, "{name}");
        }
    }
}
