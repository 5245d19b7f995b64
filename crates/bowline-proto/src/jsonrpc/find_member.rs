//! Lookup of an object's member without decoding the others.

use std::borrow::Cow;

use super::{
    member_scanner::{MemberScanner, Quoted},
    skip,
};

/// The value of a member.
pub(crate) enum Member<'a> {
    Absent,
    String(Cow<'a, str>),
    /// A value that is not a string.
    Other,
    Repeated,
}

impl<'a> Member<'a> {
    /// Classifies a value.
    pub(crate) fn from_value(value: &'a [u8]) -> Self {
        match Quoted::from_value(value).map(|string| string.decode()) {
            Some(Some(string)) => Self::String(string),
            // Not JSON; decoding the rest reports that.
            Some(None) => Self::Absent,
            None => Self::Other,
        }
    }
}

/// Finds a member of an object, by a name that contains nothing that must be
/// escaped. A value that is not an object has no members. Whether the rest is
/// valid JSON is only known once it is decoded.
pub(crate) fn find_member<'a>(object: &'a [u8], name: &str) -> Member<'a> {
    search(object, name).unwrap_or(Member::Absent)
}

fn search<'a>(object: &'a [u8], name: &str) -> Option<Member<'a>> {
    let start = skip::whitespace(object, 0);
    let opened = object.get(start) == Some(&b'{');
    let mut members = opened.then(|| MemberScanner::new(object, start))?;
    let mut found = Member::Absent;
    while let Some(key) = members.next_key().ok()? {
        let value = members.value::<true>(1).ok()?;
        if !key.equals(name) {
            continue;
        }
        if !matches!(found, Member::Absent) {
            return Some(Member::Repeated);
        }
        found = match Quoted::from_value(value) {
            Some(string) => Member::String(string.decode()?),
            None => Member::Other,
        };
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_a_text_or_something_else() {
        assert!(matches!(Member::from_value(br#""a""#), Member::String(string) if string == "a"));
        assert!(matches!(Member::from_value(b"7"), Member::Other));
        assert!(matches!(Member::from_value(b"\"\t\""), Member::Absent));
    }
}
