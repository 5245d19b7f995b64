//! Numbers: those that everybody writes are read here, the others elsewhere.

use serde::de::Visitor;

use super::{Reader, Result, Unread};

/// So many digits always fit into 64 bits.
const MOST_DIGITS: usize = 18;

impl<'de> Reader<'de> {
    /// A number that is written as an integer.
    pub(super) fn integer<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        Integer::read(self.number()?).ok_or(Unread)?.visit(visitor)
    }

    /// A number for someone who wants a fraction. If it is one, `round` reads it.
    pub(super) fn fraction<V: Visitor<'de>>(
        &mut self,
        visitor: V,
        round: impl FnOnce(V, &str) -> Result<V::Value>,
    ) -> Result<V::Value> {
        let written = self.number()?;
        match Integer::read(written) {
            Some(integer) => integer.visit(visitor),
            None if written.contains(['.', 'e', 'E']) => round(visitor, written),
            None => Err(Unread),
        }
    }

    /// Gets past a number, valid or not.
    pub(super) fn number(&mut self) -> Result<&'de str> {
        self.token()?;
        let rest = &self.json.as_bytes()[self.at..];
        let letter = |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let start = self.at;
        self.at += rest.iter().take_while(letter).count();
        self.json.get(start..self.at).ok_or(Unread)
    }
}

enum Integer {
    Positive(u64),
    Negative(i64),
}

impl Integer {
    /// Not those that are too long, nor `-0`, which is a fraction in disguise.
    fn read(written: &str) -> Option<Self> {
        let written = written.as_bytes();
        let digits = written.strip_prefix(b"-").unwrap_or(written);
        let common = match digits {
            [b'0'] => digits.len() == written.len(),
            [b'1'..=b'9', ..] => digits.len() <= MOST_DIGITS,
            _ => false,
        };
        let mut number = 0;
        for digit in common.then_some(digits)? {
            number = number * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        Some(match digits.len() == written.len() {
            true => Self::Positive(number.unsigned_abs()),
            false => Self::Negative(-number),
        })
    }

    fn visit<'de, V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Self::Positive(number) => visitor.visit_u64(number),
            Self::Negative(number) => visitor.visit_i64(number),
        }
    }
}
