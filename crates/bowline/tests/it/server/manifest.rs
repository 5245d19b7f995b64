//! Manifests: what a server says of itself without a connection.

use bowline::{
    proto::{model::Meta, revision::Revision},
    server::{ClientCapability, Json, Server, Service, Tool, form::Elicit},
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Serialize, Deserialize, JsonSchema)]
struct Trip {
    city: String,
}

#[derive(Elicit)]
#[expect(dead_code, reason = "only their forms are looked at")]
#[elicit(key = "seat")]
struct Seat {
    /// Which row?
    row: u8,
}

#[derive(Elicit)]
#[expect(dead_code, reason = "only their forms are looked at")]
#[elicit(key = "meal")]
struct Meal {
    vegan: bool,
}

fn server() -> Server {
    let book = Tool::new("book")
        .description("Books a trip")
        .input::<Trip>()
        .requires([ClientCapability::Sampling, ClientCapability::Elicitation])
        .scope("trips:book")
        .elicits::<Seat>()
        .elicits::<Meal>()
        .meta({
            let mut meta = Meta::new();
            meta.set_traceparent("kept");
            meta
        })
        .handler(async |trip| Ok(Json(trip)));
    let plain = Tool::new("a_plain_one")
        .description("Does little")
        .no_input()
        .handler(async |_| Ok("done"));
    Server::new("travel", "1.2.0").tool(book).tool(plain)
}

fn manifest(service: &Service) -> Value {
    serde_json::to_value(service.manifest()).expect("it is JSON")
}

#[test]
fn a_manifest_names_the_server_and_how_to_reach_it() {
    let service = server().build().expect("the server is sound");
    let written = manifest(&service);
    assert_eq!(written["version"], "1.0");
    assert_eq!(
        written["server"],
        json!({"name": "travel", "version": "1.2.0"})
    );
    let spoken = [
        "2026-07-28",
        "2025-11-25",
        "2025-06-18",
        "2025-03-26",
        "2024-11-05",
    ];
    assert_eq!(
        written["mcp"],
        json!({"endpoint": "/mcp", "protocolVersion": spoken[0], "protocolVersions": spoken})
    );
    let elsewhere = service.manifest().endpoint("https://example.com/tools");
    assert_eq!(elsewhere.mcp.endpoint, "https://example.com/tools");
    let described = server().description("Books trips").build().expect("sound");
    assert_eq!(manifest(&described)["server"]["description"], "Books trips");
}

#[test]
fn tools_say_what_they_require_and_which_forms_they_show() {
    let written = manifest(&server().build().expect("the server is sound"));
    let book = &written["tools"][0];
    assert_eq!(book["name"], "book");
    assert_eq!(book["inputSchema"]["required"], json!(["city"]));
    assert_eq!(book["outputSchema"]["required"], json!(["city"]));
    let meta = &book["_meta"];
    assert_eq!(meta["traceparent"], "kept");
    assert_eq!(
        meta["dev.bowline/requires"],
        json!(["elicitation.form", "sampling"])
    );
    assert_eq!(meta["dev.bowline/scopes"], json!(["trips:book"]));
    let forms = &meta["dev.bowline/elicits"];
    assert_eq!(forms["seat"]["properties"]["row"]["type"], "integer");
    assert_eq!(forms["seat"]["required"], json!(["row"]));
    assert_eq!(forms["meal"]["properties"]["vegan"]["type"], "boolean");
    assert_eq!(written["tools"][1]["name"], "a_plain_one");
    assert_eq!(written["tools"][1].get("_meta"), None);
}

#[test]
fn a_manifest_is_the_same_for_the_same_server() {
    let text = || {
        let service = server().build().expect("the server is sound");
        serde_json::to_string(&service.manifest()).expect("it is JSON")
    };
    assert_eq!(text(), text());
}

#[test]
fn tools_look_as_the_newest_revision_that_is_spoken_has_them() {
    let old = [Revision::V2024_11_05, Revision::V2025_03_26];
    let service = server().revisions(old).build().expect("sound");
    let written = manifest(&service);
    assert_eq!(written["mcp"]["protocolVersion"], "2025-03-26");
    assert_eq!(
        written["mcp"]["protocolVersions"],
        json!(["2025-03-26", "2024-11-05"])
    );
    assert_eq!(written["tools"][0].get("outputSchema"), None);
    assert!(
        written["tools"][0]["_meta"]
            .get("dev.bowline/requires")
            .is_some()
    );
}

#[test]
fn what_is_added_later_is_in_it() {
    let service = server().build().expect("the server is sound");
    let more = Tool::new("more").description("One more").no_input();
    let added = service.add_tool(more.handler(async |_| Ok("done")));
    added.expect("it has a name of its own");
    assert_eq!(manifest(&service)["tools"][2]["name"], "more");
}
