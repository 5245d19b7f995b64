//! A server and a client on rmcp, over stdio and HTTP, as its documentation
//! shows them: `serve`, `serve <address>`, `call <url>`, `call <program>`.

use rmcp::{
    RoleClient, ServiceExt as _,
    handler::server::wrapper::Parameters,
    model::CallToolRequestParams,
    service::RunningService,
    tool, tool_router,
    transport::{
        ConfigureCommandExt as _, StreamableHttpClientTransport, TokioChildProcess, stdio,
        streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager},
    },
};
use tokio::process::Command;

type Failure = Box<dyn std::error::Error>;

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Say {
    message: String,
}

#[derive(Clone)]
struct Echo;

#[tool_router(server_handler)]
impl Echo {
    #[tool(description = "Says it again")]
    fn echo(&self, Parameters(Say { message }): Parameters<Say>) -> String {
        message
    }
}

#[tokio::main]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["serve"] => {
            Echo.serve(stdio()).await?.waiting().await?;
        }
        ["serve", address] => serve_http(address).await?,
        ["call", url] if url.starts_with("http") => {
            let transport = StreamableHttpClientTransport::from_uri(url);
            call(().serve(transport).await?).await?;
        }
        ["call", program] => {
            let command = Command::new(program).configure(|command| {
                command.arg("serve");
            });
            call(().serve(TokioChildProcess::new(command)?).await?).await?;
        }
        _ => return Err("serve [address], or call <url or program>".into()),
    }
    Ok(())
}

async fn serve_http(address: &str) -> Result<(), Failure> {
    let sessions = LocalSessionManager::default();
    let service = StreamableHttpService::new(|| Ok(Echo), sessions.into(), Default::default());
    let router = axum::Router::new().nest_service("/mcp", service);
    let listener = tokio::net::TcpListener::bind(address).await?;
    axum::serve(listener, router).await?;
    Ok(())
}

async fn call(client: RunningService<RoleClient, ()>) -> Result<(), Failure> {
    let arguments = serde_json::json!({"message": "hi"});
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    let result = client
        .call_tool(CallToolRequestParams::new("echo").with_arguments(arguments))
        .await?;
    println!("{:?}", result.content);
    client.cancel().await?;
    Ok(())
}
