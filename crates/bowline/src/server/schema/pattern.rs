//! Patterns of texts, and what it costs to hold a text against one.

use regex_lite::Regex;

/// A pattern. Its time is linear in the text, whatever the text; the factor
/// depends on how many ways of matching are followed at once.
#[derive(Clone, Debug)]
pub(super) struct Pattern {
    regex: Regex,
    /// How many ways of matching there may be at once, at most.
    max_states: u64,
    /// How many characters are looked at, at most, if that is known.
    max_length: Option<u64>,
}

impl Pattern {
    /// # Errors
    ///
    /// Where it is no pattern.
    pub(super) fn new(pattern: &str) -> Result<Self, String> {
        let regex =
            Regex::new(pattern).map_err(|error| format!("{pattern:?} is no pattern: {error}"))?;
        let size = PatternParser::new(pattern).alternatives();
        // Without an anchor a match may begin at each character, so that each
        // part may be under way. `|` at the top would leave only one anchored.
        let is_anchored = pattern.starts_with('^') && !size.has_top_level_alternation;
        Ok(Self {
            regex,
            max_states: if is_anchored {
                1 + size.forks
            } else {
                1 + size.states
            },
            max_length: size.length.filter(|_| is_anchored),
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
        let length = self.max_length.map_or(length, |max_chars| {
            // A character has up to four bytes.
            length.min(max_chars.saturating_add(1).saturating_mul(4))
        });
        length.saturating_mul(self.max_states)
    }
}

/// How large a part of a pattern is.
#[derive(Clone, Copy, Default)]
struct PatternSize {
    /// Characters and classes, with those that are repeated counted as often.
    states: u64,
    /// Places at which a match may go on in more than one way.
    forks: u64,
    /// The longest text that it matches; `None` where there is no such limit.
    length: Option<u64>,
    has_top_level_alternation: bool,
}

impl PatternSize {
    fn one() -> Self {
        Self {
            states: 1,
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
            states: self.states.saturating_add(next.states),
            forks: self.forks.saturating_add(next.forks),
            length: (self.length.zip(next.length)).map(|(one, other)| one.saturating_add(other)),
            has_top_level_alternation: false,
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
    fn repeat(self, min: u64, max: Option<u64>) -> Self {
        let copies = max.unwrap_or(min).max(1);
        let choices = match max {
            Some(max) => max.saturating_sub(min),
            None => 1,
        };
        Self {
            states: self.states.saturating_mul(copies),
            forks: self.forks.saturating_mul(copies).saturating_add(choices),
            length: max.and_then(|max| Some(self.length?.saturating_mul(max))),
            has_top_level_alternation: false,
        }
    }
}

/// Reads a pattern that is known to be one.
struct PatternParser<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl<'a> PatternParser<'a> {
    fn new(pattern: &'a str) -> Self {
        Self {
            rest: pattern.chars().peekable(),
        }
    }

    /// Up to the end, or the parenthesis that closes a group.
    fn alternatives(&mut self) -> PatternSize {
        let mut size = self.sequence();
        while self.rest.next_if_eq(&'|').is_some() {
            let next = self.sequence();
            size = size.or(next);
            size.has_top_level_alternation = true;
        }
        size
    }

    fn sequence(&mut self) -> PatternSize {
        let mut size = PatternSize::nothing();
        while let Some(next) = self.rest.next_if(|it| !matches!(it, '|' | ')')) {
            let part = match next {
                '(' => self.group(),
                '[' => self.class(),
                '\\' => self.escape(),
                '^' | '$' => PatternSize::nothing(),
                _ => PatternSize::one(),
            };
            let part = self.repeated(part);
            size = size.and(part);
        }
        size
    }

    fn group(&mut self) -> PatternSize {
        // A name or flags, which would only be counted as characters.
        let size = self.alternatives();
        self.rest.next();
        size
    }

    fn class(&mut self) -> PatternSize {
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
        PatternSize::one()
    }

    fn escape(&mut self) -> PatternSize {
        match self.rest.next() {
            // The digits after it would only be counted as characters.
            Some('b' | 'B' | 'A' | 'z') | None => PatternSize::nothing(),
            Some(_) => PatternSize::one(),
        }
    }

    fn repeated(&mut self, mut part: PatternSize) -> PatternSize {
        loop {
            part = match self.rest.peek() {
                Some('?') => part.repeat(0, Some(1)),
                Some('*') => part.repeat(0, None),
                Some('+') => part.repeat(1, None),
                Some('{') => {
                    let bounds: String = self.rest.by_ref().take_while(|it| *it != '}').collect();
                    let (min, max) = parse_bounds(bounds.trim_start_matches('{'));
                    part = part.repeat(min, max);
                    continue;
                }
                _ => return part,
            };
            self.rest.next();
        }
    }
}

/// The bounds in `3`, `3,` and `3,5`.
fn parse_bounds(text: &str) -> (u64, Option<u64>) {
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match text.split_once(',') {
        Some((min, max)) => (number(min).unwrap_or(0), number(max)),
        None => (number(text).unwrap_or(1), number(text)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_pattern_costs() {
        for (pattern, ways, max_chars) in [
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
            assert_eq!(
                (read.max_states, read.max_length),
                (ways, max_chars),
                "{pattern}"
            );
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
