//! Patterns that are matched without trying alternatives.
//!
//! Most patterns of schemas are a sequence of characters and classes, some of them
//! repeated, from the beginning of a string on. If what follows a repetition cannot begin
//! with what is repeated, one pass over the string decides.

use std::{iter::Peekable, str::Chars};

/// A pattern that begins with `^` and is a sequence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SimplePattern {
    parts: Vec<Part>,
    /// Whether nothing may follow.
    is_whole: bool,
}

/// A class, repeated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    class: Class,
    min: u32,
    max: u32,
}

/// A set of characters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Class {
    /// One bit for each character of ASCII.
    ascii: u128,
    /// Whether all other characters are in it.
    others: bool,
}

impl SimplePattern {
    /// Reads a pattern that is known to be valid, or returns `None` if it is not simple.
    pub(crate) fn new(pattern: &str) -> Option<Self> {
        let mut rest = pattern.strip_prefix('^')?.chars().peekable();
        let mut parts = Vec::new();
        let mut is_whole = false;
        while let Some(next) = rest.next() {
            if next == '$' {
                is_whole = rest.next().is_none();
                if !is_whole {
                    return None;
                }
                break;
            }
            let class = Class::read(next, &mut rest)?;
            let (min, max) = read_repetition(&mut rest)?;
            parts.push(Part { class, min, max });
        }
        let simple = Self { parts, is_whole };
        simple.is_deterministic().then_some(simple)
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        let mut rest = text.chars();
        for part in &self.parts {
            let mut count = 0;
            while count < part.max {
                let mut next = rest.clone();
                match next.next() {
                    Some(character) if part.class.contains(character) => rest = next,
                    _ => break,
                }
                count += 1;
            }
            if count < part.min {
                return false;
            }
        }
        !self.is_whole || rest.as_str().is_empty()
    }

    /// Returns whether it is always right to repeat as often as possible: what may follow
    /// begins with something else.
    fn is_deterministic(&self) -> bool {
        let is_clear = |(at, part): (usize, &Part)| {
            let following = &self.parts[at + 1..];
            let needed = following.iter().position(|it| it.min > 0);
            let following = &following[..needed.map_or(following.len(), |at| at + 1)];
            part.min == part.max || following.iter().all(|it| part.class.is_disjoint(it.class))
        };
        self.parts.iter().enumerate().all(is_clear)
    }
}

/// Reads how often something is repeated. Lazy repetitions are not simple.
fn read_repetition(rest: &mut Peekable<Chars<'_>>) -> Option<(u32, u32)> {
    let range = match rest.peek() {
        Some('?') => (0, 1),
        Some('*') => (0, u32::MAX),
        Some('+') => (1, u32::MAX),
        Some('{') => {
            let bounds: String = rest.by_ref().skip(1).take_while(|it| *it != '}').collect();
            let range = match bounds.split_once(',') {
                Some((min, "")) => (min.parse().ok()?, u32::MAX),
                Some((min, max)) => (min.parse().ok()?, max.parse().ok()?),
                None => (bounds.parse().ok()?, bounds.parse().ok()?),
            };
            return is_end_of_repetition(rest).then_some(range);
        }
        _ => return Some((1, 1)),
    };
    rest.next();
    is_end_of_repetition(rest).then_some(range)
}

fn is_end_of_repetition(rest: &mut Peekable<Chars<'_>>) -> bool {
    !matches!(rest.peek(), Some('?' | '*' | '+' | '{'))
}

/// Returns whether a hyphen follows that is not the last of a class.
fn begins_range(rest: &Peekable<Chars<'_>>) -> bool {
    let mut rest = rest.clone();
    rest.next() == Some('-') && rest.next() != Some(']')
}

impl Class {
    /// Reads a character or a class.
    fn read(next: char, rest: &mut Peekable<Chars<'_>>) -> Option<Self> {
        match next {
            '[' => Self::read_brackets(rest),
            '\\' => Self::read_escape(rest),
            '.' => Some(Self::one('\n').inverted()),
            '^' | '$' | '|' | '(' | ')' | '?' | '*' | '+' | '{' | '}' | ']' => None,
            other => other.is_ascii().then(|| Self::one(other)),
        }
    }

    fn read_escape(rest: &mut Peekable<Chars<'_>>) -> Option<Self> {
        let digits = Self::range('0', '9');
        Some(match rest.next()? {
            'd' => digits,
            'D' => digits.inverted(),
            'w' => Self::word(),
            'W' => Self::word().inverted(),
            '<' | '>' => return None,
            other => Self::one(Some(other).filter(char::is_ascii_punctuation)?),
        })
    }

    /// Reads a class after its bracket.
    fn read_brackets(rest: &mut Peekable<Chars<'_>>) -> Option<Self> {
        let is_inverted = rest.next_if_eq(&'^').is_some();
        let mut all = Self::default();
        loop {
            all = all.or(match rest.next()? {
                ']' if all.ascii != 0 => break,
                '-' if rest.peek() == Some(&']') => Self::one('-'),
                // These have meanings that depend on what is beside them.
                '[' | ']' | '&' | '~' | '-' => return None,
                '\\' => Some(Self::read_escape(rest)?).filter(|_| !begins_range(rest))?,
                first if begins_range(rest) => {
                    rest.next();
                    let is_end = |it: &char| it.is_ascii_alphanumeric();
                    let end = rest.next().filter(is_end)?;
                    Self::range(Some(first).filter(char::is_ascii)?, end)
                }
                only => Self::one(Some(only).filter(char::is_ascii)?),
            });
        }
        Some(if is_inverted { all.inverted() } else { all })
    }

    fn one(character: char) -> Self {
        Self::range(character, character)
    }

    fn range(first: char, last: char) -> Self {
        let bits = (u32::from(first)..=u32::from(last)).map(|at| 1_u128 << at);
        Self {
            ascii: bits.fold(0, |all, bit| all | bit),
            others: false,
        }
    }

    fn word() -> Self {
        let letters = Self::range('a', 'z').or(Self::range('A', 'Z'));
        letters.or(Self::range('0', '9')).or(Self::one('_'))
    }

    fn or(self, other: Self) -> Self {
        Self {
            ascii: self.ascii | other.ascii,
            others: self.others || other.others,
        }
    }

    fn inverted(self) -> Self {
        Self {
            ascii: !self.ascii,
            others: !self.others,
        }
    }

    fn is_disjoint(self, other: Self) -> bool {
        self.ascii & other.ascii == 0 && !(self.others && other.others)
    }

    fn contains(self, character: char) -> bool {
        match u8::try_from(character).ok().filter(u8::is_ascii) {
            Some(byte) => self.ascii >> byte & 1 != 0,
            None => self.others,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_lite::Regex;

    use super::*;

    #[test]
    fn which_patterns_are_simple() {
        for pattern in [
            "^[0-9a-f]{4,32}$",
            "^https://",
            "^[A-Z]{2}-\\d+$",
            "^[a-z0-9_-]+$",
            "^[\\w.]+@[^@]+$",
            "^$",
            "^.{3,}$",
            "^v?[0-9]",
        ] {
            assert!(SimplePattern::new(pattern).is_some(), "{pattern}");
        }
        for pattern in [
            "a",
            "^a|b",
            "^(ab)+$",
            "^a*a$",
            "^a+?b",
            "^a$b",
            "^[a-z]*x$",
            "^a?b?a$",
            "^\\s",
            "^\\bx",
            "^[[:alpha:]]$",
            "^[a&&b]$",
            "^ü$",
        ] {
            assert!(SimplePattern::new(pattern).is_none(), "{pattern}");
        }
    }

    proptest! {
        #[test]
        fn the_same_matches_as_a_regular_expression(
            pattern in r"\^?((a|b|-|\.|\\d|\\\.|\\w|\\W|\[\^?[ab1-]{1,3}\]|\[a-c_\]|\[\^a-b\])(\?|\*|\+|\{[0-2]\}|\{[01],[12]?\}|\+\?)?){0,4}\$?",
            texts in prop::collection::vec("[abc1.\\-_ü\n]{0,5}", 24),
        ) {
            if let (Some(simple), Ok(regex)) = (SimplePattern::new(&pattern), Regex::new(&pattern)) {
                for text in texts {
                    prop_assert_eq!(simple.is_match(&text), regex.is_match(&text), "{} {:?}", pattern, text);
                }
            }
        }
    }
}
