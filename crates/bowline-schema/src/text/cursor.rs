//! Checking a simple schema at a position in JSON text.

use std::collections::HashSet;

use memchr::memchr2;

use super::{
    ANYTHING, ARRAY, BOOLEAN, FEW, FRACTION, INTEGER, NULL, OBJECT, STRING, Tagged, TextCheck,
    same_text,
};

/// The contents of a string, still escaped.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) raw: &'a str,
    pub(super) is_escaped: bool,
}

impl<'a> Text<'a> {
    /// Reads up to the quote that ends a string.
    fn up_to_quote(rest: &'a str) -> Option<Self> {
        let bytes = rest.as_bytes();
        let mut at = 0;
        let mut is_escaped = false;
        loop {
            let ahead = bytes.get(at..)?;
            // Names and many values are short: the search takes longer to begin.
            at += match ahead.first_chunk().and_then(|first| special_in(*first)) {
                Some(at) => at,
                None => memchr2(b'"', b'\\', ahead)?,
            };
            if bytes[at] == b'"' {
                let raw = rest.get(..at)?;
                return Some(Self { raw, is_escaped });
            }
            // The character after a backslash is not a quote that ends the string.
            is_escaped = true;
            at += 2;
        }
    }
}

/// Returns the index of the first quote or backslash.
fn special_in(bytes: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::from_le_bytes([1; 8]);
    const HIGHS: u64 = ONES << 7;
    let word = u64::from_le_bytes(bytes);
    // The lowest of these bits is in the first byte that is the same: where that is 0
    // after the exclusive or, the subtraction borrows.
    let same = |byte: u8| {
        let differences = word ^ (ONES * u64::from(byte));
        differences.wrapping_sub(ONES) & !differences & HIGHS
    };
    let found = same(b'"') | same(b'\\');
    (found != 0).then_some(found.trailing_zeros() as usize / 8)
}

/// A position in a JSON string. Each method skips something at the front, or
/// returns `None` if that is not certainly what it should be.
pub(super) struct JsonCursor<'a> {
    json: &'a str,
    position: usize,
}

impl<'a> JsonCursor<'a> {
    pub(super) fn new(json: &'a str) -> Self {
        Self { json, position: 0 }
    }

    pub(super) fn value(&mut self, schema: &TextCheck) -> Option<()> {
        let allowed = |kind: u8| (schema.types & kind != 0).then_some(());
        match self.peek()? {
            b'"' => {
                allowed(STRING)?;
                let text = self.string()?;
                schema.length.contains_length_of(text).then_some(())?;
                if let Some(pattern) = &schema.pattern {
                    (!text.is_escaped && pattern.is_match(text.raw)).then_some(())?;
                }
                let Some(strings) = &schema.strings else {
                    return Some(());
                };
                let found = match strings.len() > FEW {
                    true => strings.binary_search_by(|it| (**it).cmp(text.raw)).is_ok(),
                    false => strings.iter().any(|it| same_text(it, text.raw)),
                };
                found.then_some(())
            }
            b'{' => allowed(OBJECT).and_then(|()| self.object(schema)),
            b'[' => allowed(ARRAY).and_then(|()| self.array(schema)),
            b't' => allowed(BOOLEAN).and_then(|()| self.literal(b"true")),
            b'f' => allowed(BOOLEAN).and_then(|()| self.literal(b"false")),
            b'n' => allowed(NULL).and_then(|()| self.literal(b"null")),
            b'-' | b'0'..=b'9' => self.number(schema),
            _ => None,
        }
    }

    /// Skips whitespace and returns the next byte.
    #[inline]
    fn peek(&mut self) -> Option<u8> {
        loop {
            match *self.json.as_bytes().get(self.position)? {
                byte if byte > b' ' => return Some(byte),
                b' ' | b'\t' | b'\n' | b'\r' => self.position += 1,
                _ => return None,
            }
        }
    }

    /// Skips whitespace and the next byte, if it is this one.
    fn byte(&mut self, byte: u8) -> bool {
        let matched = self.peek() == Some(byte);
        self.position += usize::from(matched);
        matched
    }

    /// Skips whitespace and the comma before something else, or the byte that ends what
    /// surrounds it. Returns whether it ends.
    fn ends(&mut self, end: u8) -> Option<bool> {
        let next = self.peek()?;
        self.position += 1;
        (next == b',' || next == end).then_some(next == end)
    }

    fn rest(&self) -> &'a [u8] {
        &self.json.as_bytes()[self.position..]
    }

    fn literal(&mut self, literal_bytes: &[u8]) -> Option<()> {
        self.rest().starts_with(literal_bytes).then_some(())?;
        self.position += literal_bytes.len();
        Some(())
    }

    fn string(&mut self) -> Option<Text<'a>> {
        let start = self.position + 1;
        let rest = self.json.get(start..)?;
        let text = Text::up_to_quote(rest)?;
        self.position = start + text.raw.len() + 1;
        Some(text)
    }

    fn number(&mut self, schema: &TextCheck) -> Option<()> {
        let rest = self.rest();
        let length = rest
            .iter()
            .position(|byte| !matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E'));
        let end = self.position + length.unwrap_or(rest.len());
        let number = self.json.get(self.position..end)?;
        self.position = end;
        let digits = number.strip_prefix('-').unwrap_or(number);
        let whole = digits.bytes().all(|byte| byte.is_ascii_digit());
        // A number with a zero fraction is an integer too; that is left to the
        // validator.
        let kind = if whole { INTEGER } else { FRACTION };
        (schema.types & kind != 0).then_some(())?;
        if schema.has_bounds() {
            let (low, high) = match whole {
                true => number.parse().map(|number| (number, number)).ok()?,
                false => neighbours(number)?,
            };
            return (schema.is_in_bounds(low) && schema.is_in_bounds(high)).then_some(());
        }
        Some(())
    }

    fn array(&mut self, schema: &TextCheck) -> Option<()> {
        let items = schema.items.as_deref().unwrap_or(&ANYTHING);
        let is_allowed = |count: usize| schema.item_count.contains(count).then_some(());
        self.position += 1;
        if self.byte(b']') {
            return is_allowed(0);
        }
        for count in 1.. {
            self.value(items)?;
            if self.ends(b']')? {
                return is_allowed(count);
            }
        }
        None
    }

    fn object(&mut self, schema: &TextCheck) -> Option<()> {
        if let Some(tagged) = &schema.tagged {
            let alternative = self.alternative(tagged)?;
            return self.object(alternative);
        }
        let mut seen_members = 0;
        let mut others = UnknownNames::default();
        let mut next = 0;
        self.members(|this, name| {
            match schema.find(name.raw, next) {
                // Duplicate members are left to the validator.
                Some(at) if seen_members & (1 << at) != 0 => None,
                Some(at) => {
                    next = at + 1;
                    seen_members |= 1 << at;
                    this.value(&schema.members[at].schema)
                }
                // A name with an escape may be a known one.
                None if schema.denies_additional || name.is_escaped => None,
                None if !others.insert(name.raw) => None,
                None => this.value(&ANYTHING),
            }
        })?;
        (schema.required & !seen_members == 0).then_some(())
    }

    /// Skips an object, of which the function skips the values.
    fn members(&mut self, mut value: impl FnMut(&mut Self, Text<'a>) -> Option<()>) -> Option<()> {
        self.position += 1;
        if self.byte(b'}') {
            return Some(());
        }
        loop {
            (self.peek()? == b'"').then_some(())?;
            let name = self.string()?;
            self.byte(b':').then_some(())?;
            value(self, name)?;
            if self.ends(b'}')? {
                return Some(());
            }
        }
    }

    /// Looks for the member that tells what an object is, without skipping the object.
    fn alternative<'t>(&self, tagged: &'t Tagged) -> Option<&'t TextCheck> {
        let mut ahead = JsonCursor { ..*self };
        let mut tag = None;
        ahead.members(|this, name| {
            if *name.raw != *tagged.name {
                return this.value(&ANYTHING);
            }
            // There is nothing more to look for. A second one is rejected later.
            tag = (this.peek()? == b'"').then(|| this.string()).flatten();
            None
        });
        let tag = tag?;
        let mut alternatives = tagged.alternatives.iter();
        let alternative = alternatives.find(|it| same_text(&it.name, tag.raw))?;
        Some(&alternative.schema)
    }
}

/// Returns the nearest whole numbers below and above a number with a fraction. `None` if
/// it has an exponent or is too large.
fn neighbours(number: &str) -> Option<(i64, i64)> {
    let (whole, fraction) = number.split_once('.')?;
    let whole: i64 = whole.parse().ok()?;
    let is_plain = fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_plain.then_some(match number.starts_with('-') {
        false => (whole, whole.saturating_add(1)),
        true => (whole.saturating_sub(1), whole),
    })
}

/// The names of members that are not in the schema.
#[derive(Default)]
struct UnknownNames<'a> {
    few: Vec<&'a str>,
    many: Option<HashSet<&'a str>>,
}

impl<'a> UnknownNames<'a> {
    /// Adds a name and returns whether it is new.
    fn insert(&mut self, name: &'a str) -> bool {
        if self.few.contains(&name) {
            return false;
        }
        if self.few.len() < FEW {
            self.few.push(name);
            return true;
        }
        self.many.get_or_insert_default().insert(name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_string_ends_at_its_quote() {
        for length in 0..20 {
            for filler in ["x", "!", "#", "ü", "[", "]", "\u{7f}", "\\\\", "\\\""] {
                let raw = filler.repeat(length);
                for after in ["", "\"", "}, and more that is not the string: \"\\"] {
                    let json = format!("{raw}\"{after}");
                    let text = Text::up_to_quote(&json).expect("it ends");
                    assert_eq!(text.raw, raw, "{json}");
                    assert_eq!(text.is_escaped, raw.contains('\\'), "{json}");
                }
                assert!(Text::up_to_quote(&raw).is_none(), "{raw}");
            }
        }
    }
}
