//! The travel agency of the demo, as every SDK sees it in every era that
//! it speaks, over every wire: one expectation for all.

use serde_json::{Value, json};

use super::rig::{Checked, Fault, Sdk, Server, is_well, received};

type Setup = (Sdk, &'static str);

/// Every SDK in every era that it speaks, those with a handshake first.
const SETUPS: [Setup; 5] = [
    (Sdk::TypeScript1, "handshake"),
    (Sdk::TypeScript2, "handshake"),
    (Sdk::Python2, "handshake"),
    (Sdk::TypeScript2, "stateless"),
    (Sdk::Python2, "stateless"),
];
const HANDSHAKE: &[Setup] = SETUPS.split_at(3).0;
const STATELESS: &[Setup] = SETUPS.split_at(3).1;

/// How frames travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wire {
    Stdio,
    Http,
}

const WIRES: &[Wire] = if cfg!(feature = "http-server") {
    &[Wire::Stdio, Wire::Http]
} else {
    &[Wire::Stdio]
};

const CHOICE: &str = "3 flights. Which one?\n\
                      Gull-1 to Lisbon on 2027-05-01 at 06:40, 120 euros\n\
                      Heron-1 to Lisbon on 2027-05-01 at 12:15, 155 euros\n\
                      Swift-1 to Lisbon on 2027-05-01 at 19:30, 140 euros";
const HERON: &str = "Heron-1 to Lisbon on 2027-05-01 at 12:15, 155 euros";

/// What a scenario came to, in words that all SDKs share.
#[derive(Debug, PartialEq)]
struct Story {
    /// The result or the error of each action.
    done: Vec<Value>,
    /// What the server asked: method and parameters.
    asked: Vec<Value>,
    /// What the server logged.
    logged: Vec<Value>,
    /// The messages of its progress. They are read off the wire, since two of
    /// the SDKs lose some.
    progress: Vec<Value>,
}

/// Runs a scenario in several setups over every wire. It must come to its end
/// without a fault, to the same story.
async fn run(setups: &[Setup], scenario: &Value) -> Result<Story, Fault> {
    let mut told: Option<(Wire, Setup, Story)> = None;
    for &wire in WIRES {
        for &setup in setups {
            let story = run_over(wire, setup, scenario).await?;
            match &told {
                None => told = Some((wire, setup, story)),
                Some((first, other, known)) => {
                    let both = format!("{first:?} {other:?} and {wire:?} {setup:?}");
                    assert_eq!(known, &story, "{both}");
                }
            }
        }
    }
    Ok(told.ok_or("there is no setup to run it with")?.2)
}

/// Runs a scenario in one setup over one wire, with a server of its own.
async fn run_over(wire: Wire, (sdk, era): Setup, scenario: &Value) -> Result<Story, Fault> {
    let mut scenario = scenario.clone();
    scenario["era"] = era.into();
    let document = match wire {
        Wire::Stdio => {
            let server = Server::example("travel", &[]);
            let document = sdk.run_cleanly(&server, &scenario).await?;
            let last = document["processes"].as_array().and_then(|all| all.last());
            let well = json!({"code": 0, "signal": null});
            assert_eq!(last, Some(&well), "{sdk:?} {era}");
            document
        }
        Wire::Http => {
            let server = Server::example_over_http("travel").await?;
            let document = sdk.run_cleanly(&server, &scenario).await?;
            server.end().await?;
            check_exchanges(&document, era);
            document
        }
    };
    Ok(Story::of(&document))
}

/// What is particular to HTTP: sessions belong to the handshake, and are ended
/// there by the client; the other era only posts.
fn check_exchanges(document: &Value, era: &str) {
    let statuses = |verb: &str| {
        let all = list(&document["exchanges"]).filter(|exchange| exchange["verb"] == verb);
        all.map(|exchange| &exchange["status"]).collect::<Vec<_>>()
    };
    let (opened, ended) = (statuses("GET"), statuses("DELETE"));
    assert!(!statuses("POST").is_empty(), "{document:#}");
    if era == "handshake" {
        // A client may leave before its stream is open.
        let fine = |status: &&Value| **status == 200 || status.is_null();
        assert!(opened.len() <= 1, "{document:#}");
        assert!(opened.iter().all(fine), "{document:#}");
        assert_eq!(ended, [204], "{document:#}");
    } else {
        assert_eq!([opened, ended].concat(), [0; 0], "{document:#}");
    }
}

impl Story {
    fn of(document: &Value) -> Self {
        let notices = list(&document["notifications"]);
        let progress = received(document, "notifications/progress").into_iter();
        Self {
            done: list(&document["done"]).map(outcome).collect(),
            asked: list(&document["asked"])
                .map(|question| {
                    json!({
                        "method": question["method"],
                        "params": plain(&question["params"]),
                    })
                })
                .collect(),
            logged: notices.map(|notice| notice["params"].clone()).collect(),
            progress: progress
                .map(|notice| notice["params"]["message"].clone())
                .collect(),
        }
    }

    /// What the user and the model were told by each question.
    fn questions(&self) -> Vec<&str> {
        let words = self.asked.iter().map(|question| {
            let params = &question["params"];
            let message = params["message"].as_str();
            message.or(params["messages"][0]["content"]["text"].as_str())
        });
        words.map(Option::unwrap_or_default).collect()
    }
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

/// How an action ended, without what an era adds to it.
fn outcome(done: &Value) -> Value {
    if let Some(together) = done.get("together") {
        return list(together).map(outcome).collect();
    }
    match done.get("error") {
        Some(error) => {
            json!({"code": error["code"], "message": error["message"], "data": error["data"]})
        }
        None => plain(&done["result"]),
    }
}

/// An object without what an era adds to it.
fn plain(object: &Value) -> Value {
    let mut object = object.clone();
    if let Some(members) = object.as_object_mut() {
        for era in ["_meta", "resultType", "ttlMs", "cacheScope"] {
            members.remove(era);
        }
    }
    object
}

/// A client that can ask its user and its model.
fn able(elicit: &Value, sample: &Value, actions: &Value) -> Value {
    json!({
        "capabilities": {"elicitation": true, "sampling": true},
        "log": "info",
        "elicit": elicit,
        "sample": sample,
        "do": actions,
    })
}

fn search(destination: &str, date: &str) -> Value {
    json!({"call": "search_flights", "arguments": {"destination": destination, "date": date}})
}

fn book() -> Value {
    let trip = json!({"destination": "lisbon", "date": "2027-05-01"});
    json!({"call": "book_flight", "arguments": trip})
}

fn choice(flight: &str) -> Value {
    json!({"action": "accept", "content": {"flight": flight, "seat": "window"}})
}

fn confirmed(yes: bool) -> Value {
    json!({"action": "accept", "content": {"confirmed": yes}})
}

fn cancel_booking(number: &Value) -> Value {
    json!({"call": "cancel_booking", "arguments": {"number": number}})
}

fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}]})
}

fn failed(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "isError": true})
}

fn booked(number: u32) -> Value {
    said(&format!(
        "Booked {HERON}, seat: at the window. The number of the booking is {number}."
    ))
}

#[tokio::test]
async fn flights_are_listed_and_found() -> Checked {
    let scenario = able(
        &json!([]),
        &json!([]),
        &json!([
            {"list": "tools"},
            search("LISBON", "2027-05-01"),
            search("Atlantis", "2027-05-01"),
        ]),
    );
    let story = run(&SETUPS, &scenario).await?;
    let tools = &story.done[0]["tools"];
    let names: Vec<_> = list(tools).map(|tool| &tool["name"]).collect();
    assert_eq!(names, ["search_flights", "book_flight", "cancel_booking"]);
    let required = &tools[0]["inputSchema"]["required"];
    assert_eq!(required, &json!(["destination"]));
    assert_eq!(tools[0]["annotations"], json!({"readOnlyHint": true}));
    assert_eq!(tools[2]["annotations"], json!({"destructiveHint": true}));
    let heron = json!({
        "id": "Heron-1", "destination": "Lisbon", "date": "2027-05-01",
        "departs": "12:15", "price": 155,
    });
    let found = &story.done[1];
    assert_eq!(found["structuredContent"]["flights"][1], heron);
    // The same as text, for those who read no more.
    let text = found["content"][0]["text"].as_str().unwrap_or_default();
    assert_eq!(
        serde_json::from_str::<Value>(text)?,
        found["structuredContent"]
    );
    let nothing = json!({"flights": []});
    assert_eq!(story.done[2]["structuredContent"], nothing);
    let answered = [
        "Gull has answered",
        "Heron has answered",
        "Swift has answered",
    ];
    assert_eq!(story.progress, [answered, answered].concat());
    Ok(())
}

#[tokio::test]
async fn a_flight_is_booked_and_cancelled() -> Checked {
    let scenario = able(
        &json!([choice("Heron-1"), confirmed(true), confirmed(true)]),
        &json!(["At noon to Lisbon."]),
        &json!([
            book(),
            cancel_booking(&json!(1001)),
            cancel_booking(&json!(1001))
        ]),
    );
    let story = run(&SETUPS, &scenario).await?;
    let gone = failed("Error: booking 1001 not found");
    assert_eq!(
        story.done,
        [booked(1001), said("Booking 1001 is cancelled."), gone]
    );
    let wish = format!("Sum up in one sentence: {HERON}, seat: at the window");
    let cancel = format!("Cancel {HERON}?");
    assert_eq!(
        story.questions(),
        [CHOICE, &wish, "At noon to Lisbon.\n\nBook it?", &cancel]
    );
    let form = json!({
        "type": "object",
        "properties": {
            "flight": {
                "type": "string", "title": "Flight",
                "description": "Number of the flight", "minLength": 1,
            },
            "seat": {
                "type": "string", "title": "Seat", "description": "Where to sit",
                "oneOf": [
                    {"const": "window", "title": "At the window"},
                    {"const": "aisle", "title": "At the aisle"},
                    {"const": "any", "title": "No matter"},
                ],
                "default": "any",
            },
        },
        "required": ["flight"],
    });
    assert_eq!(story.asked[0]["params"]["requestedSchema"], form);
    assert_eq!(story.asked[1]["params"]["maxTokens"], 100);
    // What happens once is told once, however often the rest runs.
    let logged: Vec<_> = story.logged.iter().map(|entry| &entry["data"]).collect();
    assert_eq!(
        logged,
        ["booking 1001 is made", "booking 1001 is cancelled"]
    );
    assert_eq!(story.progress.len(), 3);
    Ok(())
}

#[tokio::test]
async fn whoever_does_not_want_to_books_nothing() -> Checked {
    let (no, away) = (json!({"action": "decline"}), json!({"action": "cancel"}));
    let heron = choice("Heron-1");
    let scenario = able(
        &json!([
            no,
            away,
            heron,
            no,
            heron,
            confirmed(false),
            heron,
            away,
            heron,
            confirmed(true),
            no,
            away,
        ]),
        &json!(["1", "2", "3", "4"]),
        &json!([
            book(),
            book(),
            book(),
            book(),
            book(),
            book(),
            cancel_booking(&json!(1001)),
            cancel_booking(&json!(1001)),
        ]),
    );
    let story = run(&SETUPS, &scenario).await?;
    let declined = failed("Error: ElicitationDeclined: the user declined");
    let cancelled = failed("Error: ElicitationCancelled: the user cancelled");
    assert_eq!(story.done[..2], [declined.clone(), cancelled.clone()]);
    assert_eq!(story.done[2..4], [declined.clone(), declined.clone()]);
    assert_eq!(story.done[4], cancelled);
    assert_eq!(story.done[5], booked(1001), "it is the first booking");
    assert_eq!(story.done[6..], [declined, cancelled]);
    assert_eq!(story.logged.len(), 1, "it is still booked");
    Ok(())
}

#[tokio::test]
async fn what_does_not_fit_is_said() -> Checked {
    let mut no_seat = choice("Heron-1");
    no_seat["content"]["seat"] = json!("roof");
    let mut too_much = choice("Heron-1");
    too_much["content"]["meal"] = json!("soup");
    let elsewhere = json!({"destination": "Atlantis", "date": "2027-05-01"});
    let scenario = able(
        &json!([
            no_seat, choice("Heron-1"), confirmed(true),
            {"action": "accept"}, choice(""),
            too_much, no_seat,
            choice("Heron-1"), confirmed(true), {"action": "accept", "content": {"confirmed": "yes"}},
            choice("Stork-1"),
        ]),
        &json!(["Fine.", "Fine."]),
        &json!([
            book(), book(), book(), book(), cancel_booking(&json!(1001)), book(),
            {"call": "book_flight", "arguments": elsewhere},
            search("Lisbon", "tomorrow"),
            {"call": "search_flights", "arguments": {"date": 7}},
            cancel_booking(&json!(-1)),
            {"call": "book_train", "arguments": {}},
        ]),
    );
    let story = run(&SETUPS, &scenario).await?;
    let unknown = json!({"code": -32602, "message": "Unknown tool: book_train", "data": null});
    let expected = [
        booked(1001),
        failed("Error: InvalidAnswer: flight: 0 characters; the minimum is 1"),
        failed("Error: InvalidAnswer: seat: this is not one of the choices"),
        booked(1002),
        failed("Error: InvalidAnswer: confirmed: expected a boolean, not a string"),
        failed("Error: flight Stork-1 not found"),
        failed("Error: no flights to Atlantis; available destinations: Lisbon, Oslo, Tokyo"),
        failed(
            "Invalid arguments\n\
             - at /date: \"tomorrow\" does not match \"^\\d{4}-\\d{2}-\\d{2}$\"",
        ),
        failed(
            "Invalid arguments\n\
             - at /: \"destination\" is a required property\n\
             - at /date: 7 is not of type \"string\"",
        ),
        failed("Invalid arguments\n- at /number: -1 is less than the minimum of 0"),
        unknown,
    ];
    assert_eq!(story.done, expected);
    let again = |why: &str| format!("{CHOICE}\n\nThe last answer was not valid: {why}");
    let questions = story.questions();
    assert_eq!(questions[1], again("seat: this is not one of the choices"));
    assert_eq!(questions[5], again("flight: an answer is required"));
    assert_eq!(questions[7], again("meal: the form has no such field"));
    Ok(())
}

#[tokio::test]
async fn tools_are_kept_from_clients_that_cannot_talk() -> Checked {
    let actions = json!([{"list": "tools"}, book(), cancel_booking(&json!(1001))]);
    let abilities = [
        (json!({}), vec!["search_flights"]),
        (
            json!({"elicitation": true}),
            vec!["search_flights", "cancel_booking"],
        ),
    ];
    for (capabilities, seen) in abilities {
        let scenario = json!({"capabilities": capabilities, "do": actions});
        for (setups, code) in [(HANDSHAKE, -32600), (STATELESS, -32021)] {
            let story = run(setups, &scenario).await?;
            let names: Vec<_> = list(&story.done[0]["tools"])
                .map(|tool| &tool["name"])
                .collect();
            assert_eq!(names, seen);
            let refused = &story.done[1];
            assert_eq!(refused["code"], code);
            let required = &refused["data"]["requiredCapabilities"];
            let lacks = |capability: &str| required.get(capability).is_some();
            assert_eq!(lacks("sampling"), capabilities.get("sampling").is_none());
            assert_eq!(
                lacks("elicitation"),
                capabilities.get("elicitation").is_none()
            );
            let expected = match capabilities.get("elicitation") {
                Some(_) => failed("Error: booking 1001 not found"),
                None => {
                    let data = json!({"requiredCapabilities": {"elicitation": {"form": {}}}});
                    let message = "The request requires the client capability elicitation.form";
                    json!({"code": code, "message": message, "data": data})
                }
            };
            assert_eq!(story.done[2], expected);
        }
    }
    Ok(())
}

#[tokio::test]
async fn two_calls_at_once_do_not_mix() -> Checked {
    // Both book the same, since nobody knows which one asks first.
    let heron = choice("Heron-1");
    let scenario = able(
        &json!([heron, heron, confirmed(true), confirmed(true)]),
        &json!(["Fine.", "Fine."]),
        &json!([{"together": [book(), search("Oslo", "2027-05-01"), book()]}]),
    );
    for (&wire, setup) in WIRES
        .iter()
        .flat_map(|wire| SETUPS.map(|setup| (wire, setup)))
    {
        let story = run_over(wire, setup, &scenario).await?;
        let together = &story.done[0];
        let found = &together[1]["structuredContent"]["flights"];
        assert_eq!(found[0]["id"], "Gull-2", "{wire:?} {setup:?}");
        let mut both = [together[0].clone(), together[2].clone()];
        both.sort_by_key(Value::to_string);
        assert_eq!(both, [booked(1001), booked(1002)], "{wire:?} {setup:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_model_that_refuses_ends_the_booking() -> Checked {
    let refusal = json!({"error": {"code": -1, "message": "not today"}});
    let scenario = able(
        &json!([choice("Heron-1"), choice("Heron-1"), confirmed(true)]),
        &json!([refusal, "Fine."]),
        &json!([book(), book()]),
    );
    for setup in SETUPS {
        let story = run(&[setup], &scenario).await?;
        let expected = match setup {
            // This one writes the code in front of the words.
            (Sdk::TypeScript1, _) => {
                failed("Error: Refused: the client refused: MCP error -1: not today")
            }
            (_, "handshake") => failed("Error: Refused: the client refused: not today"),
            // An answer cannot be an error here: the client itself gives up.
            _ => json!({"code": -1, "message": "not today", "data": null}),
        };
        assert_eq!(story.done, [expected, booked(1001)], "{setup:?}");
    }
    Ok(())
}

#[tokio::test]
async fn all_find_the_newest_revision_that_they_know() -> Checked {
    for (&wire, sdk) in WIRES
        .iter()
        .flat_map(|wire| Sdk::HANDSHAKE.map(|sdk| (wire, sdk)))
    {
        let scenario = json!({"era": "auto", "do": [search("Oslo", "2027-05-01")]});
        let server = match wire {
            Wire::Stdio => Server::example("travel", &[]),
            Wire::Http => Server::example_over_http("travel").await?,
        };
        let document = sdk.run(&server, &scenario).await?;
        assert!(is_well(&document), "{wire:?} {sdk:?}: {document:#}");
        let version = match sdk {
            Sdk::TypeScript1 => "2025-11-25",
            _ => "2026-07-28",
        };
        assert_eq!(document["version"], version, "{wire:?} {sdk:?}");
        let title = &document["server"]["title"];
        assert_eq!(title, "Bowline Travel", "{wire:?} {sdk:?}");
        let told = document["instructions"].as_str().unwrap_or_default();
        assert!(told.starts_with("Search first"), "{wire:?} {sdk:?}: {told}");
    }
    Ok(())
}
