//! A walk over an object in the usual form.

use crate::jsonrpc::skip;

/// A walk over an object as almost everyone writes it. It ends with `None` at
/// anything else: then the object has to be decoded, which also reports what is
/// wrong with it.
///
/// The ends of values are verified. Faults inside strings, objects and arrays
/// are found when they are decoded.
pub(crate) struct ObjectWalker<'a> {
    bytes: &'a [u8],
    at: usize,
    /// The number of open objects and arrays around the values.
    depth: u32,
    started: bool,
}

/// A visitor for the members of an object. If a method returns `None`, the walk
/// ends with `None`.
pub(crate) trait MemberVisitor<'a> {
    /// Returns whether this member is an object whose own members are to be
    /// visited instead.
    fn enter_member(&mut self, name: &[u8]) -> Option<bool>;

    /// Visits a member that was not entered.
    fn member(&mut self, name: &'a [u8], value: &'a [u8]) -> Option<()>;

    /// Returns the length of the value of the member to be entered, if `rest`
    /// begins with a known one that needs no walk.
    fn skip_known(&mut self, _rest: &'a [u8]) -> Option<usize> {
        None
    }

    /// Visits a member of the entered object.
    fn nested_member(&mut self, name: &'a [u8], value: &'a [u8]) -> Option<()>;

    /// Called after the entered object.
    fn leave_member(&mut self, _value: &'a [u8]) {}
}

impl<'a> ObjectWalker<'a> {
    /// Opens an object, which must be the whole input.
    pub(crate) fn open(object: &'a [u8]) -> Option<Self> {
        object.starts_with(b"{").then(|| Self::new(object, 0, 0))
    }

    /// Opens the object at `at`, with `depth` objects and arrays around it.
    pub(in crate::jsonrpc) fn new(bytes: &'a [u8], at: usize, depth: u32) -> Self {
        Self {
            bytes,
            at: at + 1,
            depth: depth + 1,
            started: false,
        }
    }

    /// Walks over the whole object, and returns where it ends.
    pub(crate) fn visit(
        &mut self,
        visitor: &mut (impl MemberVisitor<'a> + ?Sized),
    ) -> Option<usize> {
        while let Some(name) = self.next_name()? {
            if !visitor.enter_member(name)? {
                visitor.member(name, self.value()?)?;
            } else if let Some(length) = visitor.skip_known(&self.bytes[self.at..]) {
                self.at += length;
            } else {
                self.visit_nested(visitor)?;
            }
        }
        Some(self.at)
    }

    fn visit_nested(&mut self, visitor: &mut (impl MemberVisitor<'a> + ?Sized)) -> Option<()> {
        let start = self.at;
        self.with_nested(|walker| {
            while let Some(name) = walker.next_name()? {
                visitor.nested_member(name, walker.value()?)?;
            }
            Some(())
        })?;
        visitor.leave_member(&self.bytes[start..self.at]);
        Some(())
    }

    /// Returns the next name as written, and moves to its value; `Some(None)`
    /// after the object. A caller that does not know a name must give up if it
    /// [has escapes](Self::has_escapes): it may spell another name.
    #[inline]
    fn next_name(&mut self) -> Option<Option<&'a [u8]>> {
        let mut token = self.peek_token()?;
        if token == b'}' {
            self.at += 1;
            return Some(None);
        }
        if self.started {
            self.expect(token, b',')?;
            token = self.peek_token()?;
        }
        self.started = true;
        self.expect(token, b'"')?;
        let end = skip::string(self.bytes, self.at).ok()?;
        let name = &self.bytes[self.at..end];
        self.at = end + 1;
        let token = self.peek_token()?;
        self.expect(token, b':')?;
        self.peek_token()?;
        Some(Some(name))
    }

    pub(crate) fn has_escapes(name: &[u8]) -> bool {
        name.contains(&b'\\')
    }

    /// Skips the value.
    #[inline]
    fn value(&mut self) -> Option<&'a [u8]> {
        let end = skip::value::<true>(self.bytes, self.at, self.depth).ok()?;
        let value = &self.bytes[self.at..end];
        self.at = end;
        is_plain(value).then_some(value)
    }

    /// Walks over the object that is the value.
    #[inline]
    fn with_nested<T>(&mut self, walker: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let token = self.peek_token()?;
        self.expect(token, b'{')?;
        self.started = false;
        self.depth += 1;
        let result = walker(self);
        self.depth -= 1;
        self.started = true;
        result
    }

    /// Returns whether nothing follows the object.
    pub(crate) fn is_at_end(&self) -> bool {
        skip::whitespace(self.bytes, self.at) == self.bytes.len()
    }

    #[inline]
    fn peek_token(&mut self) -> Option<u8> {
        match self.bytes.get(self.at) {
            // Most messages are written without whitespace.
            Some(&token) if token > b' ' => Some(token),
            _ => {
                self.at = skip::whitespace(self.bytes, self.at);
                self.bytes.get(self.at).copied()
            }
        }
    }

    #[inline]
    fn expect(&mut self, token: u8, expected: u8) -> Option<()> {
        self.at += 1;
        (token == expected).then_some(())
    }
}

/// Returns whether a value that is neither string, object nor array is
/// certainly JSON.
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

    /// Notes names and values, also inside of what is named `in`.
    #[derive(Default)]
    struct Notes<'a>(Vec<(&'a str, &'a str)>);

    impl<'a> MemberVisitor<'a> for Notes<'a> {
        fn enter_member(&mut self, name: &[u8]) -> Option<bool> {
            Some(name == b"in")
        }

        fn member(&mut self, name: &'a [u8], value: &'a [u8]) -> Option<()> {
            let text = |bytes| str::from_utf8(bytes).unwrap();
            self.0.push((text(name), text(value)));
            Some(())
        }

        fn nested_member(&mut self, name: &'a [u8], value: &'a [u8]) -> Option<()> {
            self.member(name, value)
        }
    }

    fn walk(object: &str) -> Option<Vec<(&str, &str)>> {
        let mut walk = ObjectWalker::open(object.as_bytes())?;
        let mut notes = Notes::default();
        walk.visit(&mut notes)?;
        walk.is_at_end().then_some(notes.0)
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
}
