//! Whether structured results are what tools publish.

use tokio::sync::Mutex;

use super::TestError;
use crate::{
    client::Client,
    proto::{
        jsonrpc::RawJson,
        model::{CallToolResult, Tool},
    },
    server::schema::Validator,
};

/// The tools that a server publishes, as far as they were looked at.
#[derive(Default)]
pub(super) struct Published(Mutex<Vec<Tool>>);

impl Published {
    /// Checks what a tool returned. A tool that failed may return anything.
    ///
    /// # Errors
    ///
    /// Where it is not what the tool publishes.
    pub(super) async fn check(
        &self,
        client: &Client,
        tool: &str,
        result: &CallToolResult,
    ) -> Result<(), TestError> {
        if result.failed() {
            return Ok(());
        }
        let Some(schema) = self.schema(client, tool).await? else {
            return Ok(());
        };
        let wrong = |why: String| TestError::WrongOutput {
            tool: tool.to_owned(),
            why,
        };
        let Some(value) = &result.structured_content else {
            return Err(wrong("there is no structured content".to_owned()));
        };
        let schema = schema.decode().map_err(|error| wrong(error.to_string()))?;
        let value = value.decode().map_err(|error| wrong(error.to_string()))?;
        let validator = Validator::new(&schema).map_err(wrong)?;
        match validator.faults(&value).first() {
            Some(fault) => Err(wrong(format!("at {:?}: {}", fault.place, fault.message))),
            None => Ok(()),
        }
    }

    async fn schema(&self, client: &Client, name: &str) -> Result<Option<RawJson>, TestError> {
        let mut tools = self.0.lock().await;
        let find = |tools: &[Tool]| tools.iter().find(|tool| tool.name == name).cloned();
        if find(&tools).is_none() {
            // Tools may have come since.
            *tools = client.tools().list().await?;
        }
        Ok(find(&tools).and_then(|tool| tool.output_schema))
    }
}
