//! Calls of a test client, which end early if the test makes an error.

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
    /// Calls a tool. A structured result must match the tool's output schema.
    ///
    /// # Panics
    ///
    /// Panics if the arguments cannot be serialized as JSON.
    pub async fn call(&self, tool: &str, arguments: impl Serialize) -> CallOutcome {
        let arguments = match RawJson::encode(&arguments) {
            Ok(arguments) => arguments,
            Err(error) => panic!("the arguments cannot be serialized as JSON: {error}"),
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
    /// Returns an error if the server refuses, or asks a question without a
    /// prepared answer.
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
    /// Returns an error if the server refuses, or asks a question without a
    /// prepared answer.
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

    /// Returns the underlying client, for everything else that clients do.
    ///
    /// # Errors
    ///
    /// Returns an error if it fails to connect.
    pub async fn client(&self) -> Result<&Client, TestError> {
        Ok(&self.connected().await?.clients[0])
    }

    /// Sets the timeout of a call and requests progress.
    pub(super) fn with_call_options<'a, R: ResultObject>(&self, call: Call<'a, R>) -> Call<'a, R> {
        // The recorder sees the notifications; nothing else receives them.
        let (progress, _) = progress_channel();
        call.timeout(self.settings.timeout).progress_to(progress)
    }

    /// Returns the outcome of a call, or the test's error if that comes first.
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
