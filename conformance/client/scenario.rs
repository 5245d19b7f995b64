//! What the client does in which scenario.

use bowline::{Client, proto::jsonrpc::RawJson};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::{Result, everything, setting::Setting};

/// Plays the client's part in a scenario.
pub async fn play(setting: &Setting) -> Result<()> {
    let client = setting.connect().await?;
    match setting.scenario.as_str() {
        // The servers of these offer nothing; they look at how one connects.
        "initialize" | "request-metadata" => {}
        "tools_call" => add_numbers(&client).await?,
        "elicitation-sep1034-client-defaults" => {
            call(&client, "test_client_elicitation_defaults").await?;
        }
        "sse-retry" => call(&client, "test_reconnection").await?,
        "json-schema-ref-no-deref" => drop(client.tools().list().await?),
        "sep-2322-client-request-state" => rounds(&client).await?,
        "http-standard-headers" => everything::use_all(&client).await?,
        "http-custom-headers" => calls_of(&client, &setting.context).await?,
        "http-invalid-tool-headers" => call_all(&client).await?,
        "json-schema-2020-12-preservation" => echo_schema(&client).await?,
        // All that is about signing in ends in a call.
        name if name.starts_with("auth/") => {
            client.tools().list().await?;
            call(&client, "test-tool").await?;
        }
        other => return Err(format!("there is nothing to do for {other}").into()),
    }
    client.stop().await;
    Ok(())
}

/// Calls a tool without arguments.
async fn call(client: &Client, tool: &str) -> Result<()> {
    client.tools().list().await?;
    client.tools().call(tool, json!({})).await?;
    Ok(())
}

async fn add_numbers(client: &Client) -> Result<()> {
    client.tools().list().await?;
    let sum = client.tools().call("add_numbers", json!({"a": 5, "b": 3}));
    sum.await?;
    Ok(())
}

/// Calls that end with questions, and one beside them that does not.
async fn rounds(client: &Client) -> Result<()> {
    client.tools().list().await?;
    let call = |tool| client.tools().call(tool, json!({})).into_future();
    tokio::try_join!(call("test_mrtr_echo_state"), call("test_mrtr_unrelated"))?;
    call("test_mrtr_no_state").await?;
    call("test_mrtr_no_result_type").await?;
    Ok(())
}

/// The calls that the scenario asks for, word by word.
async fn calls_of(client: &Client, context: &Value) -> Result<()> {
    #[derive(Deserialize)]
    struct Wanted {
        name: String,
        arguments: Map<String, Value>,
    }
    client.tools().list().await?;
    let wanted: Vec<Wanted> = Vec::deserialize(&context["toolCalls"])?;
    for call in wanted {
        client.tools().call(&call.name, call.arguments).await?;
    }
    Ok(())
}

/// Calls every tool that there is to call. Those whose schema is wrong are not
/// among them.
async fn call_all(client: &Client) -> Result<()> {
    for tool in client.tools().list().await? {
        let arguments = json!({"region": "us-west1"});
        client.tools().call(&tool.name, arguments).await?;
    }
    Ok(())
}

/// Sends a schema back as it came.
async fn echo_schema(client: &Client) -> Result<()> {
    #[derive(Serialize)]
    struct Echo {
        schema: RawJson,
    }
    let tools = client.tools().list().await?;
    let tool = tools
        .into_iter()
        .find(|tool| tool.name == "json_schema_2020_12_tool");
    let schema = tool.and_then(|tool| tool.input_schema);
    let schema = schema.ok_or("the tool with the schema is not there")?;
    client
        .tools()
        .call("json_schema_echo", Echo { schema })
        .await?;
    Ok(())
}
