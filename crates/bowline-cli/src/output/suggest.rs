//! Suggestions for mistyped names.

/// Returns the one of `known` that `name` was probably meant to be.
pub(crate) fn closest_match<'a>(
    name: &str,
    known: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let name = name.to_lowercase();
    let near = known.into_iter().filter_map(|candidate| {
        let distance = distance(&name, &candidate.to_lowercase());
        let length = name.chars().count().max(candidate.chars().count());
        // Part of the name must remain: `c` is not a typo of `a`.
        let near = distance <= (length / 3).max(1) && distance < length;
        near.then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Returns the edit distance: additions, deletions, changes and swaps of
/// adjacent characters.
fn distance(one: &str, other: &str) -> usize {
    let (one, other): (Vec<_>, Vec<_>) = (one.chars().collect(), other.chars().collect());
    let width = other.len() + 1;
    let mut rows: Vec<Vec<usize>> = vec![(0..width).collect()];
    for (i, character) in one.iter().enumerate() {
        let mut row = vec![i + 1; width];
        for (j, other_character) in other.iter().enumerate() {
            let changed = rows[i][j] + usize::from(character != other_character);
            row[j + 1] = changed.min(row[j] + 1).min(rows[i][j + 1] + 1);
            if i > 0 && j > 0 && *character == other[j - 1] && one[i - 1] == *other_character {
                row[j + 1] = row[j + 1].min(rows[i - 1][j - 1] + 1);
            }
        }
        rows.push(row);
    }
    rows[one.len()][other.len()]
}

#[cfg(test)]
mod tests {
    use super::closest_match;

    #[test]
    fn what_was_probably_meant() {
        let known = ["echo", "search_flights", "book_flight"];
        let cases = [
            ("ehco", Some("echo")),
            ("Echo", Some("echo")),
            ("book_fligt", Some("book_flight")),
            ("search-flights", Some("search_flights")),
            ("weather", None),
            ("x", None),
        ];
        for (name, expected) in cases {
            assert_eq!(closest_match(name, known), expected, "{name}");
        }
        assert_eq!(closest_match("c", ["a", "b"]), None);
        assert_eq!(closest_match("A", ["a", "b"]), Some("a"));
    }
}
