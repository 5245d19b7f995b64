//! Suggestions for mistyped names.

/// The length from which names are not compared: the work grows with its square.
const MAX_CHARS: usize = 128;

/// Returns the one of `known` that `name` was probably meant to be: the one with the
/// fewest differences, if they are at most a third of the longer name. Upper and lower
/// case are the same. Names of more than 128 characters resemble none.
///
/// ```
/// use bowline_schema::closest_name;
///
/// let known = ["search_flights", "book_flight"];
/// assert_eq!(closest_name("book_fligth", known), Some("book_flight"));
/// assert_eq!(closest_name("weather", known), None);
/// ```
pub fn closest_name<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let is_short = |text: &str| text.chars().nth(MAX_CHARS).is_none();
    if !is_short(name) {
        return None;
    }
    let name = name.to_lowercase();
    let known = known.into_iter().filter(|candidate| is_short(candidate));
    let close = known.filter_map(|candidate| {
        let distance = strsim::osa_distance(&name, &candidate.to_lowercase());
        let length = name.chars().count().max(candidate.chars().count());
        // Part of the name must remain: `c` is not a typo of `a`.
        let is_close = distance <= (length / 3).max(1) && distance < length;
        is_close.then_some((distance, candidate))
    });
    let closest = close.min_by_key(|(distance, _)| *distance);
    closest.map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_probably_meant() {
        let known = ["echo", "search_flights", "book_flight"];
        let cases = [
            ("ehco", Some("echo")),
            ("Echo", Some("echo")),
            ("ECHO", Some("echo")),
            ("book_fligt", Some("book_flight")),
            ("search-flights", Some("search_flights")),
            ("weather", None),
            ("x", None),
            ("", None),
        ];
        for (name, expected) in cases {
            assert_eq!(closest_name(name, known), expected, "{name}");
        }
        assert_eq!(closest_name("c", ["a", "b"]), None);
        assert_eq!(closest_name("A", ["a", "b"]), Some("a"));
        // Swapped letters are one difference: two would be too many here.
        assert_eq!(closest_name("gti", ["git"]), Some("git"));
    }

    #[test]
    fn long_names_resemble_none() {
        let long = "x".repeat(MAX_CHARS);
        let longer = "x".repeat(MAX_CHARS + 1);
        assert_eq!(closest_name(&long, [&*longer, "y"]), None);
        assert_eq!(closest_name(&longer, [&*long]), None);
        assert_eq!(closest_name(&long, [&*long]), Some(&*long));
    }
}
