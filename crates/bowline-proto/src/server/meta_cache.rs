//! A cache of the last `_meta`.
//!
//! On a link, the same client sends request after request with the same
//! `_meta`. Comparing the bytes is cheaper than scanning them again.

use super::request_head::{MetaMembers, RequestHead};
use crate::jsonrpc::range_of;

/// The bytes of a `_meta` and the spans of the members that matter.
#[derive(Debug, Default)]
pub(super) struct MetaCache {
    json: Vec<u8>,
    spans: [Option<(usize, usize)>; RequestHead::KEY_COUNT],
}

impl MetaCache {
    /// The longest `_meta` that is cached.
    const MAX_LEN: usize = 4096;

    /// Returns the length and the members of the cached `_meta` if `bytes`
    /// starts with it.
    pub(super) fn find<'a>(&self, bytes: &'a [u8]) -> Option<(usize, MetaMembers<'a>)> {
        // An object that starts with these bytes also ends where they end.
        let meta = bytes.get(..self.json.len())?;
        if meta.is_empty() || meta != self.json {
            return None;
        }
        let member = |span: Option<(usize, usize)>| span.map(|(start, end)| &meta[start..end]);
        Some((meta.len(), self.spans.map(member)))
    }

    /// Stores a `_meta` whose members are slices of it.
    pub(super) fn store(&mut self, meta: &[u8], members: &MetaMembers<'_>) {
        self.json.clear();
        if meta.len() > Self::MAX_LEN {
            return;
        }
        self.json.extend_from_slice(meta);
        self.spans = members.map(|member| {
            let range = range_of(member?, meta)?;
            Some((range.start, range.end))
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
