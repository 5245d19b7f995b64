//! What the builder makes of a tool, and what it refuses.

use bowline::{
    proto::model::{Icon, ToolAnnotations},
    server::{CallLimits, ClientCapability, Conversation, Json, Server, Tool, form::Elicit},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Deserialize, JsonSchema)]
struct Place {
    /// Where.
    city: String,
    days: Option<u8>,
}

#[derive(Serialize, JsonSchema)]
struct Forecast {
    rain: bool,
}

#[derive(Elicit)]
#[elicit(key = "place")]
struct Where {
    city: String,
}

fn definition(tool: &Tool) -> Value {
    serde_json::to_value(tool.definition()).expect("JSON")
}

#[test]
fn what_is_said_is_what_clients_are_told() {
    let tool: Tool = Tool::new("weather")
        .title("The weather")
        .input::<Place>()
        .annotations(ToolAnnotations::default())
        .read_only()
        .idempotent()
        .destructive(false)
        .open_world(true)
        .icon(Icon::new("https://example.com/sun.png"))
        .requires([ClientCapability::Elicitation])
        .requires([ClientCapability::Roots])
        .limits(CallLimits::new().max_questions(1))
        .description("Tells the weather")
        .handler(async |place| {
            let rain = place.city == "Bergen" && place.days != Some(0);
            Ok(Json(Forecast { rain }))
        });
    let expected = json!({
        "name": "weather",
        "title": "The weather",
        "description": "Tells the weather",
        "icons": [{"src": "https://example.com/sun.png"}],
        "annotations": {
            "readOnlyHint": true,
            "idempotentHint": true,
            "destructiveHint": false,
            "openWorldHint": true,
        },
        "inputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Place",
            "type": "object",
            "properties": {
                "city": {"type": "string", "description": "Where."},
                "days": {"type": ["integer", "null"], "minimum": 0, "maximum": 255},
            },
            "required": ["city"],
        },
        "outputSchema": {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": "Forecast",
            "type": "object",
            "properties": {"rain": {"type": "boolean"}},
            "required": ["rain"],
        },
    });
    assert_eq!(definition(&tool), expected);
    let needs: Vec<ClientCapability> = tool.required_capabilities().collect();
    assert_eq!(
        needs,
        [ClientCapability::Elicitation, ClientCapability::Roots]
    );
    assert_eq!(tool.limits().max_questions, 1);
}

#[test]
fn no_input_lets_nothing_in() {
    let tool: Tool = Tool::new("now")
        .description("Tells the time")
        .no_input()
        .handler(async |_| Ok("late"));
    let schema = &definition(&tool)["inputSchema"];
    assert_eq!(schema["type"], "object");
    assert_eq!(schema["additionalProperties"], false);
}

#[track_caller]
fn check_refused(tool: Tool, why: &str) {
    let built = Server::new("test", "1").tool(tool).build();
    let error = built.err().map(|error| error.to_string());
    assert_eq!(error.as_deref(), Some(why));
}

#[test]
fn what_the_compiler_cannot_see_is_refused_when_the_server_is_built() {
    let named = |name: &str| -> Tool {
        let draft = Tool::new(name).description("Says hello").no_input();
        draft.handler(async |_| Ok("Hello!"))
    };
    let name = "its name must be 1 to 128 letters, digits, `_`, `-` or `.`";
    let refusal = |tool: &str, why: &str| format!("the tool {tool:?} cannot be served: {why}");
    check_refused(named("say hello"), &refusal("say hello", name));
    check_refused(named(""), &refusal("", name));
    let long = "a".repeat(129);
    check_refused(named(&long), &refusal(&long, name));

    let list: Tool = Tool::new("sum")
        .description("Adds numbers")
        .input::<Vec<i64>>()
        .handler(async |numbers| Ok(numbers.iter().sum::<i64>().to_string()));
    let object = "the input must be an object: use a struct with named fields";
    check_refused(list, &refusal("sum", object));

    let twice: Tool = Tool::new("ask")
        .description("Asks")
        .no_input()
        .elicits::<Where>()
        .elicits::<Where>()
        .handler_with_conversation(async |_, cx: Conversation| {
            let place = cx.elicit::<Where>("Where?").required().await?;
            Ok(place.city)
        });
    let keys = "two of its forms have the key \"place\"";
    check_refused(twice, &refusal("ask", keys));
}
