//! The messages that hosts in the field exchange, as they stand.

use bowline_proto::{
    jsonrpc::ErrorObject,
    model::{
        CallToolParams, CallToolResult, InitializeParams, InitializeResult, ListResourcesParams,
        ListResourcesResult, ListToolsParams, ListToolsResult, ReadResourceParams,
        ReadResourceResult, Request, ResourceNotFoundData, ResultObject, decode_params,
    },
};
use serde_json::Value;

const CONTRACT: &str = include_str!("../../fixtures/host-contract.json");

/// Decodes an exchange to its types and checks that both encode to the same.
fn exchange<P: Request>(name: &str) -> (P, P::Result) {
    let (request, response) = messages(name);
    assert_eq!(request["method"], P::METHOD);
    let params = params(&request);
    let result = &response["result"];
    let decoded = P::Result::decode(result.to_string().as_bytes()).expect("the result decodes");
    let encoded = serde_json::to_value(&decoded).expect("the result encodes");
    assert_eq!(&encoded, result, "{name}");
    (params, decoded)
}

fn params<P: Request>(request: &Value) -> P {
    let wire = request.get("params").map(Value::to_string);
    let params: P = decode_params(wire.as_ref().map(String::as_bytes)).expect("the params decode");
    let encoded = serde_json::to_value(&params).expect("the params encode");
    let empty = Value::Object(serde_json::Map::new());
    assert_eq!(&encoded, request.get("params").unwrap_or(&empty));
    params
}

fn messages(name: &str) -> (Value, Value) {
    let contract: Value = serde_json::from_str(CONTRACT).expect("the contract is JSON");
    let exchange = &contract[name];
    assert!(exchange.is_object(), "{name} is in the contract");
    (exchange["request"].clone(), exchange["response"].clone())
}

#[test]
fn the_handshake() {
    let (params, result): (InitializeParams, InitializeResult) = exchange("initialize");
    assert_eq!(params.protocol_version, "2024-11-05");
    assert!(params.capabilities.extra.is_empty() && !params.capabilities.has("roots"));
    assert!(result.capabilities.has("tools") && result.capabilities.has("resources"));
    assert!(!result.capabilities.has("prompts"));
}

#[test]
fn resources() {
    let (params, result): (ListResourcesParams, ListResourcesResult) =
        exchange("resources are listed without params");
    assert_eq!(params, ListResourcesParams::default());
    assert_eq!(result.resources[0].name, "Morning watch");
    let (_, result): (ReadResourceParams, ReadResourceResult) = exchange("a resource is read");
    assert_eq!(result.contents[0].text.as_deref(), Some("# Fog till nine"));
}

#[test]
fn a_missing_resource() {
    let (request, response) = messages("a resource is missing");
    let asked: ReadResourceParams = params(&request);
    let error: ErrorObject = serde_json::from_value(response["error"].clone()).unwrap();
    assert_eq!(error.code, -32000);
    let data: ResourceNotFoundData = error.data.unwrap().decode().unwrap();
    assert_eq!(data.uri, asked.uri);
}

#[test]
fn tools() {
    let (_, result): (ListToolsParams, ListToolsResult) =
        exchange("tools are listed, one without a schema");
    assert!(result.rejected.is_empty());
    assert_eq!(result.tools[1].input_schema, None);
    assert_eq!(
        result.tools[1].input_schema_or_empty().get(),
        r#"{"type":"object"}"#
    );
    let (_, result): (CallToolParams, CallToolResult) = exchange("a tool is called");
    assert!(!result.is_error());
    assert_eq!(result.content[0].as_text(), Some("Fog till nine"));
}
