//! The `_meta` that came last.
//!
//! On a link the same client asks again and again, and says the same of itself
//! each time. To compare a text is less work than to walk over it.

use super::request_head::{MetaMembers, RequestHead};

/// A `_meta` as it was written, and where the members are that matter.
#[derive(Debug, Default)]
pub(super) struct MetaCache {
    json: Vec<u8>,
    spans: [Option<(usize, usize)>; RequestHead::KEY_COUNT],
}

impl MetaCache {
    /// How long a text may be that is remembered.
    const MAX_LEN: usize = 4096;

    /// Its length and its members, where the same stands at the beginning of
    /// this.
    pub(super) fn find<'a>(&self, bytes: &'a [u8]) -> Option<(usize, MetaMembers<'a>)> {
        // An object that begins like this one ends where it ends.
        let meta = bytes.get(..self.json.len())?;
        if meta.is_empty() || meta != self.json {
            return None;
        }
        let member = |span: Option<(usize, usize)>| span.map(|(start, end)| &meta[start..end]);
        Some((meta.len(), self.spans.map(member)))
    }

    /// Remembers one, whose members are slices of it.
    pub(super) fn store(&mut self, meta: &[u8], members: &MetaMembers<'_>) {
        self.json.clear();
        if meta.len() > Self::MAX_LEN {
            return;
        }
        self.json.extend_from_slice(meta);
        self.spans = members.map(|member| {
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
        let mut members = MetaMembers::default();
        members[1] = Some(&meta[5..6]);
        members[4] = Some(&meta[11..14]);
        let mut last = MetaCache::default();
        assert!(last.find(b"").is_none() && last.find(meta).is_none());
        last.store(meta, &members);
        let bytes = br#"{"a":1,"b":"x"},"arguments":{}}"#;
        let (length, found) = last.find(bytes).unwrap();
        assert_eq!((length, found), (meta.len(), members));
        for other in [&bytes[1..], &bytes[..14], br#"{"a":2,"b":"x"},"#] {
            assert!(last.find(other).is_none());
        }
    }

    #[test]
    fn a_long_text_is_not_remembered() {
        let long = format!(r#"{{"a":"{}"}}"#, "x".repeat(MetaCache::MAX_LEN));
        let mut last = MetaCache::default();
        last.store(b"{}", &MetaMembers::default());
        last.store(long.as_bytes(), &MetaMembers::default());
        assert!(last.find(b"{}").is_none() && last.find(long.as_bytes()).is_none());
    }
}
