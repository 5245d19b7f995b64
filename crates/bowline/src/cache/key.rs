//! The keys of cached items, and what invalidates them.

use std::sync::Arc;

/// The identity of one connection in the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SourceId(pub(super) u64);

/// The principal that asks.
pub(super) type Principal = Option<Arc<str>>;

/// The key of a cached item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) source: SourceId,
    pub(super) audience: Audience,
    pub(super) item: CachedItem,
}

/// Who may read a cached item.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Audience {
    Everyone,
    Only(Principal),
}

/// The item that was requested.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum CachedItem {
    Tools,
    Prompts,
    Resources,
    Templates,
    Contents(Arc<str>),
    ToolResult {
        tool: Arc<str>,
        /// In canonical form, so the order of members does not matter.
        arguments: Arc<str>,
    },
}

impl CachedItem {
    pub(super) fn is_list(&self) -> bool {
        !matches!(self, Self::Contents(_) | Self::ToolResult { .. })
    }
}

/// The items that a change invalidates.
#[derive(Debug)]
pub(super) enum Invalidation {
    Everything,
    Lists,
    /// The list of tools and all tool results.
    Tools,
    Prompts,
    ResourceLists,
    /// This resource only.
    Contents(Box<str>),
    /// This resource, those below it, and those that contain it.
    Related(Box<str>),
}

impl Invalidation {
    pub(super) fn covers(&self, item: &CachedItem) -> bool {
        match (self, item) {
            (Self::Everything, _)
            | (Self::Tools, CachedItem::Tools | CachedItem::ToolResult { .. })
            | (Self::Prompts, CachedItem::Prompts)
            | (Self::ResourceLists, CachedItem::Resources | CachedItem::Templates) => true,
            (Self::Lists, item) => item.is_list(),
            (Self::Contents(changed), CachedItem::Contents(uri)) => **changed == **uri,
            (Self::Related(changed), CachedItem::Contents(uri)) => {
                is_within(changed, uri) || is_within(uri, changed)
            }
            _ => false,
        }
    }
}

/// Returns whether `inner` is `outer` or lies below it. A common prefix alone is not
/// enough.
fn is_within(outer: &str, inner: &str) -> bool {
    let Some(rest) = inner.strip_prefix(outer) else {
        return false;
    };
    rest.is_empty() || outer.ends_with('/') || rest.starts_with(['/', '?', '#'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_reaches_up_and_down_but_not_sideways() {
        let invalidation = Invalidation::Related("file:///notes/today".into());
        let covers = |uri: &str| invalidation.covers(&CachedItem::Contents(uri.into()));
        assert!(covers("file:///notes/today"));
        assert!(covers("file:///notes/today/morning.md"), "below");
        assert!(covers("file:///notes/today#morning"), "a part");
        assert!(covers("file:///notes/"), "what contains it");
        assert!(covers("file:///notes"), "what contains it");
        assert!(!covers("file:///notes/today-or-never"), "begins alike");
        assert!(!covers("file:///notes/yesterday"));
        assert!(!invalidation.covers(&CachedItem::Resources));
    }

    #[test]
    fn changed_tools_take_their_results_along() {
        let result = CachedItem::ToolResult {
            tool: "add".into(),
            arguments: "{}".into(),
        };
        assert!(Invalidation::Tools.covers(&CachedItem::Tools));
        assert!(Invalidation::Tools.covers(&result));
        assert!(!Invalidation::Lists.covers(&result));
        assert!(!Invalidation::Prompts.covers(&result));
    }
}
