//! The tool list over HTTP, where arguments may also be sent in headers.
//!
//! A tool whose header annotations are not valid cannot be called over HTTP and is
//! removed from the list. If the server rejects the headers of a call, the call was
//! made with an outdated list, or with none: the list is requested, and the call is
//! sent again once.

use std::collections::BTreeMap;

use bytes::Bytes;
use memchr::memmem;
use serde_json::value::RawValue;

use super::{
    CallId, CallOptions, Outcome, TelemetryEvent, TransportKind,
    calls::{Phase, Purpose},
    core::Core,
    ready::Ready,
    request::CallKind,
};
use crate::{
    Instant,
    http::header::{HeaderSchemaErrorKind, ParamHeaders},
    jsonrpc::{ErrorObject, code, range_of},
    model::{ListToolsParams, ListToolsResult, ResultObject as _, check_count, method},
};

/// The maximum number of pages requested for one call. A server with a longer list does
/// not want it read.
const MAX_PAGES: u32 = 64;

/// A request for the tool list on behalf of a waiting call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relisting {
    pub(super) call: CallId,
    /// The server's error for the call, in case the list does not help.
    pub(super) error: ErrorObject,
    page: u32,
}

impl Ready {
    /// Returns a page of tools without those that cannot be called.
    pub(super) fn filter_page(&self, core: &mut Core, result: &Bytes) -> Bytes {
        if core.config.transport != TransportKind::Http || !self.rules.mirror_headers {
            return result.clone();
        }
        drop_invalid_tools(result, |tool, fault| {
            core.observe(|| TelemetryEvent::ToolDropped {
                tool: tool.into(),
                fault,
            });
        })
        .unwrap_or_else(|| result.clone())
    }

    /// Requests the list again if that may help a call that was rejected. Returns
    /// whether the call continues.
    pub(super) fn try_relist(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        error: &ErrorObject,
    ) -> bool {
        let is_header_mismatch = error.code == code::HEADER_MISMATCH
            && core.config.transport == TransportKind::Http
            && self.rules.mirror_headers;
        let Some(call) = core.calls.get_mut(id).filter(|_| is_header_mismatch) else {
            return false;
        };
        // A call with answers would have to start over.
        if call.relisted || call.rounds > 0 || call.method != method::TOOLS_CALL {
            return false;
        }
        call.relisted = true;
        if !core.requeue(id) {
            return false;
        }
        let relisting = Relisting {
            call: id,
            error: error.clone(),
            page: 0,
        };
        self.request_page(core, now, relisting, None);
        true
    }

    /// Handles a page of the list. After the last page the call is sent again.
    pub(super) fn relisted(
        &mut self,
        core: &mut Core,
        now: Instant,
        mut relisting: Relisting,
        result: &[u8],
    ) {
        let next = ListToolsResult::decode(result).ok();
        match next.and_then(|page| page.next_cursor) {
            Some(cursor) if relisting.page < MAX_PAGES => {
                relisting.page += 1;
                self.request_page(core, now, relisting, Some(cursor));
            }
            _ => self.send_queued(core, now, relisting.call),
        }
    }

    fn request_page(
        &mut self,
        core: &mut Core,
        now: Instant,
        relisting: Relisting,
        cursor: Option<String>,
    ) {
        let params = ListToolsParams {
            cursor,
            ..ListToolsParams::default()
        };
        let call_id = relisting.call;
        let Ok(request) = super::Request::new(params) else {
            core.finish(now, call_id, Outcome::Error(relisting.error));
            return;
        };
        let id = CallId(core.ids.next_id());
        let mut call = core.new_call(now, CallKind::Request(request), CallOptions::default());
        call.purpose = Purpose::Relist(Box::new(relisting));
        debug_assert!(matches!(call.phase, Phase::Queued(Some(_))));
        core.register_call(id, call);
        self.send_queued(core, now, id);
    }
}

/// The members of an object, each a slice of it.
type RawMembers<'a> = BTreeMap<String, &'a RawValue>;

/// Returns the page without the invalid tools and otherwise unchanged, or `None` if all
/// tools are valid.
fn drop_invalid_tools(
    result: &[u8],
    mut on_dropped: impl FnMut(&str, HeaderSchemaErrorKind),
) -> Option<Bytes> {
    let contains = |needle: &[u8]| memmem::find(result, needle).is_some();
    // Few lists have annotations, but a key may be written with escapes.
    if !contains(b"x-mcp-header") && !contains(b"\\u") {
        return None;
    }
    // The caller gets the error for an oversized page.
    check_count(result, "tools").ok()?;
    let page: RawMembers<'_> = serde_json::from_slice(result).ok()?;
    let tools: Vec<&RawValue> = serde_json::from_str(page.get("tools")?.get()).ok()?;
    let mut valid = Vec::with_capacity(tools.len());
    for tool in &tools {
        match header_error(tool.get()) {
            Some((name, fault)) => on_dropped(&name, fault),
            None => valid.push(tool.get()),
        }
    }
    if valid.len() == tools.len() {
        return None;
    }
    // The tools are slices of the page: everything before the first and after the last
    // one is kept.
    let range = |tool: &RawValue| range_of(tool.get().as_bytes(), result);
    let (start, end) = (range(tools.first()?)?.start, range(tools.last()?)?.end);
    let mut page = Vec::with_capacity(result.len());
    page.extend_from_slice(&result[..start]);
    page.extend_from_slice(valid.join(",").as_bytes());
    page.extend_from_slice(&result[end..]);
    Some(page.into())
}

/// Returns the name of a tool and the problem with its annotations, if any.
fn header_error(tool: &str) -> Option<(String, HeaderSchemaErrorKind)> {
    let tool: RawMembers<'_> = serde_json::from_str(tool).ok()?;
    let error = ParamHeaders::from_schema(tool.get("inputSchema")?.get()).err()?;
    let name = serde_json::from_str(tool.get("name")?.get()).ok()?;
    Some((name, error.kind))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(page: &str) -> (Option<String>, Vec<String>) {
        let mut on_dropped = Vec::new();
        let rest = drop_invalid_tools(page.as_bytes(), |tool, _| on_dropped.push(tool.to_owned()));
        (
            rest.map(|rest| String::from_utf8(rest.to_vec()).unwrap()),
            on_dropped,
        )
    }

    const BAD: &str = r#"{"inputSchema": {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}, "name": "bad"}"#;

    #[test]
    fn faulty_tools_are_cut_out_and_nothing_else_is_touched() {
        let page = format!(
            r#"{{"ttlMs": 1.50, "tools": [ {{"name":"a"}}, {BAD} ,{{"name":"b"}} ], "x": [1 ]}}"#
        );
        let (rest, on_dropped) = cut(&page);
        assert_eq!(
            rest.unwrap(),
            r#"{"ttlMs": 1.50, "tools": [ {"name":"a"},{"name":"b"} ], "x": [1 ]}"#
        );
        assert_eq!(on_dropped, ["bad"]);
        let (rest, on_dropped) = cut(&format!(r#"{{"tools":[{BAD},{BAD}]}}"#));
        assert_eq!(rest.unwrap(), r#"{"tools":[]}"#);
        assert_eq!(on_dropped.len(), 2);
    }

    #[test]
    fn other_pages_are_left_as_they_are() {
        for page in [
            r#"{"tools": []}"#,
            r#"{"tools": [{"name": "a", "inputSchema": {}}]}"#,
            r#"{"tools": [7, {"name": 7}]}"#,
            r#"{"tools": 7}"#,
            r#"{"x-mcp-header": [], "tools": 7}"#,
            r#"{"x-mcp-header": 7}"#,
            "[\"x-mcp-header\"]",
            "nonsense",
        ] {
            assert_eq!(cut(page), (None, vec![]), "{page}");
        }
    }
}
