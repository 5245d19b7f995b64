//! Regular expressions of schemas, and the cost of matching them.

use regex_lite::Regex;

use super::{budget::CheckBudget, simple_pattern::SimplePattern};

/// A pattern. Matching is linear in the length of the string, whatever the
/// string; the factor depends on how many states are active at once.
#[derive(Clone, Debug)]
pub(crate) struct Pattern {
    regex: Regex,
    /// The same pattern, if it is simple.
    simple: Option<SimplePattern>,
    /// The number of states in all.
    states: u64,
    /// The maximum number of states that are active at once.
    max_states: u64,
    /// The maximum number of characters that are examined, if it is known.
    max_length: Option<u64>,
}

impl Pattern {
    /// # Errors
    ///
    /// Returns an error if it is not a valid regular expression.
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        let regex = Regex::new(pattern)
            .map_err(|error| format!("{pattern:?} is not a valid regular expression: {error}"))?;
        let size = PatternParser::new(pattern).alternatives();
        // Without an anchor a match may begin at each character, so every part
        // may be active. `|` at the top level would leave only one alternative
        // anchored.
        let is_anchored = pattern.starts_with('^') && !size.has_top_level_alternation;
        Ok(Self {
            regex,
            simple: SimplePattern::new(pattern),
            states: size.states.saturating_add(1),
            max_states: if is_anchored {
                1 + size.forks
            } else {
                1 + size.states
            },
            max_length: size.length.filter(|_| is_anchored),
        })
    }

    /// Returns the number of states, which is what it takes in memory.
    pub(super) fn states(&self) -> u64 {
        self.states
    }

    pub(super) fn as_str(&self) -> &str {
        self.regex.as_str()
    }

    pub(super) fn is_match(&self, text: &str) -> bool {
        match &self.simple {
            Some(simple) => simple.is_match(text),
            None => self.regex.is_match(text),
        }
    }

    /// Returns whether a string matches, and there are enough steps to find out.
    #[inline(never)]
    pub(super) fn is_match_within(&self, text: &str, budget: &CheckBudget) -> bool {
        budget.spend(self.cost(text)) && self.is_match(text)
    }

    /// Returns the maximum number of steps to match a string.
    pub(super) fn cost(&self, text: &str) -> u64 {
        let length = (text.len() as u64).saturating_add(1);
        let length = self.max_length.map_or(length, |max_chars| {
            // A character has up to four bytes.
            length.min(max_chars.saturating_add(1).saturating_mul(4))
        });
        length.saturating_mul(self.max_states)
    }
}

/// The size of a part of a pattern.
#[derive(Clone, Copy, Default)]
struct PatternSize {
    /// Characters and classes, counted as often as they are repeated.
    states: u64,
    /// Positions at which a match may continue in more than one way.
    forks: u64,
    /// The length of the longest match; `None` if there is no limit.
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

    /// Returns the size if repeated.
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

/// Parses a pattern that is known to be valid.
struct PatternParser<'a> {
    rest: std::iter::Peekable<std::str::Chars<'a>>,
}

impl<'a> PatternParser<'a> {
    fn new(pattern: &'a str) -> Self {
        Self {
            rest: pattern.chars().peekable(),
        }
    }

    /// Parses up to the end, or to the parenthesis that closes a group.
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
        // A name or flags are only counted as characters.
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
            // The digits after it are only counted as characters.
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

/// Parses the bounds in `3`, `3,` and `3,5`.
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
