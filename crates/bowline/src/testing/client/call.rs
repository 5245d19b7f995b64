//! Calling what a server offers, until it ends or the test made a mistake.

use std::future::{Future, IntoFuture as _};

use serde::Serialize;

use super::{CallOutcome, TestClient, TestError};
use crate::{
    client::{Call, Client, progress_channel},
    proto::{
        jsonrpc::RawJson,
        model::{CallToolResult, GetPromptResult, ReadResourceResult, ResultObject},
        revision::Era,
    },
};

impl TestClient {
    /// Calls a tool. A structured result must be what the tool publishes.
    ///
    /// # Panics
    ///
    /// Where the arguments cannot be written as JSON.
    pub async fn call(&self, tool: &str, arguments: impl Serialize) -> CallOutcome {
        let arguments = match RawJson::encode(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => panic!("the arguments cannot be written as JSON: {error}"),
        };
        let start = self.recorder.position();
        let result = self.try_call(tool, &arguments).await;
        CallOutcome::new(result, self.recorder.since(start))
    }

    async fn try_call(&self, tool: &str, arguments: &RawJson) -> Result<CallToolResult, TestError> {
        let connected = self.connected().await?;
        let result = match self.settings.revision.era() {
            Era::Stateless => self.call_by_rounds(connected, tool, arguments).await,
            Era::Handshake => {
                let call = connected.clients[0].tools().call(tool, arguments);
                self.or_test_error(
                    call.map_call(|call| self.with_call_options(call))
                        .into_future(),
                )
                .await
            }
        }?;
        let published = &connected.published;
        published
            .check(&connected.clients[0], tool, &result)
            .await?;
        Ok(result)
    }

    /// Reads a resource.
    ///
    /// # Errors
    ///
    /// Where the server refuses, or asks what the test does not answer.
    pub async fn read(&self, uri: &str) -> Result<ReadResourceResult, TestError> {
        let connected = self.connected().await?;
        let call = connected.clients[0].resources().read(uri);
        self.or_test_error(self.with_call_options(call).into_future())
            .await
    }

    /// Gets a prompt.
    ///
    /// # Errors
    ///
    /// Where the server refuses, or asks what the test does not answer.
    pub async fn prompt<K: Into<String>, V: Into<String>>(
        &self,
        name: &str,
        arguments: impl IntoIterator<Item = (K, V)>,
    ) -> Result<GetPromptResult, TestError> {
        let connected = self.connected().await?;
        let call = connected.clients[0].prompts().get(name, arguments);
        self.or_test_error(self.with_call_options(call).into_future())
            .await
    }

    /// The client itself, for all else that clients do.
    ///
    /// # Errors
    ///
    /// Where it does not connect.
    pub async fn client(&self) -> Result<&Client, TestError> {
        Ok(&self.connected().await?.clients[0])
    }

    /// Gives a call the time that it has, and asks for progress.
    pub(super) fn with_call_options<'a, R: ResultObject>(&self, call: Call<'a, R>) -> Call<'a, R> {
        // The record sees it on its way; nobody else listens.
        let (progress, _) = progress_channel();
        call.timeout(self.settings.timeout).on_progress(progress)
    }

    /// The end of a call, unless the test made a mistake before it.
    async fn or_test_error<T>(
        &self,
        call: impl Future<Output = Result<T, crate::Error>>,
    ) -> Result<T, TestError> {
        tokio::select! {
            biased;
            error = self.answers.wait_error() => Err(error),
            result = call => Ok(result?),
        }
    }
}
