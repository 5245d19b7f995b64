//! Validation of structured results against published output schemas.

use bowline_schema::Validator;
use tokio::sync::Mutex;

use super::TestError;
use crate::{
    client::Client,
    proto::{
        jsonrpc::RawJson,
        model::{CallToolResult, Tool},
    },
};

/// The tools that a server publishes, as far as they were listed.
#[derive(Default)]
pub(super) struct PublishedTools(Mutex<Vec<Tool>>);

impl PublishedTools {
    /// Checks the result of a tool. A failed tool may return anything.
    ///
    /// # Errors
    ///
    /// Returns an error if it does not match the tool's output schema.
    pub(super) async fn check(
        &self,
        client: &Client,
        tool: &str,
        result: &CallToolResult,
    ) -> Result<(), TestError> {
        if result.is_error() {
            return Ok(());
        }
        let Some(schema) = self.schema(client, tool).await? else {
            return Ok(());
        };
        let invalid = |reason: String| TestError::InvalidOutput {
            tool: tool.to_owned(),
            reason,
        };
        let Some(value) = &result.structured_content else {
            return Err(invalid("the structured content is missing".to_owned()));
        };
        let schema = schema
            .decode()
            .map_err(|error| invalid(error.to_string()))?;
        let value = value.decode().map_err(|error| invalid(error.to_string()))?;
        let validator = Validator::new(&schema).map_err(|error| invalid(error.to_string()))?;
        match validator.errors(&value).first() {
            Some(first_error) => Err(invalid(format!(
                "at {:?}: {}",
                first_error.pointer, first_error.message
            ))),
            None => Ok(()),
        }
    }

    async fn schema(&self, client: &Client, name: &str) -> Result<Option<RawJson>, TestError> {
        let mut tools = self.0.lock().await;
        let find = |tools: &[Tool]| tools.iter().find(|tool| tool.name == name).cloned();
        if find(&tools).is_none() {
            // Tools may have been added since.
            *tools = client.tools().list().await?;
        }
        Ok(find(&tools).and_then(|tool| tool.output_schema))
    }
}
