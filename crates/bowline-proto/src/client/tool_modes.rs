//! Tool modes: which calls are bound to a session, and whether calls carry its number.

use std::{borrow::Cow, collections::BTreeMap};

use memchr::memmem;

use crate::model::{ListToolsResult, ResultObject, Tool, ToolMode, meta::key};

/// When calls carry the session number in their `_meta`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionMetaPolicy {
    /// Once the server has declared a mode for any tool. Other servers do not know the
    /// key and do not receive it.
    WhenDeclared,
    /// Whenever a stateful tool is listed or called. Tools are stateful unless they
    /// declare otherwise, so in practice this means always.
    Always,
    /// Never.
    Never,
}

/// Whether calls need the session at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SessionRequirement {
    /// No stateful tool is known.
    Optional,
    /// A stateful tool was listed or called.
    Required,
}

/// The declared modes of the server's tools.
#[derive(Debug)]
pub(super) struct ToolModes {
    modes: BTreeMap<Box<str>, ToolMode>,
    /// The pages of a list that is not complete yet.
    pages: Pages,
    session: SessionRequirement,
}

#[derive(Debug, Default)]
struct Pages {
    modes: BTreeMap<Box<str>, ToolMode>,
    stateful: bool,
    starts_at_first_page: bool,
}

impl ToolModes {
    pub(super) fn new() -> Self {
        Self {
            modes: BTreeMap::new(),
            pages: Pages::default(),
            session: SessionRequirement::Optional,
        }
    }

    pub(super) fn session_requirement(&self) -> SessionRequirement {
        self.session
    }

    /// Returns the mode of a tool, if the server declared it.
    pub(super) fn declared_mode<'a>(
        &self,
        tool: impl FnOnce() -> Option<Cow<'a, str>>,
    ) -> Option<ToolMode> {
        // Almost no server declares any.
        if self.modes.is_empty() {
            return None;
        }
        self.modes.get(&*tool()?).copied()
    }

    /// Records a call. A stateful call makes the session required.
    pub(super) fn record_call(&mut self, mode: ToolMode) {
        if mode == ToolMode::Stateful {
            self.session = SessionRequirement::Required;
        }
    }

    /// Returns whether calls carry the session number under this policy.
    pub(super) fn sends_session_number(&self, policy: SessionMetaPolicy) -> bool {
        match policy {
            SessionMetaPolicy::Never => false,
            SessionMetaPolicy::Always => self.session == SessionRequirement::Required,
            SessionMetaPolicy::WhenDeclared => {
                self.session == SessionRequirement::Required && !self.modes.is_empty()
            }
        }
    }

    /// Records a page of `tools/list`. Modes are replaced only after the last page, so
    /// an incomplete list never erases known modes, and only if the first page was
    /// seen, because a single page is not the whole list.
    pub(super) fn record_page(&mut self, result: &[u8], has_cursor: bool) {
        if !has_cursor {
            self.pages = Pages {
                starts_at_first_page: true,
                ..Pages::default()
            };
        }
        let Some(has_more) = self.pages.add(result) else {
            return;
        };
        if has_more {
            return;
        }
        let pages = std::mem::take(&mut self.pages);
        if pages.starts_at_first_page {
            self.modes = BTreeMap::new();
            self.session = SessionRequirement::Optional;
        }
        self.modes.extend(pages.modes);
        if pages.stateful {
            self.session = SessionRequirement::Required;
        }
    }
}

impl Pages {
    /// Adds a page and returns whether more follow. A page that cannot be decoded is
    /// ignored; the caller gets the error.
    fn add(&mut self, result: &[u8]) -> Option<bool> {
        // Almost no server declares modes, and decoding a long list twice costs more
        // than these two searches.
        let undeclared = memmem::find(result, b"mode").is_none();
        if undeclared && memmem::find(result, b"nextCursor").is_none() {
            self.stateful |= memmem::find(result, b"\"name\"").is_some();
            return Some(false);
        }
        let page = ListToolsResult::decode(result).ok()?;
        for tool in &page.tools {
            let mode = tool.mode();
            self.stateful |= mode == ToolMode::Stateful;
            if declares_mode(tool) {
                self.modes.insert(tool.name.as_str().into(), mode);
            }
        }
        Some(page.next_cursor.is_some())
    }
}

fn declares_mode(tool: &Tool) -> bool {
    let in_meta = tool
        .meta
        .as_ref()
        .is_some_and(|meta| meta.members().contains_key(key::TOOL_MODE));
    in_meta || tool.extra.contains_key("mode")
}
