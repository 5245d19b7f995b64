//! A server whose tools run as tasks, over standard streams.

use std::{error::Error, sync::Arc, time::Duration};

use rmcp::{
    ErrorData, ServerHandler, ServiceExt,
    model::*,
    service::{RequestContext, RoleServer},
    task_manager::{TaskContext, TaskExit, TaskManager, TaskOptions},
    transport::stdio,
};
use serde_json::json;

#[derive(Clone)]
struct Server {
    tasks: TaskManager,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let tasks = TaskManager::new();
    let service = Server { tasks }.serve(stdio()).await?;
    service.waiting().await?;
    Ok(())
}

/// What the tools do, each by its name.
async fn work(tool: String, context: TaskContext) -> Result<CallToolResult, TaskExit> {
    match tool.as_str() {
        "hello" => Ok(text("Hello!")),
        "name" => {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}});
            let question = json!({
                "method": "elicitation/create",
                "params": {"mode": "form", "message": "Your name?", "requestedSchema": schema},
            });
            let question = serde_json::from_value(question).map_err(|error| {
                TaskExit::Error(ErrorData::internal_error(error.to_string(), None))
            })?;
            let answer = context.request_input("name", question).await?;
            Ok(text(format!(
                "Hello, {}!",
                answer["content"]["name"].as_str().unwrap_or("?")
            )))
        }
        "fails" => Err(TaskExit::Error(ErrorData::internal_error("no paper", None))),
        _ => {
            tokio::select! {
                () = context.cancelled() => Err(TaskExit::Cancelled),
                () = tokio::time::sleep(Duration::from_secs(3600)) => Ok(text("late")),
            }
        }
    }
}

fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text.into())])
}

impl ServerHandler for Server {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = Arc::new(JsonObject::from_iter([(
            "type".to_owned(),
            json!("object"),
        )]));
        let tool = |name: &'static str| Tool::new(name, "A test", Arc::clone(&schema));
        Ok(ListToolsResult::with_all_items(
            ["hello", "name", "fails", "held"].map(tool).to_vec(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let options = TaskOptions::new().with_poll_interval_ms(20);
        let tool = request.name.to_string();
        let task = self
            .tasks
            .spawn(options, move |context| Box::pin(work(tool, context)));
        Ok(CallToolResponse::Task(CreateTaskResult::new(task)))
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        Ok(GetTaskResult::new(self.tasks.get_task(&request.task_id)?))
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks
            .update_task(&request.task_id, request.input_responses)
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.tasks.cancel_task(&request.task_id)
    }

    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().enable_tasks();
        ServerConfig::new(capabilities.build())
    }
}
