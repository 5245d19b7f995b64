//! Patterns of texts, and what it costs to hold a text against one.

use regex_lite::Regex;

/// A pattern. Its time is linear in the text, whatever the text; the factor
/// depends on how many ways of matching are followed at once.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// How many ways of matching there may be at once, at most.
    ways: u64,
    /// How many characters are looked at, at most, if that is known.
    reach: Option<u64>,
}

impl Pattern {
    /// # Errors
    ///
    /// Where it is no pattern.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let regex =
            Regex::new(pattern).map_err(|error| format!("{pattern:?} is no pattern: {error}"))?;
        let size = Reader::new(pattern).alternatives();
        // Without an anchor a match may begin at each character, so that each
        // part may be under way. `|` at the top would leave only one anchored.
        let is_anchored = pattern.starts_with('^') && !size.has_choice_at_top;
        Ok(Self {
            regex,
            ways: if is_anchored {
                1 + size.forks
            } else {
                1 + size.parts
            },
            reach: size.length.filter(|_| is_anchored),
        })
    }

    pub(super) fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        self.regex.is_match(text)
    }

    /// How many steps it takes to hold a text against it, at most.
    pub(super) fn cost(&self, text: &str) -> u64 {
        let length = (text.len() as u64).saturating_add(1);
        let length = self.reach.map_or(length, |reach| {
            // A character has up to four bytes.
            length.min(reach.saturating_add(1).saturating_mul(4))
        });
        length.saturating_mul(self.ways)
    }
}

/// How large a part of a pattern is.
#[derive(Clone, Copy, Default)]
struct Size {
    /// Characters and classes, with those that are repeated counted as often.
    parts: u64,
    /// Places at which a match may go on in more than one way.
    forks: u64,
    /// The longest text that it matches; `None` where there is no such limit.
    length: Option<u64>,
    has_choice_at_top: bool,
}

impl Size {
    fn one() -> Self {
        Self {
            parts: 1,
            length: Some(1),
            ..Self::default()
        }
    }

    fn nothing() -> Self {
        Self {
            length: Some(0),
            ..Self::default()
        }
    }

    fn and(self, next: Self) -> Self {
        Self {
            parts: self.parts.saturating_add(next.parts),
            forks: self.forks.saturating_add(next.forks),
            length: (self.length.zip(next.length)).map(|(one, other)| one.saturating_add(other)),
            has_choice_at_top: false,
        }
    }

    fn or(self, other: Self) -> Self {
        let both = self.and(other);
        Self {
            forks: both.forks.saturating_add(1),
            length: self
                .length
                .zip(other.length)
                .map(|(one, other)| one.max(other)),
            ..both
        }
    }

    /// Repeated: so many copies, and whether there may be fewer, or more.
    fn times(self, least: u64, most: Option<u64>) -> Self {
        let copies = most.unwrap_or(least).max(1);
        let choices = match most {
            Some(most) => most.saturating_sub(least),
            None => 1,
        };
        Self {
            parts: self.parts.saturating_mul(copies),
            forks: self.forks.saturating_mul(copies).saturating_add(choices),
            length: most.and_then(|most| Some(self.length?.saturating_mul(most))),
            has_choice_at_top: false,
        }
    }
}

/// Reads a pattern that is known to be one.
struct Reader<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl<'a> Reader<'a> {
    fn new(pattern: &'a str) -> Self {
        Self {
            rest: pattern.chars().peekable(),
        }
    }

    /// Up to the end, or the parenthesis that closes a group.
    fn alternatives(&mut self) -> Size {
        let mut size = self.sequence();
        while self.rest.next_if_eq(&'|').is_some() {
            let next = self.sequence();
            size = size.or(next);
            size.has_choice_at_top = true;
        }
        size
    }

    fn sequence(&mut self) -> Size {
        let mut size = Size::nothing();
        while let Some(next) = self.rest.next_if(|it| !matches!(it, '|' | ')')) {
            let part = match next {
                '(' => self.group(),
                '[' => self.class(),
                '\\' => self.escape(),
                '^' | '$' => Size::nothing(),
                _ => Size::one(),
            };
            let part = self.repeated(part);
            size = size.and(part);
        }
        size
    }

    fn group(&mut self) -> Size {
        // A name or flags, which would only be counted as characters.
        let size = self.alternatives();
        self.rest.next();
        size
    }

    fn class(&mut self) -> Size {
        self.rest.next_if_eq(&'^');
        self.rest.next_if_eq(&']');
        while let Some(next) = self.rest.next() {
            match next {
                ']' => break,
                '\\' => drop(self.rest.next()),
                '[' => drop(self.class()),
                _ => {}
            }
        }
        Size::one()
    }

    fn escape(&mut self) -> Size {
        match self.rest.next() {
            // The digits after it would only be counted as characters.
            Some('b' | 'B' | 'A' | 'z') | None => Size::nothing(),
            Some(_) => Size::one(),
        }
    }

    fn repeated(&mut self, mut part: Size) -> Size {
        loop {
            part = match self.rest.peek() {
                Some('?') => part.times(0, Some(1)),
                Some('*') => part.times(0, None),
                Some('+') => part.times(1, None),
                Some('{') => {
                    let bounds: String = self.rest.by_ref().take_while(|it| *it != '}').collect();
                    let (least, most) = bounds_of(bounds.trim_start_matches('{'));
                    part = part.times(least, most);
                    continue;
                }
                _ => return part,
            };
            self.rest.next();
        }
    }
}

/// The bounds in `3`, `3,` and `3,5`.
fn bounds_of(text: &str) -> (u64, Option<u64>) {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match text.split_once(',') {
        Some((least, most)) => (number(least).unwrap_or(0), number(most)),
        None => (number(text).unwrap_or(1), number(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_costs() {
        for (pattern, ways, reach) in [
            ("^[a-z]+$", 2, None),
            ("^[a-z]{1,64}$", 64, Some(64)),
            ("^\\d{4}-\\d{2}$", 1, Some(7)),
            ("^data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+$", 3, None),
            ("^(a{1,9}){1,9}$", 81, Some(81)),
            ("^a|b", 3, None),
            ("https?://", 9, None),
            ("(a{10}){10}", 101, None),
            ("^[]\\]^]x$", 1, Some(2)),
        ] {
            let read = Pattern::new(pattern).expect("it is a pattern");
            assert_eq!((read.ways, read.reach), (ways, reach), "{pattern}");
        }
    }

    #[test]
    fn a_pattern_that_ends_does_not_cost_more_for_a_long_text() {
        let ending = Pattern::new("^[a-z]{1,64}$").expect("it is a pattern");
        assert_eq!(
            ending.cost(&"a".repeat(1000)),
            ending.cost(&"a".repeat(9000))
        );
        let endless = Pattern::new("^[a-z]*$").expect("it is a pattern");
        assert_eq!(endless.cost(&"a".repeat(999)), 2000);
    }
}
