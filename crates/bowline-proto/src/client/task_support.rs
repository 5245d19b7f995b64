//! Which tools are called as tasks, where the client decides that.
//!
//! A tool says so in the tool list. So the list is requested before the first call, once
//! per session and after changes, from servers that declare to run calls as tasks.

use std::collections::BTreeMap;

use super::{
    CallId, CallOptions, TaskMode,
    calls::{Phase, Purpose},
    core::Core,
    ready::Ready,
    request::{CallKind, Request},
    timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{Member, OutgoingMessage},
    model::{
        ListToolsParams, ListToolsResult, ResultObject as _, TaskMetadata, TaskSupport, method,
    },
    task::Dialect,
};

/// The maximum number of pages requested. A server with a longer list does not want it
/// read.
const MAX_PAGES: u32 = 64;

/// The tools that may or must be called as tasks.
#[derive(Debug, Default)]
pub(super) struct TaskSupports {
    /// `None` until the whole list is known.
    known: Option<BTreeMap<Box<str>, TaskSupport>>,
    /// The pages of a list that is not complete yet.
    pages: Option<BTreeMap<Box<str>, TaskSupport>>,
}

/// A request for the tool list on behalf of calls that wait for it, in this session.
#[derive(Debug, Default)]
pub(super) struct ToolListing {
    waiting: Vec<CallId>,
    is_running: bool,
    /// Whether the list could not be had. Calls are then made without it.
    has_failed: bool,
}

impl TaskSupports {
    /// Forgets the list, which has changed.
    pub(super) fn forget(&mut self) {
        *self = Self::default();
    }

    /// Records a page of the list. Returns the cursor of the next.
    pub(super) fn record_page(&mut self, result: &[u8], has_cursor: bool) -> Option<String> {
        let page = ListToolsResult::decode(result).ok()?;
        if !has_cursor {
            self.pages = Some(BTreeMap::new());
        }
        let pages = self.pages.as_mut()?;
        for tool in page.tools {
            let support = tool.execution.and_then(|execution| execution.task_support);
            if let Some(support @ (TaskSupport::Optional | TaskSupport::Required)) = support {
                pages.insert(tool.name.into(), support);
            }
        }
        if page.next_cursor.is_none() {
            self.known = self.pages.take();
        }
        page.next_cursor
    }

    fn is_known(&self) -> bool {
        self.known.is_some()
    }

    fn of(&self, tool: &str) -> Option<&TaskSupport> {
        self.known.as_ref()?.get(tool)
    }
}

impl Ready {
    /// Returns whether this client decides which calls the server runs as tasks.
    pub(super) fn decides_on_tasks(&self) -> bool {
        Dialect::of(&self.rules.features) == Some(Dialect::Core)
            && self.server.has_capability("tasks.requests.tools.call")
    }

    /// Returns the `task` parameter of a call, if it is made as a task.
    pub(super) fn task_param(
        &self,
        mode: TaskMode,
        message: &OutgoingMessage,
    ) -> Option<TaskMetadata> {
        if message.method() != method::TOOLS_CALL || !self.decides_on_tasks() {
            return None;
        }
        let Member::String(tool) = message.member("name") else {
            return None;
        };
        let mut param = TaskMetadata::default();
        match (mode, self.task_supports.of(&tool)?) {
            (TaskMode::Accept, TaskSupport::Required) => {}
            (TaskMode::Request { ttl }, _) => {
                param.ttl = ttl.map(|ttl| u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX));
            }
            _ => return None,
        }
        // A caller may have written it.
        (!message.has_member("task")).then_some(param)
    }

    /// Lets a call wait for the tool list, if that decides how the call is made.
    /// Returns whether it waits.
    pub(super) fn waits_for_tool_list(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
    ) -> bool {
        let Some(call) = core.calls.get(id) else {
            return false;
        };
        let may_be_task =
            call.method == method::TOOLS_CALL && call.options.task != TaskMode::Refuse;
        let is_needed = may_be_task
            && matches!(call.phase, Phase::Queued(Some(_)))
            && !self.task_supports.is_known()
            && !core.tool_listing.has_failed
            && self.decides_on_tasks();
        if !is_needed {
            return false;
        }
        core.tool_listing.waiting.push(id);
        if !std::mem::replace(&mut core.tool_listing.is_running, true) {
            self.request_tool_page(core, now, 0, None);
        }
        true
    }

    /// Handles a page of the list. After the last one, the waiting calls are sent.
    pub(super) fn tool_page_listed(
        &mut self,
        core: &mut Core,
        now: Instant,
        page: u32,
        result: &[u8],
    ) {
        match self.task_supports.record_page(result, page > 0) {
            Some(cursor) if page < MAX_PAGES => {
                self.request_tool_page(core, now, page + 1, Some(cursor));
            }
            _ => {
                let listing = &mut core.tool_listing;
                listing.is_running = false;
                listing.has_failed = !self.task_supports.is_known();
                for id in std::mem::take(&mut listing.waiting) {
                    self.send_queued(core, now, id);
                }
            }
        }
    }

    fn request_tool_page(
        &mut self,
        core: &mut Core,
        now: Instant,
        page: u32,
        cursor: Option<String>,
    ) {
        let params = ListToolsParams {
            cursor,
            ..ListToolsParams::default()
        };
        let Ok(request) = Request::new(params) else {
            return core.tool_listing_failed(now);
        };
        let id = CallId(core.ids.next_id());
        let mut call = core.new_call(now, CallKind::Request(request), CallOptions::default());
        call.purpose = Purpose::ListForTasks { page };
        core.register_call(id, call);
        self.send_queued(core, now, id);
    }
}

impl Core {
    /// Sends the waiting calls without the list, as soon as the driver is idle.
    pub(super) fn tool_listing_failed(&mut self, now: Instant) {
        self.tool_listing.is_running = false;
        self.tool_listing.has_failed = true;
        for id in std::mem::take(&mut self.tool_listing.waiting) {
            let Some(call) = self.calls.get_mut(id) else {
                continue;
            };
            let Phase::Queued(message) = &mut call.phase else {
                continue;
            };
            let message = message.take();
            call.phase = Phase::Repeating { message, at: now };
            self.timers.arm(Timer::Resend(id), now);
        }
    }
}
