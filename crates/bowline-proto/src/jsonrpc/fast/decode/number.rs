//! Decoding of numbers in the usual form; others are left to `serde_json`.

use serde::de::Visitor;

use super::{NotFast, Reader, Result};

/// This many digits always fit into 64 bits.
const MAX_DIGITS: usize = 18;

impl<'de> Reader<'de> {
    /// Decodes a number that is written as an integer.
    pub(super) fn integer<V: Visitor<'de>>(&mut self, visitor: V) -> Result<V::Value> {
        Integer::parse(self.number()?)
            .ok_or(NotFast)?
            .visit(visitor)
    }

    /// Decodes a number for a type with a fraction. If it has one,
    /// `parse_float` parses it.
    pub(super) fn float<V: Visitor<'de>>(
        &mut self,
        visitor: V,
        parse_float: impl FnOnce(V, &str) -> Result<V::Value>,
    ) -> Result<V::Value> {
        let source = self.number()?;
        match Integer::parse(source) {
            Some(integer) => integer.visit(visitor),
            None if source.contains(['.', 'e', 'E']) => parse_float(visitor, source),
            None => Err(NotFast),
        }
    }

    /// Skips a number, valid or not.
    pub(super) fn number(&mut self) -> Result<&'de str> {
        self.token()?;
        let rest = &self.json.as_bytes()[self.at..];
        let is_number_byte =
            |byte: &&u8| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E');
        let start = self.at;
        self.at += rest.iter().take_while(is_number_byte).count();
        self.json.get(start..self.at).ok_or(NotFast)
    }
}

enum Integer {
    Positive(u64),
    Negative(i64),
}

impl Integer {
    /// Parses an integer, unless it is too long or `-0`, which is a float.
    fn parse(source: &str) -> Option<Self> {
        let source = source.as_bytes();
        let digits = source.strip_prefix(b"-").unwrap_or(source);
        let is_simple = match digits {
            [b'0'] => digits.len() == source.len(),
            [b'1'..=b'9', ..] => digits.len() <= MAX_DIGITS,
            _ => false,
        };
        let mut number = 0;
        for digit in is_simple.then_some(digits)? {
            number = number * 10 + i64::from(digit.is_ascii_digit().then(|| digit - b'0')?);
        }
        Some(match digits.len() == source.len() {
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
