//! What the drivers do, against servers that nobody here wrote either: so that
//! a failure elsewhere in this folder is our server's.

use serde_json::{Value, json};

use super::rig::{Checked, Sdk, Server, is_well, received, sent, text};

fn methods(list: &Value) -> Vec<&str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(|entry| entry["method"].as_str()).collect()
}

#[tokio::test]
async fn live_questions_are_answered_from_the_queues() -> Checked {
    let server = Server::node("mcp-server-everything")?;
    let scenario = json!({
        "era": "handshake",
        "capabilities": {"elicitation": true, "sampling": true},
        "log": "warning",
        "elicit": [{"action": "accept", "content": {"name": "Ada", "integer": 7}}],
        "sample": ["a queued text"],
        "do": [
            {"call": "trigger-sampling-request", "arguments": {"prompt": "hi"}},
            {"call": "trigger-elicitation-request", "arguments": {}},
            {"call": "trigger-long-running-operation", "arguments": {"duration": 0.1, "steps": 2}},
            {"read": "demo://resource/dynamic/text/nothing"},
        ],
    });
    for sdk in Sdk::HANDSHAKE {
        let document = sdk.run_cleanly(&server, &scenario).await?;
        assert_eq!(document["version"], "2025-11-25", "{sdk:?}");
        assert!(text(&document, 0).contains("a queued text"), "{document:#}");
        assert!(
            document["done"][1].to_string().contains("Ada"),
            "{document:#}"
        );
        let asked = &document["asked"];
        let expected = ["sampling/createMessage", "elicitation/create"];
        assert_eq!(methods(asked), expected, "{sdk:?}");
        assert_eq!(asked[0]["params"]["maxTokens"], 100, "{sdk:?}");
        let form = &asked[1]["params"]["requestedSchema"];
        assert_eq!(form["required"], json!(["name"]), "{sdk:?}");
        let wire = received(&document, "elicitation/create");
        assert_eq!(wire[0]["params"]["message"], asked[1]["params"]["message"]);
        assert_eq!(received(&document, "notifications/progress").len(), 2);
        assert!(
            document["done"][3]["error"]["code"].is_i64(),
            "{document:#}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn rounds_of_the_stateless_era_are_driven_by_the_sdk() -> Checked {
    let server = Server::script("highlevel_server.py")?;
    let scenario = json!({
        "era": "stateless",
        "capabilities": {"elicitation": true, "sampling": true, "roots": ["file:///a"]},
        "elicit": [
            {"action": "accept", "content": {"row": 3, "window": false}},
            {"action": "accept", "content": {"agreed": true}},
        ],
        "sample": ["short"],
        "do": [
            {"list": "tools"},
            {"call": "book", "arguments": {"flight": "BA1"}},
            {"call": "survey", "arguments": {"text": "long"}},
        ],
    });
    for sdk in Sdk::STATELESS {
        let document = sdk.run_cleanly(&server, &scenario).await?;
        assert_eq!(document["version"], "2026-07-28", "{sdk:?}");
        assert_eq!(text(&document, 1), "BA1: row 3, aisle, agreed", "{sdk:?}");
        assert_eq!(text(&document, 2), "queued says short; roots: file:///a");
        let expected = [
            "elicitation/create",
            "elicitation/create",
            "sampling/createMessage",
            "roots/list",
        ];
        assert_eq!(methods(&document["asked"]), expected, "{sdk:?}");
        // Three rounds of one call, then two of the other.
        let calls = sent(&document, "tools/call");
        let rounds = calls.iter().map(|call| &call["params"]["name"]);
        let expected = ["book", "book", "book", "survey", "survey"];
        assert_eq!(rounds.collect::<Vec<_>>(), expected, "{sdk:?}");
        assert!(sent(&document, "initialize").is_empty(), "{sdk:?}");
        let served = document["processes"].as_array().and_then(|all| all.last());
        assert_eq!(served, Some(&json!({"code": 0, "signal": null})), "{sdk:?}");
    }
    Ok(())
}

#[tokio::test]
async fn what_a_server_tells_and_what_is_called_off_is_seen() -> Checked {
    let server = Server::script("highlevel_server.py")?;
    let scenario = json!({
        "era": "stateless",
        "log": "warning",
        "do": [
            {"list": "tools"},
            {"call": "chatter", "arguments": {}},
            {"subscribe": "note://today"},
            {"call": "write", "arguments": {"name": "today", "text": "tie knots"}},
            {"await": "notifications/resources/updated"},
            {"unsubscribe": "note://today"},
            {"listen": {"toolsListChanged": true}},
            {"call": "grow", "arguments": {"name": "late"}},
            {"await": "notifications/tools/list_changed"},
            {"call": "hang", "arguments": {}, "cancel_on": "progress"},
            {"together": [
                {"call": "await_cancellation", "arguments": {}},
                {"read": "note://today"},
                {"prompt": "greet", "arguments": {"name": "Ada"}},
                {"complete": {
                    "ref": {"type": "ref/prompt", "name": "greet"},
                    "argument": {"name": "manner", "value": "wo"},
                    "context": {"arguments": {"name": "Ada"}},
                }},
            ]},
        ],
    });
    for sdk in Sdk::STATELESS {
        let document = sdk.run_cleanly(&server, &scenario).await?;
        let told = methods(&document["notifications"]);
        let expected = [
            "notifications/message",
            "notifications/message",
            "notifications/resources/updated",
            "notifications/tools/list_changed",
        ];
        assert_eq!(told, expected, "{sdk:?}");
        let done = &document["done"];
        assert_eq!(done[4]["result"]["uri"], "note://today", "{sdk:?}");
        assert_eq!(done[9]["cancelled"], true, "{sdk:?}");
        let together = &done[10]["together"];
        let called_off = &together[0]["result"]["content"][0]["text"];
        assert_eq!(called_off, "a call was cancelled", "{sdk:?}");
        let contents = &together[1]["result"]["contents"];
        assert_eq!(contents[0]["text"], "tie knots", "{sdk:?}");
        let message = &together[2]["result"]["messages"][0];
        assert_eq!(message["content"]["text"], "Greet Ada warmly.", "{sdk:?}");
        let values = &together[3]["result"]["completion"]["values"];
        assert_eq!(*values, json!(["wordlessly", "wonderfully"]), "{sdk:?}");
    }
    Ok(())
}

#[tokio::test]
async fn over_http_the_same_is_seen() -> Checked {
    let seat = json!({"action": "accept", "content": {"row": 3, "window": true}});
    let consent = json!({"action": "accept", "content": {"agreed": true}});
    let scenario = json!({
        "capabilities": {"elicitation": true},
        "log": "warning",
        "elicit": [seat, consent],
        "do": [
            {"call": "book", "arguments": {"flight": "BA1"}},
            {"call": "count", "arguments": {"to": 3}},
            {"subscribe": "note://today"},
            {"call": "write", "arguments": {"text": "tie knots"}},
            {"await": "notifications/resources/updated"},
        ],
    });
    let server = Server::typescript_over_http().await?;
    let handshake = Sdk::HANDSHAKE.map(|sdk| (sdk, "handshake", "2025-11-25"));
    let stateless = Sdk::STATELESS.map(|sdk| (sdk, "stateless", "2026-07-28"));
    for (sdk, era, version) in handshake.into_iter().chain(stateless) {
        let mut scenario = scenario.clone();
        scenario["era"] = era.into();
        let document = sdk.run_cleanly(&server, &scenario).await?;
        assert_eq!(document["version"], version, "{sdk:?}");
        assert_eq!(text(&document, 0), "BA1: row 3, window, agreed", "{sdk:?}");
        let progress = received(&document, "notifications/progress");
        assert_eq!(progress.len(), 3, "{sdk:?} {era}");
        let expected = ["notifications/message", "notifications/resources/updated"];
        assert_eq!(
            methods(&document["notifications"]),
            expected,
            "{sdk:?} {era}"
        );
        let verbs = |verb: &str| {
            let exchanges = document["exchanges"].as_array().into_iter().flatten();
            exchanges
                .filter(|exchange| exchange["verb"] == verb && exchange["status"] == 200)
                .count()
        };
        let live = usize::from(era == "handshake");
        assert_eq!(
            (verbs("GET"), verbs("DELETE")),
            (live, live),
            "{sdk:?} {era}"
        );
        // A booking takes three rounds where each question ends one.
        let calls = sent(&document, "tools/call").len();
        assert_eq!(
            calls,
            if era == "handshake" { 3 } else { 5 },
            "{sdk:?} {era}"
        );
    }
    server.end().await
}

#[tokio::test]
async fn the_era_is_found_out_if_none_is_given() -> Checked {
    let old = Server::node("mcp-server-everything")?;
    let new = Server::script("highlevel_server.py")?;
    for sdk in Sdk::STATELESS {
        for (server, version) in [(&old, "2025-11-25"), (&new, "2026-07-28")] {
            let document = sdk.run_cleanly(server, &json!({"era": "auto"})).await?;
            assert_eq!(document["version"], version, "{sdk:?}");
            assert_eq!(sent(&document, "server/discover").len(), 1, "{sdk:?}");
        }
    }
    Ok(())
}

#[tokio::test]
async fn a_question_without_an_answer_is_a_fault() -> Checked {
    let server = Server::script("highlevel_server.py")?;
    let eras = [
        (Sdk::TypeScript1, "handshake"),
        (Sdk::TypeScript2, "stateless"),
        (Sdk::Python2, "stateless"),
    ];
    for (sdk, era) in eras {
        let scenario = json!({
            "era": era,
            "capabilities": {"elicitation": true},
            "elicit": [{"action": "accept", "content": {"row": 3}}],
            "do": [{"call": "book", "arguments": {"flight": "BA1"}}],
        });
        let document = sdk.run(&server, &scenario).await?;
        let fault = json!(["no answer is left for elicitation/create"]);
        assert_eq!(document["faults"], fault, "{sdk:?}");
        assert!(!is_well(&document), "{sdk:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_answer_that_nobody_asked_for_is_left() -> Checked {
    let server = Server::script("highlevel_server.py")?;
    let scenario = json!({"sample": ["unheard"], "elicit": [{"action": "cancel"}]});
    let document = Sdk::TypeScript2.run(&server, &scenario).await?;
    assert_eq!(document["left"], json!({"elicit": 1, "sample": 1}));
    assert!(!is_well(&document));
    Ok(())
}

#[tokio::test]
async fn the_end_of_a_server_is_told() -> Checked {
    let server = Server::example("faulty_server", &["exit", "3"]);
    for sdk in Sdk::HANDSHAKE {
        let scenario = json!({"era": "handshake", "do": [{"list": "tools"}]});
        let document = sdk.run(&server, &scenario).await?;
        assert_eq!(document["error"]["message"], "Connection closed");
        let ends = json!([{"code": 3, "signal": null}]);
        assert_eq!(document["processes"], ends, "{sdk:?}");
    }
    Ok(())
}
