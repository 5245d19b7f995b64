//! `#[tool]` says what the builder says, and no more.

use std::{
    sync::{Mutex, MutexGuard},
    time::Duration,
};

use bowline::{
    Client,
    proto::{
        jsonrpc::{ErrorObject, RawJson},
        model::{ElicitParams, ElicitResult},
        revision::Revision,
    },
    server::{
        CallLimits, ClientCapability, Conversation, HandlerContext, Json, Result, Server, Service,
        Tool, form::Elicit, tool,
    },
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The state of the server.
#[derive(Default)]
struct App {
    booked: Mutex<Vec<String>>,
}

impl App {
    fn booked(&self) -> MutexGuard<'_, Vec<String>> {
        self.booked.lock().expect("nobody panics amid it")
    }
}

#[derive(Clone, Deserialize, JsonSchema)]
struct Trip {
    /// Where to.
    city: String,
}

#[derive(Elicit)]
#[elicit(key = "seat")]
struct Seat {
    row: u8,
}

/// Adds two numbers.
#[tool]
async fn add(
    /// The first number.
    a: i64,
    b: Option<i64>,
) -> Result<Json<i64>> {
    Ok(Json(a + b.unwrap_or_default()))
}

#[tool(
    name = "book",
    title = "Book a flight",
    read_only,
    idempotent,
    destructive = false,
    open_world = false,
    requires(elicitation, sampling),
    elicits(Seat),
    scope("flights:read", "flights:book"),
    limits(
        max_questions = 10,
        timeout_ms = 5000,
        max_tokens = 1000,
        max_depth = 2
    )
)]
/// Books a flight.
///
/// - asks for the seat
/// - remembers it
async fn book_flight(#[input] Trip { city }: Trip, cx: Conversation<App>) -> Result<String> {
    let seat = cx.elicit::<Seat>("Which seat?").required().await?;
    let booked = format!("{city}, row {}", seat.row);
    cx.state().booked().push(booked.clone());
    Ok(booked)
}

/// Looks something up.
#[tool]
async fn look_up(
    #[header("Region")] region: String,
    /// How many at most.
    #[schemars(range(min = 1))]
    #[serde(default, rename = "max")]
    mut limit: u32,
    #[schemars(with = "String")] r#type: Value,
    cx: HandlerContext<App>,
) -> Result<String> {
    limit += 1;
    let booked = cx.state().booked().len();
    Ok(format!("{region} {limit} {} {booked}", r#type))
}

/// Asks, and needs no state for it.
#[tool]
async fn sure(cx: Conversation) -> Result<&'static str> {
    cx.confirm("Sure?").await?;
    Ok("sure")
}

/// Who calls.
#[tool]
async fn whose(cx: HandlerContext) -> Result<String> {
    Ok(cx.name().to_owned())
}

/// A tool for others.
mod elsewhere {
    use bowline::server::{Result, tool};

    /// Says hello.
    #[tool]
    pub(super) async fn hello() -> Result<&'static str> {
        Ok("Hello!")
    }
}

fn definition<S>(tool: &Tool<S>) -> Value {
    serde_json::to_value(tool.definition()).expect("JSON")
}

/// The same definition, needs, scopes and limits.
#[track_caller]
fn check<S>(made: &Tool<S>, built: &Tool<S>) {
    assert_eq!(definition(made), definition(built));
    assert_eq!(made.limits(), built.limits());
    let needs = |tool: &Tool<S>| tool.required_capabilities().collect::<Vec<_>>();
    assert_eq!(needs(made), needs(built));
    let scopes = |tool: &Tool<S>| tool.scopes().map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(scopes(made), scopes(built));
}

#[test]
fn arguments_become_an_input() {
    #[derive(Deserialize, JsonSchema)]
    struct Add {
        /// The first number.
        a: i64,
        b: Option<i64>,
    }
    let built: Tool = Tool::new("add")
        .description("Adds two numbers.")
        .input::<Add>()
        .handler(async |sum| add(sum.a, sum.b).await);
    check(&add::tool(), &built);
    let schema = &definition(&built)["inputSchema"];
    assert_eq!(schema["required"], json!(["a"]));
    assert_eq!(
        schema["properties"]["a"]["description"],
        "The first number."
    );
}

#[test]
fn options_become_calls() {
    let built: Tool<App> = Tool::new("book")
        .description("Books a flight.\n\n- asks for the seat\n- remembers it")
        .title("Book a flight")
        .read_only()
        .idempotent()
        .destructive(false)
        .open_world(false)
        .requires([ClientCapability::Elicitation, ClientCapability::Sampling])
        .elicits::<Seat>()
        .scope("flights:read")
        .scope("flights:book")
        .limits(
            CallLimits::new()
                .max_questions(10)
                .timeout(Duration::from_millis(5000))
                .max_tokens(1000)
                .max_depth(2),
        )
        .input::<Trip>()
        .handler_with_conversation(book_flight);
    check(&book_flight::tool(), &built);
}

#[test]
fn one_scope_needs_no_list() {
    /// Reads.
    #[tool(scope = "notes:read")]
    async fn read() -> Result<&'static str> {
        Ok("read")
    }
    let tool: Tool = read::tool();
    assert_eq!(tool.scopes().collect::<Vec<_>>(), ["notes:read"]);
}

#[test]
fn attributes_of_parameters_become_those_of_fields() {
    #[derive(Deserialize, JsonSchema)]
    struct LookUp {
        #[schemars(extend("x-mcp-header" = "Region"))]
        region: String,
        /// How many at most.
        #[schemars(range(min = 1))]
        #[serde(default, rename = "max")]
        limit: u32,
        #[schemars(with = "String")]
        r#type: Value,
    }
    let built: Tool<App> = Tool::new("look_up")
        .description("Looks something up.")
        .input::<LookUp>()
        .handler_with_context(async |input, cx: HandlerContext<App>| {
            look_up(input.region, input.limit, input.r#type, cx).await
        });
    check(&look_up::tool(), &built);
    let properties = &definition(&built)["inputSchema"]["properties"];
    assert_eq!(properties["region"]["x-mcp-header"], "Region");
    assert_eq!(properties["max"]["default"], 0);
    assert_eq!(properties["type"]["type"], "string");
}

#[test]
fn no_arguments_are_no_input() {
    let built: Tool = Tool::new("sure")
        .description("Asks, and needs no state for it.")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| sure(cx).await);
    check(&sure::tool(), &built);
}

fn service() -> Service<App> {
    Server::new("travel", "1")
        .state(App::default())
        .tool(add::tool())
        .tool(book_flight::tool())
        .tool(look_up::tool())
        .tool(sure::tool())
        .tool(whose::tool())
        .tool(elsewhere::hello::tool())
        .build()
        .expect("the server is sound")
}

async fn client(service: &Service<App>, revision: Revision) -> Client {
    let answer = |params: ElicitParams| async move {
        let answer = match params.message.as_str() {
            "Sure?" => json!({"confirmed": true}),
            _ => json!({"row": 7}),
        };
        ElicitResult::accept(RawJson::encode(&answer).expect("JSON"))
    };
    Client::builder()
        .revisions([revision])
        .on_elicit(answer)
        .on_sample(|_| async { Err(ErrorObject::new(-1, "no model")) })
        .connect(service.in_memory())
        .await
        .expect("it connects")
}

#[tokio::test]
async fn tools_of_functions_run() {
    let service = service();
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let client = client(&service, revision).await;
        for (name, arguments, expected) in [
            ("add", json!({"a": 1, "b": 2}), "3"),
            ("add", json!({"a": 1}), "1"),
            ("book", json!({"city": "Lisbon"}), "Lisbon, row 7"),
            ("sure", json!({}), "sure"),
            ("whose", json!({}), "whose"),
            ("hello", json!({}), "Hello!"),
        ] {
            let result = client.tools().call(name, arguments).await.unwrap();
            assert_eq!(result.all_text(), expected, "{name} in {revision}");
            assert!(!result.is_error(), "{name} in {revision}");
        }
    }
    let client = client(&service, Revision::V2026_07_28).await;
    let arguments = json!({"region": "north", "max": 2, "type": "x"});
    let result = client.tools().call("look_up", arguments).await.unwrap();
    assert_eq!(result.all_text(), "north 3 \"x\" 2");
    let result = client.tools().call("add", json!({"a": "1"})).await.unwrap();
    assert!(result.is_error());
}

#[tokio::test]
async fn functions_stay_functions() {
    assert_eq!(add(1, Some(2)).await.unwrap(), Json(3));
    assert_eq!(elsewhere::hello().await.unwrap(), "Hello!");
}

#[tokio::test]
async fn tools_may_stand_inside_of_functions() {
    #[derive(Deserialize, JsonSchema)]
    struct Input {
        word: String,
    }

    // The names are those that the code of the macro could use itself.
    /// Repeats a word.
    #[tool]
    async fn input(input: Input, tool: u32, cx: Vec<S>) -> Result<String> {
        Ok(format!("{} {tool} {}", input.word, cx.len()))
    }

    #[derive(Deserialize, JsonSchema)]
    struct S {}

    let service = Server::new("local", "1").tool(input::tool()).build();
    let client = Client::builder()
        .connect(service.expect("the server is sound").in_memory())
        .await
        .expect("it connects");
    let arguments = json!({"input": {"word": "again"}, "tool": 2, "cx": [{}]});
    let result = client.tools().call("input", arguments).await.unwrap();
    assert_eq!(result.all_text(), "again 2 1");
}
