//! What is kept, for whom, and what makes it stale.

use std::sync::Arc;

/// One connection's part of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SourceId(pub(super) u64);

/// Who asks.
pub(super) type Principal = Option<Arc<str>>;

/// Where something is kept.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Key {
    pub(super) source: SourceId,
    pub(super) holder: Holder,
    pub(super) what: What,
}

/// Who may have it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Holder {
    Everyone,
    Only(Principal),
}

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum What {
    Tools,
    Prompts,
    Resources,
    Templates,
    Contents(Arc<str>),
    ToolResult {
        tool: Arc<str>,
        /// In canonical form, so that the order of members does not matter.
        arguments: Arc<str>,
    },
}

impl What {
    pub(super) fn is_list(&self) -> bool {
        !matches!(self, Self::Contents(_) | Self::ToolResult { .. })
    }
}

/// What is not to be trusted any more.
#[derive(Debug)]
pub(super) enum Stale {
    Everything,
    Lists,
    /// The tools, and with them what they once returned.
    Tools,
    Prompts,
    ResourceLists,
    /// This resource only.
    Contents(Box<str>),
    /// This resource, those below it, and those that it is part of.
    Around(Box<str>),
}

impl Stale {
    pub(super) fn covers(&self, what: &What) -> bool {
        match (self, what) {
            (Self::Everything, _)
            | (Self::Tools, What::Tools | What::ToolResult { .. })
            | (Self::Prompts, What::Prompts)
            | (Self::ResourceLists, What::Resources | What::Templates) => true,
            (Self::Lists, what) => what.is_list(),
            (Self::Contents(changed), What::Contents(uri)) => **changed == **uri,
            (Self::Around(changed), What::Contents(uri)) => {
                is_within(changed, uri) || is_within(uri, changed)
            }
            _ => false,
        }
    }
}

/// Whether `inner` is `outer` or lies below it. Names that merely begin alike
/// do not count.
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
        let stale = Stale::Around("file:///notes/today".into());
        let covers = |uri: &str| stale.covers(&What::Contents(uri.into()));
        assert!(covers("file:///notes/today"));
        assert!(covers("file:///notes/today/morning.md"), "below");
        assert!(covers("file:///notes/today#morning"), "a part");
        assert!(covers("file:///notes/"), "what contains it");
        assert!(covers("file:///notes"), "what contains it");
        assert!(!covers("file:///notes/today-or-never"), "begins alike");
        assert!(!covers("file:///notes/yesterday"));
        assert!(!stale.covers(&What::Resources));
    }

    #[test]
    fn changed_tools_take_their_results_along() {
        let result = What::ToolResult {
            tool: "add".into(),
            arguments: "{}".into(),
        };
        assert!(Stale::Tools.covers(&What::Tools));
        assert!(Stale::Tools.covers(&result));
        assert!(!Stale::Lists.covers(&result));
        assert!(!Stale::Prompts.covers(&result));
    }
}
