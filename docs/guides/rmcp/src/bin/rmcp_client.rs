//! A client, with rmcp.

use rmcp::{
    ServiceExt as _,
    model::CallToolRequestParams,
    object,
    transport::{ConfigureCommandExt as _, TokioChildProcess},
};
use tokio::process::Command;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let command = Command::new("npx").configure(|command| {
        command.args(["-y", "@modelcontextprotocol/server-everything"]);
    });
    let client = ().serve(TokioChildProcess::new(command)?).await?;

    for tool in client.list_all_tools().await? {
        println!("{}", tool.name);
    }
    let params = CallToolRequestParams::new("echo").with_arguments(object!({"message": "hi"}));
    let result = client.call_tool(params).await?;
    println!("{:?}", result.content);

    client.cancel().await?;
    Ok(())
}
