//! Listing and calling tools.

use serde::{Serialize, Serializer, ser::SerializeMap as _};

use super::{Call, Client, List, SuspendedCall, ToolCall};
use crate::proto::{
    client::Request,
    jsonrpc::{EncodeError, OutgoingMessage},
    model::{InputResponses, ListToolsParams, Tool, method},
};

/// The server's tools. See [`Client::tools`].
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    pub(crate) client: &'a Client,
}

impl<'a> Tools<'a> {
    /// Lists all tools, from all pages. Fails if the server does not declare the `tools`
    /// capability, a page cannot be fetched, or the list exceeds a limit.
    pub fn list(self) -> List<'a, Tool> {
        List::new::<ListToolsParams>(self.client)
    }

    /// Calls a tool.
    ///
    /// If the tool itself fails, the call succeeds and the failure is part of the
    /// result. [`CallToolResult::into_result`] turns such a result into an error, and so
    /// does [`ToolCall::typed`], which also decodes the result.
    ///
    /// [`CallToolResult::into_result`]: crate::model::CallToolResult::into_result
    pub fn call<A: Serialize>(self, name: &str, arguments: A) -> ToolCall<'a> {
        let request = request(name, &arguments);
        ToolCall::new(Call::new(self.client, method::TOOLS_CALL, request))
    }
}

impl<'a> Tools<'a> {
    /// Resumes a suspended call with the answers to all of its questions. The server
    /// may have further questions.
    pub fn resume(self, suspended: SuspendedCall, answers: &InputResponses) -> ToolCall<'a> {
        let request = suspended.into_request(answers);
        ToolCall::new(Call::new(self.client, method::TOOLS_CALL, request))
    }
}

fn request<A: Serialize>(name: &str, arguments: &A) -> Result<Request, EncodeError> {
    let arguments = Some(arguments);
    let mut message = OutgoingMessage::new(method::TOOLS_CALL, &ToolParams { name, arguments })?;
    // Arguments that serialize to null, such as `()`, are omitted.
    if message.members().ends_with(b"\"arguments\":null") {
        let without_arguments: ToolParams<'_, A> = ToolParams {
            name,
            arguments: None,
        };
        message = OutgoingMessage::new(method::TOOLS_CALL, &without_arguments)?;
    }
    Ok(Request::from(message))
}

/// The parameters of a tool call, written directly into the frame so that arguments of
/// the caller's type are serialized only once.
struct ToolParams<'a, A> {
    name: &'a str,
    arguments: Option<&'a A>,
}

impl<A: Serialize> Serialize for ToolParams<'_, A> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("name", self.name)?;
        if let Some(arguments) = self.arguments {
            map.serialize_entry("arguments", arguments)?;
        }
        map.end()
    }
}
