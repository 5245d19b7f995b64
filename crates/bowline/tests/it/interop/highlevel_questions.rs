//! A server on the Python SDK, in both eras: what it says unasked, and what it
//! asks in the middle of a call.

use std::sync::{Arc, Mutex};

use bowline::{
    client::{ClientBuilder, Notification, progress_channel},
    proto::{
        client::{CallOptions, InputHandling},
        jsonrpc::RawJson,
        model::{
            CallToolParams, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams,
            ElicitResult, InputKind, InputRequests, InputResponses, LogLevel, ResultType, Role,
            Root, SamplingBlock,
        },
        revision::{Era, Revision},
    },
};
use serde_json::{Value, json};

use super::rig::{Checked, Fault, Peer, await_notice, builder, script, text_of, within};
use crate::sync::lock;

const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

async fn open(builder: ClientBuilder, revision: Revision) -> Result<Peer, Fault> {
    let only = builder.revisions([revision]);
    let peer = Peer::open(only, script("highlevel_server.py")?).await?;
    assert_eq!(peer.revision(), Some(revision));
    Ok(peer)
}

/// A user who chooses row 7 on the aisle, and agrees.
fn answer(question: &ElicitParams) -> ElicitResult {
    let form = if question.message.starts_with("Which seat") {
        json!({"row": 7, "window": false})
    } else {
        json!({"agreed": true})
    };
    match RawJson::encode(&form) {
        Ok(form) => ElicitResult::accept(form),
        Err(_) => ElicitResult::new(ElicitAction::Cancel),
    }
}

#[tokio::test]
async fn a_call_with_two_questions_goes_on_by_itself() -> Checked {
    within(async {
        for revision in ERAS {
            let asked = Arc::<Mutex<Vec<String>>>::default();
            let seen = Arc::clone(&asked);
            let user = builder().on_elicit(move |question| {
                let mut seen = lock(&seen);
                seen.push(question.message.clone());
                std::future::ready(answer(&question))
            });
            let peer = open(user, revision).await?;
            let text = peer.text("book", json!({"flight": "BW 1"})).await?;
            assert_eq!(text, "BW 1: row 7, aisle, agreed");
            let asked = lock(&asked).clone();
            assert_eq!(
                asked,
                ["Which seat on BW 1?", "Row 7 costs extra. All right?"]
            );
            let rounds = peer.frames.sent("tools/call");
            match revision.era() {
                Era::Stateless => {
                    assert_eq!(rounds.len(), 3, "each answer is a round");
                    assert!(rounds[1]["params"]["requestState"].is_string());
                    assert_ne!(rounds[0]["id"], rounds[1]["id"]);
                }
                Era::Handshake => assert_eq!(rounds.len(), 1),
            }
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_host_may_answer_by_hand() -> Checked {
    within(async {
        let never = |_| std::future::pending();
        let peer = open(builder().on_elicit(never), Revision::V2026_07_28).await?;
        let mut params = CallToolParams::new("book");
        params.arguments = Some(RawJson::encode(&json!({"flight": "BW 4"}))?);
        let mut rounds = 0;
        let result = loop {
            let options = CallOptions {
                input_handling: InputHandling::ReturnToCaller,
                ..CallOptions::default()
            };
            let result = peer.request(params.clone()).options(options).await?;
            if result.result_type != Some(ResultType::InputRequired) {
                break result;
            }
            rounds += 1;
            let extra = |key| result.extra.get(key).ok_or(key);
            let questions: InputRequests = extra("inputRequests")?.decode()?;
            let mut answers = InputResponses::default();
            for (key, question) in questions.iter() {
                let InputKind::Elicit(question) = &question.kind else {
                    return Err(format!("{question:?}").into());
                };
                answers.insert(key.to_owned(), RawJson::encode(&answer(question))?);
            }
            params.input_responses = Some(answers);
            params.request_state = Some(extra("requestState")?.decode()?);
        };
        assert_eq!(rounds, 2);
        assert_eq!(text_of(&result), "BW 4: row 7, aisle, agreed");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_user_may_decline() -> Checked {
    within(async {
        for revision in ERAS {
            let decline = |_| std::future::ready(ElicitResult::new(ElicitAction::Decline));
            let peer = open(builder().on_elicit(decline), revision).await?;
            let text = peer.failure("book", json!({"flight": "BW 2"})).await?;
            assert!(text.to_lowercase().contains("decline"), "{text}");
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn what_the_client_did_not_offer_is_not_asked() -> Checked {
    within(async {
        for revision in ERAS {
            let peer = open(builder(), revision).await?;
            let refused = match peer.tools().call("book", json!({"flight": "BW 3"})).await {
                Ok(result) => result.is_error().then(|| text_of(&result)),
                Err(error) => error.server_error().map(ToString::to_string),
            };
            let refused = refused.ok_or("it went through")?;
            assert!(refused.to_lowercase().contains("elicitation"), "{refused}");
            assert!(peer.frames.received("elicitation/create").is_empty());
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn the_model_and_the_roots_are_asked_for_in_one_round() -> Checked {
    within(async {
        for revision in ERAS {
            let sample = |params: CreateMessageParams| {
                let text = params.messages[0].content.blocks()[0].as_text();
                let said = SamplingBlock::text(format!("<{}>", text.unwrap_or_default()));
                let result = CreateMessageResult::new(Role::Assistant, said, "made-up-1");
                std::future::ready(Ok(result))
            };
            let host = builder()
                .on_sample(sample)
                .roots([Root::new("file:///srv/rope")]);
            let peer = open(host, revision).await?;
            let text = peer.text("survey", json!({"text": "knots"})).await?;
            assert_eq!(
                text,
                "made-up-1 says <Sum up: knots>; roots: file:///srv/rope"
            );
            peer.set_roots([Root::new("file:///srv/twine")]);
            let text = peer.text("survey", json!({"text": "knots"})).await?;
            assert!(text.ends_with("file:///srv/twine"), "{text}");
            let told = peer.frames.sent("notifications/roots/list_changed");
            match revision.era() {
                Era::Stateless => {
                    assert_eq!(peer.frames.sent("tools/call").len(), 4);
                    assert!(told.is_empty(), "there is no such notification");
                }
                Era::Handshake => assert_eq!(told.len(), 1),
            }
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn progress_is_reported_step_by_step() -> Checked {
    within(async {
        for revision in ERAS {
            let peer = open(builder(), revision).await?;
            let (listener, mut progress) = progress_channel();
            let call = peer
                .tools()
                .call("count", json!({"steps": 3}))
                .map_call(|call| call.progress_to(listener));
            assert_eq!(text_of(&call.await?), "counted to 3");
            let mut steps = Vec::new();
            while let Some(step) = progress.recv().await {
                steps.push((step.progress.as_f64(), step.message.unwrap_or_default()));
            }
            let expected = [1.0, 2.0, 3.0].map(|step| (step, format!("step {step}")));
            assert_eq!(steps, expected);
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn a_call_that_is_dropped_is_called_off_at_the_server() -> Checked {
    within(async {
        for revision in ERAS {
            let peer = open(builder(), revision).await?;
            let (listener, mut progress) = progress_channel();
            let call = peer
                .tools()
                .call("hang", json!({}))
                .map_call(|call| call.progress_to(listener));
            tokio::select! {
                result = call => return Err(format!("ended: {result:?}").into()),
                step = progress.recv() => assert!(step.is_some()),
            }
            let text = peer.text("await_cancellation", json!({})).await?;
            assert_eq!(text, "a call was cancelled");
            peer.close().await?;
        }
        Ok(())
    })
    .await
}

#[tokio::test]
async fn log_messages_arrive_from_the_level_that_each_request_asks_for() -> Checked {
    within(async {
        let peer = open(builder(), Revision::V2026_07_28).await?;
        let mut notices = peer.subscribe_to_list_changes();
        peer.text("chatter", json!({})).await?;
        let said = peer.frames.received("notifications/message");
        assert!(said.is_empty(), "nothing was asked for: {said:?}");
        peer.set_log_level(LogLevel::Warning).await?;
        assert!(peer.frames.sent("logging/setLevel").is_empty());
        peer.text("chatter", json!({})).await?;
        let is_log = |notice: &Notification| matches!(notice, Notification::Log(_));
        let mut logs = Vec::new();
        for _ in 0..2 {
            if let Notification::Log(log) = await_notice(&mut notices, is_log).await? {
                assert_eq!(log.logger.as_deref(), Some("peer"));
                logs.push((log.level, log.data.decode::<Value>()?));
            }
        }
        assert_eq!(
            logs,
            [
                (LogLevel::Warning, json!({"mind": "the gap"})),
                (LogLevel::Error, json!("a fault")),
            ]
        );
        assert_eq!(peer.frames.received("notifications/message").len(), 2);
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn updates_arrive_of_what_is_subscribed_to() -> Checked {
    within(async {
        let peer = open(builder(), Revision::V2026_07_28).await?;
        let mut notices = peer.subscribe_to_list_changes();
        let update_of = |uri: &'static str| {
            move |notice: &Notification| {
                matches!(notice, Notification::ResourceUpdated(update) if update.uri == uri)
            }
        };
        let _today = peer.resources().subscribe("note://today").await?;
        let monday = peer.resources().subscribe("note://monday").await?;
        for name in ["sunday", "monday", "today"] {
            peer.text("write", json!({"name": name, "text": "splice"}))
                .await?;
        }
        await_notice(&mut notices, update_of("note://monday")).await?;
        await_notice(&mut notices, update_of("note://today")).await?;
        let read = peer.resources().read("note://today").await?;
        assert_eq!(read.contents[0].text.as_deref(), Some("splice"));
        monday.unsubscribe().await?;
        let before = peer.frames.received("notifications/resources/updated");
        for name in ["monday", "today"] {
            peer.text("write", json!({"name": name, "text": "whip"}))
                .await?;
        }
        await_notice(&mut notices, update_of("note://today")).await?;
        let after = peer.frames.received("notifications/resources/updated");
        assert_eq!(before.len(), 2, "{before:?}");
        let late = after[before.len()..].iter();
        let late: Vec<_> = late.map(|update| &update["params"]["uri"]).collect();
        assert!(late.ends_with(&[&json!("note://today")]), "{late:?}");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn changes_of_lists_are_announced_to_those_who_listen() -> Checked {
    within(async {
        let peer = open(builder(), Revision::V2026_07_28).await?;
        let mut notices = peer.subscribe_to_list_changes();
        // Another wish is granted by the same stream; so once it is, the
        // stream is open.
        let _today = peer.resources().subscribe("note://today").await?;
        peer.text("grow", json!({"name": "bloom"})).await?;
        for wanted in [
            Notification::ToolsChanged,
            Notification::ResourcesChanged,
            Notification::PromptsChanged,
        ] {
            await_notice(&mut notices, |notice| *notice == wanted).await?;
        }
        let names = peer.tool_names().await?;
        assert!(names.iter().any(|name| name == "bloom"), "{names:?}");
        assert_eq!(peer.text("bloom", json!({})).await?, "bloom");
        peer.close().await
    })
    .await
}
