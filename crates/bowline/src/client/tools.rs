//! Listing and calling tools.

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
    /// Lists all tools, from all pages. Fails if the server does not declare the `tools`
    /// capability, a page cannot be fetched, or the list exceeds a limit.
    pub fn list(self) -> List<'a, Tool> {
        List::new::<ListToolsParams>(self.client)
    }

    /// Calls a tool.
    ///
    /// If the tool itself fails, the call succeeds and the failure is part of the
    /// result. [`CallToolResult::into_result`] turns such a result into an error, and so
    /// does [`ToolCall::into_typed`], which also decodes the result.
    pub fn call<A: Serialize>(self, name: &str, arguments: A) -> ToolCall<'a> {
        ToolCall {
            call: Call::new(self.client, method::TOOLS_CALL, request(name, &arguments)),
        }
    }
}

impl<'a> Tools<'a> {
    /// Resumes a suspended call with the answers to all of its questions. The server
    /// may have further questions.
    pub fn resume(self, suspended: SuspendedCall, answers: &InputResponses) -> ToolCall<'a> {
        let request = suspended.into_request(answers);
        ToolCall {
            call: Call::new(self.client, method::TOOLS_CALL, request),
        }
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

/// A tool call that has not been sent yet. Set its options, then await it.
#[must_use = "a call is only sent when it is awaited"]
pub struct ToolCall<'a> {
    call: Call<'a, CallToolResult>,
}

impl<'a> ToolCall<'a> {
    /// Sets how long the server may take to respond: 30 s by default, see
    /// [`Timeouts`](crate::Timeouts). This timeout is paused while the server's questions
    /// are being answered; [`Timeouts::input`](crate::Timeouts::input) applies instead.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.call = self.call.timeout(timeout);
        self
    }

    /// Waits for the connection if it is down, within the call's timeout. Without
    /// this, a call made while the connection is down fails immediately.
    pub fn wait_for_connection(self) -> Self {
        self.map_call(Call::wait_for_connection)
    }

    /// Sends the call again if the connection is lost before the response arrives. Use
    /// this only for tools that are safe to call twice.
    ///
    /// This has no effect on a call that is bound to a session: with
    /// [`in_session`](Self::in_session), with
    /// [`mode(ToolMode::Stateful)`](Self::mode), or because the server declared the tool
    /// stateful. (Over HTTP in revision 2026-07-28 there are no sessions, so the server's
    /// declaration does not bind a call.) A call without a declared mode can be sent
    /// again.
    pub fn retry_on_disconnect(self) -> Self {
        self.map_call(Call::retry_on_disconnect)
    }

    /// Sets whether the call depends on state that the server keeps for the session,
    /// overriding what the server declared for this tool. See [`Call::mode`].
    pub fn mode(self, mode: ToolMode) -> Self {
        self.map_call(|call| call.mode(mode))
    }

    /// Binds the call to a session. If another session is open by then, or none, the call
    /// fails and nothing is sent. See [`Client::session`].
    pub fn in_session(self, session: SessionNumber) -> Self {
        self.map_call(|call| call.in_session(session))
    }

    /// Sends the progress reports of the call to a [channel](super::progress_channel),
    /// which is closed when the call ends.
    pub fn progress_to(self, sender: ProgressSender) -> Self {
        self.map_call(|call| call.progress_to(sender))
    }

    /// Restarts the timeout on every progress report, up to a total of `max`.
    pub fn extend_timeout_on_progress(self, max: Duration) -> Self {
        self.map_call(|call| call.extend_timeout_on_progress(max))
    }

    /// Sets the `_meta` of the request: a trace context, for example, or data for an
    /// extension.
    pub fn meta(self, meta: Meta) -> Self {
        self.map_call(|call| call.meta(meta))
    }

    /// Cancels the call when `signal` completes, and notifies the server.
    pub fn cancel_on(self, signal: impl Future<Output = ()> + Send + 'a) -> Self {
        self.map_call(|call| call.cancel_on(signal))
    }

    /// Applies a change to the underlying [`Call`], for options that have no method here.
    pub fn map_call(
        mut self,
        change: impl FnOnce(Call<'a, CallToolResult>) -> Call<'a, CallToolResult>,
    ) -> Self {
        self.call = change(self.call);
        self
    }

    /// Sends the call and, if the server has questions, returns them instead of passing
    /// them to the handlers set on [`ClientBuilder`](super::ClientBuilder). They can then
    /// be answered later, or by another process, with [`Tools::resume`].
    ///
    /// This works in revision 2026-07-28. In earlier revisions servers ask while the call
    /// is open, so questions still go to the handlers, and the call ends with its result.
    ///
    /// # Errors
    ///
    /// Returns the same errors as any call.
    pub async fn suspend_on_input(self) -> Result<ToolCallOutcome, Error> {
        let (client, members) = (self.call.client(), self.call.members());
        let outcome = self.call.return_input_requests().outcome().await?;
        suspended_call::decode_outcome(client, &members, outcome)
    }

    /// Sends the call and decodes its structured result, or its text as JSON if there
    /// is no structured result.
    ///
    /// # Errors
    ///
    /// Returns the same errors as any call, and an error if the tool failed or its result
    /// does not deserialize to `T`.
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

impl<'a> IntoFuture for ToolCall<'a> {
    type Output = Result<CallToolResult, Error>;
    type IntoFuture = CallFuture<'a, CallToolResult>;

    fn into_future(self) -> Self::IntoFuture {
        self.call.into_future()
    }
}
