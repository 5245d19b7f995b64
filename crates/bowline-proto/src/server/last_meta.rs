//! The `_meta` that came last.
//!
//! On a link the same client asks again and again, and says the same of itself
//! each time. To compare a text is less work than to walk over it.

use super::head::{Head, Members};

/// A `_meta` as it was written, and where the members are that matter.
#[derive(Debug, Default)]
pub(super) struct LastMeta {
    text: Vec<u8>,
    places: [Option<(usize, usize)>; Head::KEYS],
}

impl LastMeta {
    /// How long a text may be that is remembered.
    const LONGEST: usize = 4096;

    /// Its length and its members, where the same stands at the beginning of
    /// this.
    pub(super) fn find<'a>(&self, rest: &'a [u8]) -> Option<(usize, Members<'a>)> {
        // An object that begins like this one ends where it ends.
        let meta = rest.get(..self.text.len())?;
        if meta.is_empty() || meta != self.text {
            return None;
        }
        let member = |place: Option<(usize, usize)>| place.map(|(start, end)| &meta[start..end]);
        Some((meta.len(), self.places.map(member)))
    }

    /// Remembers one, whose members are slices of it.
    pub(super) fn remember(&mut self, meta: &[u8], members: &Members<'_>) {
        self.text.clear();
        if meta.len() > Self::LONGEST {
            return;
        }
        self.text.extend_from_slice(meta);
        self.places = members.map(|member| {
            let start = member?.as_ptr().addr() - meta.as_ptr().addr();
            Some((start, start + member?.len()))
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_text_has_the_same_members() {
        let meta = br#"{"a":1,"b":"x"}"#;
        let mut members = Members::default();
        members[1] = Some(&meta[5..6]);
        members[4] = Some(&meta[11..14]);
        let mut last = LastMeta::default();
        assert!(last.find(b"").is_none() && last.find(meta).is_none());
        last.remember(meta, &members);
        let rest = br#"{"a":1,"b":"x"},"arguments":{}}"#;
        let (length, found) = last.find(rest).unwrap();
        assert_eq!((length, found), (meta.len(), members));
        for other in [&rest[1..], &rest[..14], br#"{"a":2,"b":"x"},"#] {
            assert!(last.find(other).is_none());
        }
    }

    #[test]
    fn a_long_text_is_not_remembered() {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(LastMeta::LONGEST));
        let mut last = LastMeta::default();
        last.remember(b"{}", &Members::default());
        last.remember(long.as_bytes(), &Members::default());
        assert!(last.find(b"{}").is_none() && last.find(long.as_bytes()).is_none());
    }
}
