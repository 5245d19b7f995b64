//! Tools: list them, call them.

use std::{
    future::{Future, IntoFuture},
    time::Duration,
};

use serde::{Serialize, Serializer, de::DeserializeOwned, ser::SerializeMap as _};

use super::{
    Call, CallFuture, Client, Error, List, ProgressSender, SuspendedCall, ToolCallOutcome,
    suspended_call,
};
use crate::proto::{
    client::{Request, SessionNumber},
    jsonrpc::{EncodeError, OutgoingMessage},
    model::{CallToolResult, InputResponses, ListToolsParams, Meta, Tool, ToolMode, method},
};

/// The server's tools. See [`Client::tools`].
#[derive(Clone, Copy, Debug)]
pub struct Tools<'a> {
    pub(crate) client: &'a Client,
}

impl<'a> Tools<'a> {
    /// All tools, page after page. Fails where the server has no tools, a page
    /// cannot be had, or the list does not end.
    pub fn list(self) -> List<'a, Tool> {
        List::new::<ListToolsParams>(self.client)
    }

    /// Calls a tool. That the tool itself failed is part of the result; see
    /// [`CallTool::into_typed`] for a stricter view.
    pub fn call<A: Serialize>(self, name: &str, arguments: A) -> CallTool<'a> {
        CallTool {
            call: Call::new(self.client, method::TOOLS_CALL, request(name, &arguments)),
        }
    }
}

impl<'a> Tools<'a> {
    /// Goes on with a call that was parked, with the answers to all of its
    /// questions. It may have more.
    pub fn resume(self, suspended: SuspendedCall, answers: &InputResponses) -> CallTool<'a> {
        let request = suspended.into_request(answers);
        CallTool {
            call: Call::new(self.client, method::TOOLS_CALL, request),
        }
    }
}

fn request<A: Serialize>(name: &str, arguments: &A) -> Result<Request, EncodeError> {
    let arguments = Some(arguments);
    let mut message = OutgoingMessage::new(method::TOOLS_CALL, &ToolParams { name, arguments })?;
    // What serialises to nothing, such as `()`, means that there are none.
    if message.members().ends_with(b"\"arguments\":null") {
        let without_arguments: ToolParams<'_, A> = ToolParams {
            name,
            arguments: None,
        };
        message = OutgoingMessage::new(method::TOOLS_CALL, &without_arguments)?;
    }
    Ok(Request::from(message).for_tool(name))
}

/// The parameters of a tool call, written straight into the frame: arguments
/// of the caller's own type need not become JSON twice.
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

/// A tool call that has not been made yet.
#[must_use = "a call is made when it is awaited"]
pub struct CallTool<'a> {
    call: Call<'a, CallToolResult>,
}

impl<'a> CallTool<'a> {
    /// Gives the server this long to answer.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }

    /// Waits for the connection, if it is down, within the time that the call
    /// has. Otherwise such a call fails at once.
    pub fn wait_for_connection(self) -> Self {
        self.map_call(Call::wait_for_connection)
    }

    /// Sends the call again if the connection falls while it is under way.
    /// Only for tools that are harmless to call twice.
    pub fn repeat_if_lost(self) -> Self {
        self.map_call(Call::repeat_if_lost)
    }

    /// Says whether the call needs the session, where you know better than the
    /// server's list of tools. See [`Call::mode`].
    pub fn mode(self, mode: ToolMode) -> Self {
        self.map_call(|call| call.mode(mode))
    }

    /// Binds the call to a session: in any other it is refused, and nothing is
    /// sent. See [`Client::session`].
    pub fn in_session(self, session: SessionNumber) -> Self {
        self.map_call(|call| call.in_session(session))
    }

    /// Hears of progress, through a [channel](super::progress_channel) that
    /// closes when the call ends.
    pub fn on_progress(self, sender: ProgressSender) -> Self {
        self.map_call(|call| call.on_progress(sender))
    }

    /// Lets every piece of progress start the time anew, up to `at_most` in
    /// all.
    pub fn extend_timeout_on_progress(self, max: Duration) -> Self {
        self.map_call(|call| call.extend_timeout_on_progress(max))
    }

    /// Sends this beside the parameters: a trace context, say, or what an
    /// extension wants.
    pub fn meta(self, meta: Meta) -> Self {
        self.map_call(|call| call.meta(meta))
    }

    /// Gives the call up when `signal` is ready, and tells the server so.
    pub fn cancel_on(self, signal: impl Future<Output = ()> + Send + 'a) -> Self {
        self.map_call(|call| call.cancel_on(signal))
    }

    /// Changes how the call is made, in ways that all calls share.
    pub fn map_call(
        mut self,
        change: impl FnOnce(Call<'a, CallToolResult>) -> Call<'a, CallToolResult>,
    ) -> Self {
        self.call = change(self.call);
        self
    }

    /// Makes the call, and gives the server's questions back instead of asking
    /// the host, so that they can be answered later or elsewhere.
    ///
    /// On revisions in which servers ask while the call is open, this is an
    /// ordinary call.
    ///
    /// # Errors
    ///
    /// As for any call.
    pub async fn suspend_on_input(self) -> Result<ToolCallOutcome, Error> {
        let (client, members) = (self.call.client(), self.call.members());
        let outcome = self.call.return_input_requests().outcome().await?;
        suspended_call::decode_outcome(client, &members, outcome)
    }

    /// Makes the call and decodes its structured result; where there is none,
    /// its text, as JSON.
    ///
    /// # Errors
    ///
    /// As for any call; also where the tool failed, or its result does not
    /// have the shape of `T`.
    pub async fn into_typed<T: DeserializeOwned>(self) -> Result<T, Error> {
        let result = self.await?.into_result()?;
        let json = match &result.structured_content {
            Some(value) => value.get().to_owned(),
            None => result.all_text(),
        };
        crate::proto::jsonrpc::decode(json.as_bytes())
            .map_err(|error| Error::decode(method::TOOLS_CALL, error))
    }
}

impl<'a> IntoFuture for CallTool<'a> {
    type Output = Result<CallToolResult, Error>;
    type IntoFuture = CallFuture<'a, CallToolResult>;

    fn into_future(self) -> Self::IntoFuture {
        self.call.into_future()
    }
}
