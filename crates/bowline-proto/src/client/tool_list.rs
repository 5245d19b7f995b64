//! The tool list over HTTP, where arguments may travel in headers, too.
//!
//! A tool whose annotations are at fault cannot be called there, and is not
//! offered. A call whose headers the server refuses was made with an old list,
//! or with none: the list is asked for, and the call made again, once.

use std::collections::BTreeMap;

use bytes::Bytes;
use memchr::memmem;
use serde_json::value::RawValue;

use super::{
    CallId, CallOptions, Outcome, Telemetry, Wire,
    calls::{Phase, Purpose},
    core::Core,
    ready::Ready,
    request::Want,
};
use crate::{
    Instant,
    http::header::{HeaderSchemaFault, ParamHeaders},
    jsonrpc::{ErrorObject, code},
    model::{ListToolsParams, ListToolsResult, ResultObject as _, check_count, method},
};

/// How many pages are asked for on behalf of one call. A server whose list
/// goes on beyond that does not want it read.
const MOST_PAGES: u32 = 64;

/// A look at the list on behalf of a call that waits for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Relisting {
    pub(super) call: CallId,
    /// What the server said to the call, should the list be of no help.
    pub(super) error: ErrorObject,
    page: u32,
}

impl Ready {
    /// A page of tools as the caller gets it: without those that cannot be
    /// called.
    pub(super) fn offered(&self, core: &mut Core, result: &Bytes) -> Bytes {
        if core.config.wire != Wire::Http || !self.rules.mirror_headers {
            return result.clone();
        }
        without_faulty(result, |tool, fault| {
            core.observe(|| Telemetry::ToolDropped {
                tool: tool.into(),
                fault,
            });
        })
        .unwrap_or_else(|| result.clone())
    }

    /// Looks at the list again, if that may help a call which was refused.
    /// Says whether the call goes on.
    pub(super) fn relist(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        error: &ErrorObject,
    ) -> bool {
        let helps = error.code == code::HEADER_MISMATCH
            && core.config.wire == Wire::Http
            && self.rules.mirror_headers;
        let Some(call) = core.calls.get_mut(id).filter(|_| helps) else {
            return false;
        };
        // With answers in it, it would have to be begun anew.
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
        self.ask_for_page(core, now, relisting, None);
        true
    }

    /// A page has come. After the last one the call is made again.
    pub(super) fn relisted(
        &mut self,
        core: &mut Core,
        now: Instant,
        mut relisting: Relisting,
        result: &[u8],
    ) {
        let next = ListToolsResult::decode(result).ok();
        match next.and_then(|page| page.next_cursor) {
            Some(cursor) if relisting.page < MOST_PAGES => {
                relisting.page += 1;
                self.ask_for_page(core, now, relisting, Some(cursor));
            }
            _ => self.launch(core, now, relisting.call),
        }
    }

    fn ask_for_page(
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
        let waiting = relisting.call;
        let Ok(request) = super::Request::new(params) else {
            core.finish(now, waiting, Outcome::Refused(relisting.error));
            return;
        };
        let id = CallId(core.ids.fresh());
        let mut call = core.call(now, Want::Request(request), CallOptions::default());
        call.purpose = Purpose::Relist(Box::new(relisting));
        debug_assert!(matches!(call.phase, Phase::Waiting(Some(_))));
        core.accept(id, call);
        self.launch(core, now, id);
    }
}

/// The members of an object, each a slice of it.
type Members<'a> = BTreeMap<String, &'a RawValue>;

/// The page with the faulty tools cut out, and nothing else touched. `None`
/// where there are none.
fn without_faulty(
    result: &[u8],
    mut dropped: impl FnMut(&str, HeaderSchemaFault),
) -> Option<Bytes> {
    let occurs = |needle: &[u8]| memmem::find(result, needle).is_some();
    // Few lists have annotations; a key may be written with escapes, though.
    if !occurs(b"x-mcp-header") && !occurs(b"\\u") {
        return None;
    }
    // Whoever asked for such a page is told that it is one.
    check_count(result, "tools").ok()?;
    let page: Members<'_> = serde_json::from_slice(result).ok()?;
    let tools: Vec<&RawValue> = serde_json::from_str(page.get("tools")?.get()).ok()?;
    let mut kept = Vec::with_capacity(tools.len());
    for tool in &tools {
        match fault_of(tool.get()) {
            Some((name, fault)) => dropped(&name, fault),
            None => kept.push(tool.get()),
        }
    }
    if kept.len() == tools.len() {
        return None;
    }
    // The tools are slices of the page: what stands before the first and after
    // the last of them stays.
    let place = |tool: &RawValue| tool.get().as_ptr().addr() - result.as_ptr().addr();
    let (first, last) = (tools.first()?, tools.last()?);
    let (start, end) = (place(first), place(last) + last.get().len());
    let mut page = Vec::with_capacity(result.len());
    page.extend_from_slice(&result[..start]);
    page.extend_from_slice(kept.join(",").as_bytes());
    page.extend_from_slice(&result[end..]);
    Some(page.into())
}

/// What is wrong with a tool's annotations, if anything is, and its name.
fn fault_of(tool: &str) -> Option<(String, HeaderSchemaFault)> {
    let tool: Members<'_> = serde_json::from_str(tool).ok()?;
    let error = ParamHeaders::from_schema(tool.get("inputSchema")?.get()).err()?;
    let name = serde_json::from_str(tool.get("name")?.get()).ok()?;
    Some((name, error.fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(page: &str) -> (Option<String>, Vec<String>) {
        let mut dropped = Vec::new();
        let rest = without_faulty(page.as_bytes(), |tool, _| dropped.push(tool.to_owned()));
        (
            rest.map(|rest| String::from_utf8(rest.to_vec()).unwrap()),
            dropped,
        )
    }

    const BAD: &str = r#"{"inputSchema": {"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}, "name": "bad"}"#;

    #[test]
    fn faulty_tools_are_cut_out_and_nothing_else_is_touched() {
        let page = format!(
            r#"{{"ttlMs": 1.50, "tools": [ {{"name":"a"}}, {BAD} ,{{"name":"b"}} ], "x": [1 ]}}"#
        );
        let (rest, dropped) = cut(&page);
        assert_eq!(
            rest.unwrap(),
            r#"{"ttlMs": 1.50, "tools": [ {"name":"a"},{"name":"b"} ], "x": [1 ]}"#
        );
        assert_eq!(dropped, ["bad"]);
        let (rest, dropped) = cut(&format!(r#"{{"tools":[{BAD},{BAD}]}}"#));
        assert_eq!(rest.unwrap(), r#"{"tools":[]}"#);
        assert_eq!(dropped.len(), 2);
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
