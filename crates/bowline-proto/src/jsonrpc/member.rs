//! Members of an object, found without a look into the others.

use std::{borrow::Cow, ops::Range};

use super::{
    members::{Members, Quoted},
    skip,
};

/// What an object has under a name.
pub(crate) enum Member<'a> {
    Absent,
    Text(Cow<'a, str>),
    /// Something that is no text.
    Other,
    Repeated,
}

impl<'a> Member<'a> {
    /// What a value is.
    pub(crate) fn of(value: &'a [u8]) -> Self {
        match Quoted::from_value(value).map(|text| text.decode()) {
            Some(Some(text)) => Self::Text(text),
            // Not JSON; whoever decodes the rest says so.
            Some(None) => Self::Absent,
            None => Self::Other,
        }
    }
}

/// Looks for a member of an object, by a name that has nothing that must be
/// escaped. What is no object has none; that the rest of it is valid JSON is
/// known when it is decoded.
pub(crate) fn find_member<'a>(object: &'a [u8], name: &str) -> Member<'a> {
    search(object, name).unwrap_or(Member::Absent)
}

fn search<'a>(object: &'a [u8], name: &str) -> Option<Member<'a>> {
    let start = skip::whitespace(object, 0);
    let opened = object.get(start) == Some(&b'{');
    let mut members = opened.then(|| Members::open(object, start))?;
    let mut found = Member::Absent;
    while let Some(key) = members.next_key().ok()? {
        let value = members.value::<true>(1).ok()?;
        if !key.is(name) {
            continue;
        }
        if !matches!(found, Member::Absent) {
            return Some(Member::Repeated);
        }
        found = match Quoted::from_value(value) {
            Some(text) => Member::Text(text.decode()?),
            None => Member::Other,
        };
    }
    Some(found)
}

/// A walk over an object as almost everybody writes it. It ends with `None` at
/// whatever else there is: then the object has to be decoded, which also finds
/// the words for what is wrong with it.
///
/// Values are known to end where they should. What is inside of strings, objects
/// and arrays comes to light when they are decoded.
pub(crate) struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    started: bool,
}

impl<'a> Walk<'a> {
    /// The object must be all that there is.
    pub(crate) fn open(object: &'a [u8]) -> Option<Self> {
        object.starts_with(b"{").then_some(Self {
            bytes: object,
            at: 1,
            started: false,
        })
    }

    /// The next name as it is written, with the walk standing before its value;
    /// `Some(None)` behind the object. Whoever does not know a name must give up
    /// if it [has escapes](Self::has_escapes): it may be another one's.
    #[inline]
    pub(crate) fn name(&mut self) -> Option<Option<&'a [u8]>> {
        let mut token = self.token()?;
        if token == b'}' {
            self.at += 1;
            return Some(None);
        }
        if self.started {
            self.expect(token, b',')?;
            token = self.token()?;
        }
        self.started = true;
        self.expect(token, b'"')?;
        let end = skip::string(self.bytes, self.at).ok()?;
        let name = &self.bytes[self.at..end];
        self.at = end + 1;
        let token = self.token()?;
        self.expect(token, b':')?;
        self.token()?;
        Some(Some(name))
    }

    pub(crate) fn has_escapes(name: &[u8]) -> bool {
        name.contains(&b'\\')
    }

    /// Gets past the value.
    #[inline]
    pub(crate) fn value(&mut self) -> Option<&'a [u8]> {
        let end = skip::value::<true>(self.bytes, self.at, 1).ok()?;
        let value = &self.bytes[self.at..end];
        self.at = end;
        is_plain(value).then_some(value)
    }

    /// Gets past the value, and says where it is.
    #[inline]
    pub(crate) fn place(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        self.value()?;
        Some(start..self.at)
    }

    /// Walks over the object that is the value.
    #[inline]
    pub(crate) fn inside<T>(&mut self, walk: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let token = self.token()?;
        self.expect(token, b'{')?;
        self.started = false;
        let walked = walk(self);
        self.started = true;
        walked
    }

    /// Whether nothing stands behind the object.
    pub(crate) fn is_over(&self) -> bool {
        skip::whitespace(self.bytes, self.at) == self.bytes.len()
    }

    #[inline]
    fn token(&mut self) -> Option<u8> {
        self.at = skip::whitespace(self.bytes, self.at);
        self.bytes.get(self.at).copied()
    }

    #[inline]
    fn expect(&mut self, token: u8, wanted: u8) -> Option<()> {
        self.at += 1;
        (token == wanted).then_some(())
    }
}

/// Whether a value that is neither string, object nor array is surely JSON.
fn is_plain(value: &[u8]) -> bool {
    match value {
        [b'"' | b'{' | b'[', ..] | b"null" | b"true" | b"false" | b"0" => true,
        [b'1'..=b'9', digits @ ..] => digits.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names and values of an object, one walk inside of those named `in`.
    fn walk(object: &str) -> Option<Vec<(&str, &str)>> {
        fn members<'a>(walk: &mut Walk<'a>, seen: &mut Vec<(&'a str, &'a str)>) -> Option<()> {
            let text = |bytes| str::from_utf8(bytes).unwrap();
            while let Some(name) = walk.name()? {
                if name == b"in" {
                    walk.inside(|walk| members(walk, seen))?;
                } else {
                    let value = walk.value()?;
                    seen.push((text(name), text(value)));
                }
            }
            Some(())
        }
        let mut walk = Walk::open(object.as_bytes())?;
        let mut seen = Vec::new();
        members(&mut walk, &mut seen)?;
        walk.is_over().then_some(seen)
    }

    #[test]
    fn what_everybody_writes_is_walked_over() {
        assert_eq!(walk("{}").unwrap(), []);
        let object = r#"{ "a" : [1, {"b": "}"}] , "in":{"c":null,"d":"\\\"" },"e":107,"f":0 } "#;
        let found = [
            ("a", r#"[1, {"b": "}"}]"#),
            ("c", "null"),
            ("d", r#""\\\"""#),
            ("e", "107"),
            ("f", "0"),
        ];
        assert_eq!(walk(object).unwrap(), found);
    }

    #[test]
    fn whatever_else_there_is_ends_the_walk() {
        for object in [
            "",
            "[]",
            "{",
            r#"{"a"}"#,
            r#"{"a":}"#,
            r#"{"a":1,}"#,
            r#"{"a":1 "b":2}"#,
            r#"{"a":tru}"#,
            r#"{"a":01}"#,
            r#"{"a":1.5}"#,
            r#"{"a":-1}"#,
            r#"{"a":[1}"#,
            r#"{"in":[1]}"#,
            r#"{"in":{"a":1,}}"#,
            r#"{"a":1}2"#,
        ] {
            assert_eq!(walk(object), None, "{object}");
        }
    }

    #[test]
    fn a_value_is_a_text_or_something_else() {
        assert!(matches!(Member::of(br#""a""#), Member::Text(text) if text == "a"));
        assert!(matches!(Member::of(b"7"), Member::Other));
        assert!(matches!(Member::of(b"\"\t\""), Member::Absent));
    }
}
