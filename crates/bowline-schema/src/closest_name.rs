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
    let mut table = Positions::none();
    let name = Name::new(name, &mut table)?;
    let mut closest = None;
    let mut closest_distance = usize::MAX;
    for candidate in known {
        let Some(length) = short_length(candidate) else {
            continue;
        };
        let longer = name.length.max(length);
        // Part of the name must remain: `c` is not a typo of `a`.
        let max = (longer / 3).max(1).min(longer.saturating_sub(1));
        // The difference in length is the least that there can be.
        if name.length.abs_diff(length) > max.min(closest_distance) {
            continue;
        }
        let distance = name.distance(candidate);
        if distance <= max && distance < closest_distance {
            (closest, closest_distance) = (Some(candidate), distance);
        }
    }
    closest
}

/// Returns the number of characters, unless there are too many.
fn short_length(text: &str) -> Option<usize> {
    let length = match text.is_ascii() {
        true => text.len(),
        false => text.chars().take(MAX_CHARS + 1).count(),
    };
    (length <= MAX_CHARS).then_some(length)
}

/// Calls a function for each character, in lower case.
fn for_each_lower_case(text: &str, mut then: impl FnMut(char)) {
    match text.is_ascii() {
        true => text
            .bytes()
            .for_each(|byte| then(byte.to_ascii_lowercase().into())),
        false => text.chars().flat_map(char::to_lowercase).for_each(then),
    }
}

/// For each character a bit set of the positions in a name that have it.
struct Positions {
    ascii: [u128; 128],
    others: Vec<(char, u128)>,
}

impl Positions {
    fn none() -> Self {
        Self {
            ascii: [0; 128],
            others: Vec::new(),
        }
    }

    fn add(&mut self, character: char, position: u128) {
        match self.ascii.get_mut(character as usize) {
            Some(positions) => *positions |= position,
            None => self.others.push((character, position)),
        }
    }

    fn of(&self, character: char) -> u128 {
        let of_others = || {
            let same = self.others.iter().filter(|(it, _)| *it == character);
            same.fold(0, |all, (_, position)| all | position)
        };
        let ascii = self.ascii.get(character as usize);
        ascii.copied().unwrap_or_else(of_others)
    }
}

/// A name in lower case. Its table is large, so it stays where it is.
struct Name<'t> {
    positions: &'t Positions,
    length: usize,
}

impl<'t> Name<'t> {
    /// Reads a name, unless it is empty or too long.
    fn new(name: &str, table: &'t mut Positions) -> Option<Self> {
        short_length(name)?;
        let mut length = 0;
        for_each_lower_case(name, |character| {
            // Some characters are two in lower case.
            table.add(character, 1_u128.checked_shl(length).unwrap_or_default());
            length += 1;
        });
        (1..=u128::BITS).contains(&length).then_some(Self {
            positions: table,
            length: length as usize,
        })
    }

    /// Returns how many characters must be inserted, removed, replaced or swapped with
    /// the next, each at most once.
    fn distance(&self, other: &str) -> usize {
        match self.length <= u64::BITS as usize {
            true => distance!(u64, self, other),
            false => distance!(u128, self, other),
        }
    }
}

/// Computes a column of the usual table at once: it is kept as the rows at which it grows
/// and at which it shrinks (Hyyrö, A bit-vector algorithm for computing Levenshtein and
/// Damerau edit distances, 2003). Most names fit in half of the bits.
macro_rules! distance {
    ($Rows:ty, $name:expr, $other:expr) => {{
        let last_row: $Rows = 1 << ($name.length - 1);
        let (mut grows, mut shrinks): ($Rows, $Rows) = (<$Rows>::MAX, 0);
        let (mut diagonal, mut previous): ($Rows, $Rows) = (0, 0);
        let mut distance = $name.length;
        for_each_lower_case($other, |character| {
            let same = $name.positions.of(character) as $Rows;
            let swapped = ((!diagonal & same) << 1) & previous;
            diagonal = ((same & grows).wrapping_add(grows) ^ grows) | same | shrinks | swapped;
            let grows_across = shrinks | !(diagonal | grows);
            let shrinks_across = diagonal & grows;
            distance += usize::from(grows_across & last_row != 0);
            distance -= usize::from(shrinks_across & last_row != 0);
            let grows_across = grows_across << 1 | 1;
            grows = shrinks_across << 1 | !(diagonal | grows_across);
            shrinks = grows_across & diagonal;
            previous = same;
        });
        distance
    }};
}
use distance;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

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
    fn differences_are_counted() {
        for (one, other, expected) in [
            ("kitten", "sitting", 3),
            ("a", "", 1),
            ("ab", "ba", 1),
            ("abcd", "badc", 2),
            // Nothing is changed twice.
            ("ca", "abc", 3),
            ("straße", "STRASSE", 2),
            ("ÄÖÜ", "äöü", 0),
            ("über", "büer", 1),
        ] {
            let mut table = Positions::none();
            let name = Name::new(one, &mut table).expect("a name");
            assert_eq!(name.distance(other), expected, "{one} and {other}");
        }
    }

    proptest! {
        #[test]
        fn the_same_as_by_the_usual_table(one in "[abcü]{1,12}|[ab]{60,90}", other in "[abcü]{0,12}|[ab]{60,90}") {
            let mut table = Positions::none();
            let name = Name::new(&one, &mut table).expect("a name");
            prop_assert_eq!(name.distance(&other), strsim::osa_distance(&one, &other));
        }
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
