//! A scanner for the members of one object.

use std::borrow::Cow;

use super::{
    fast::{ObjectWalker, common_head},
    scan_error::{ScanErrorKind, ScanFault},
    skip,
};

/// The members of an object, key by key, without decoding values.
pub(super) struct MemberScanner<'a> {
    bytes: &'a [u8],
    at: usize,
    started: bool,
}

impl<'a> MemberScanner<'a> {
    /// Creates a scanner; `at` is the index of the object's opening brace.
    pub(super) fn new(bytes: &'a [u8], at: usize) -> Self {
        Self {
            bytes,
            at: at + 1,
            started: false,
        }
    }

    /// Skips the version and the id at the start of a message, if they are
    /// written as nearly all peers write them, and returns the id.
    pub(super) fn common_head(&mut self) -> Option<u64> {
        let (id, length) = common_head::read(&self.bytes[self.at..])?;
        self.started = true;
        self.at += length;
        Some(id)
    }

    /// Returns the next key and moves to its value; `None` after the closing
    /// brace.
    pub(super) fn next_key(&mut self) -> Result<Option<Quoted<'a>>, ScanFault> {
        let mut token = self.peek_token()?;
        if token == b'}' {
            self.at += 1;
            return Ok(None);
        }
        if self.started {
            self.expect(token, b',')?;
            token = self.peek_token()?;
        }
        self.started = true;
        self.expect(token, b'"')?;
        let end = skip::string(self.bytes, self.at)?;
        let key = Quoted(&self.bytes[self.at..end]);
        self.at = end + 1;
        let token = self.peek_token()?;
        self.expect(token, b':')?;
        self.peek_token()?;
        Ok(Some(key))
    }

    /// Skips the value, with `depth` objects and arrays around it.
    pub(super) fn value<const BOUNDED: bool>(&mut self, depth: u32) -> Result<&'a [u8], ScanFault> {
        let end = skip::value::<BOUNDED>(self.bytes, self.at, depth)?;
        Ok(self.take_to(end))
    }

    /// Skips the value, whose end is known.
    pub(super) fn take_to(&mut self, end: usize) -> &'a [u8] {
        let value = &self.bytes[self.at..end];
        self.at = end;
        value
    }

    /// Returns a walker over the object at this position, with `depth` objects
    /// and arrays around it.
    pub(super) fn walker(&self, depth: u32) -> ObjectWalker<'a> {
        ObjectWalker::new(self.bytes, self.at, depth)
    }

    /// Returns the members of the object at this position. Pass them to
    /// [`MemberScanner::leave`] when they are read.
    pub(super) fn enter(&self) -> MemberScanner<'a> {
        MemberScanner::new(self.bytes, self.at)
    }

    /// Continues after `inner`, and returns its bytes.
    pub(super) fn leave(&mut self, inner: &MemberScanner<'a>) -> &'a [u8] {
        self.take_to(inner.at)
    }

    /// Returns the position: before a value, or after the object.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Returns the first byte of the value, after [`MemberScanner::next_key`].
    pub(super) fn peek(&self) -> u8 {
        self.bytes[self.at]
    }

    #[inline(always)]
    fn peek_token(&mut self) -> Result<u8, ScanFault> {
        match self.bytes.get(self.at) {
            // Most messages are written without whitespace.
            Some(&token) if token > b' ' => Ok(token),
            _ => self.peek_token_after_whitespace(),
        }
    }

    #[cold]
    fn peek_token_after_whitespace(&mut self) -> Result<u8, ScanFault> {
        self.at = skip::whitespace(self.bytes, self.at);
        let token = self.bytes.get(self.at).copied();
        token.ok_or(ScanFault::new(ScanErrorKind::UnexpectedEnd, self.at))
    }

    #[inline(always)]
    fn expect(&mut self, token: u8, expected: u8) -> Result<(), ScanFault> {
        if token != expected {
            return Err(ScanFault::new(ScanErrorKind::NotJson, self.at));
        }
        self.at += 1;
        Ok(())
    }
}

/// The raw content of a string between its quotes, with escapes.
#[derive(Clone, Copy)]
pub(super) struct Quoted<'a>(&'a [u8]);

impl<'a> Quoted<'a> {
    /// Strips the quotes off a value; `None` if it is not a string.
    pub(super) fn from_value(value: &'a [u8]) -> Option<Self> {
        value.strip_prefix(b"\"")?.strip_suffix(b"\"").map(Self)
    }

    /// Returns whether the string equals `string`, which contains nothing that
    /// must be escaped.
    pub(super) fn equals(&self, string: &str) -> bool {
        // An escape is longer than the character it encodes.
        self.0 == string.as_bytes()
            || (self.0.len() > string.len()
                && self.has_escapes()
                && equals_unescaped(self.0, string.as_bytes()))
    }

    /// Decodes the string, borrowed if it has no escapes; `None` if it is
    /// invalid.
    pub(super) fn decode(&self) -> Option<Cow<'a, str>> {
        let needs_unescape = |&byte: &u8| byte == b'\\' || byte < b' ';
        if self.0.iter().any(needs_unescape) {
            return self.decode_escaped();
        }
        std::str::from_utf8(self.0).ok().map(Cow::Borrowed)
    }

    #[cold]
    fn decode_escaped(&self) -> Option<Cow<'a, str>> {
        let quoted = [b"\"", self.0, b"\""].concat();
        serde_json::from_slice(&quoted).ok().map(Cow::Owned)
    }

    fn has_escapes(&self) -> bool {
        self.0.contains(&b'\\')
    }
}

/// The known members of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EnvelopeKey {
    Jsonrpc,
    Id,
    Method,
    Params,
    Result,
    Error,
}

impl EnvelopeKey {
    const ALL: [Self; 6] = [
        Self::Jsonrpc,
        Self::Id,
        Self::Method,
        Self::Params,
        Self::Result,
        Self::Error,
    ];

    /// Returns the key that the string spells.
    pub(super) fn from_quoted(key: Quoted<'_>) -> Option<Self> {
        match key.0 {
            b"jsonrpc" => Some(Self::Jsonrpc),
            b"id" => Some(Self::Id),
            b"method" => Some(Self::Method),
            b"params" => Some(Self::Params),
            b"result" => Some(Self::Result),
            b"error" => Some(Self::Error),
            _ if key.has_escapes() => Self::ALL.into_iter().find(|known| key.equals(known.name())),
            _ => None,
        }
    }

    /// Returns the bit of this key.
    pub(super) fn bit(self) -> u8 {
        1 << self as u8
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Jsonrpc => "jsonrpc",
            Self::Id => "id",
            Self::Method => "method",
            Self::Params => "params",
            Self::Result => "result",
            Self::Error => "error",
        }
    }
}

/// Compares without allocating. Of the escapes, only `\u` can encode a letter
/// of a name.
fn equals_unescaped(mut body: &[u8], name: &[u8]) -> bool {
    for &byte in name {
        body = match body {
            [b'\\', b'u', a, b, c, d, tail @ ..] if code_unit([*a, *b, *c, *d]) == byte => tail,
            [first, tail @ ..] if *first == byte => tail,
            _ => return false,
        };
    }
    body.is_empty()
}

/// Returns the ASCII letter after `\u`, or a byte that no name contains.
fn code_unit(digits: [u8; 4]) -> u8 {
    let digit = |byte: u8| (byte as char).to_digit(16);
    match digits.map(digit) {
        [Some(0), Some(0), Some(high), Some(low)] => u8::try_from(high * 16 + low).unwrap_or(0),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quoted(value: &str) -> Quoted<'_> {
        Quoted::from_value(value.as_bytes()).unwrap()
    }

    #[test]
    fn escaped_names_are_recognised() {
        for id in [
            r#""id""#,
            r#""\u0069d""#,
            r#""i\u0064""#,
            r#""\u0069\u0064""#,
        ] {
            assert!(quoted(id).equals("id"), "{id}");
        }
        for other in [
            r#""""#,
            r#""i""#,
            r#""id ""#,
            r#""\u0069""#,
            r#""\u0169d""#,
            r#""\u69d""#,
        ] {
            assert!(!quoted(other).equals("id"), "{other}");
        }
        assert!(
            quoted(r#""\u006A\u006a""#).equals("jj"),
            "both cases of digits"
        );
    }

    #[test]
    fn texts_borrow_unless_escaped() {
        assert!(matches!(
            quoted(r#""päng""#).decode(),
            Some(Cow::Borrowed("päng"))
        ));
        assert!(matches!(quoted(r#""a\/b""#).decode(), Some(Cow::Owned(text)) if text == "a/b"));
        assert_eq!(quoted(r#""\ud83d\ude00""#).decode().unwrap(), "😀");
        assert!(quoted(r#""\ud83d""#).decode().is_none(), "half a pair");
        assert!(
            quoted("\"a\tb\"").decode().is_none(),
            "a raw control character"
        );
        assert_eq!(quoted("\"a\u{7f}b\"").decode().unwrap(), "a\u{7f}b");
        assert!(
            Quoted::from_value(b"\"a\xffb\"")
                .unwrap()
                .decode()
                .is_none()
        );
    }
}
