//! `@modelcontextprotocol/server-everything`: what it says unasked, and what
//! it asks.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use bowline::{
    client::{Notification, progress_channel},
    proto::{
        Reason,
        jsonrpc::{ErrorObject, RawJson},
        model::{
            ContentBlock, CreateMessageParams, CreateMessageResult, ElicitAction, ElicitParams,
            ElicitResult, LogLevel, Number, PropertySchema, Role, Root, SamplingBlock,
            UrlElicitationRequiredData,
        },
    },
};
use serde_json::json;
use tokio::sync::mpsc;

use super::rig::{Checked, Fault, Peer, await_notice, builder, node, text_of, within};
use crate::sync::lock;

async fn everything() -> Result<Peer, Fault> {
    Peer::open(builder(), node("mcp-server-everything")?).await
}

#[tokio::test]
async fn log_messages_arrive_from_the_level_asked_for() -> Checked {
    within(async {
        let peer = everything().await?;
        let mut notices = peer.subscribe_to_list_changes();
        peer.set_log_level(LogLevel::Warning).await?;
        // The server would say so at the level below, before it answers.
        let uri = "demo://resource/dynamic/text/1";
        let subscribed = peer.resources().subscribe(uri).await?;
        let messages = peer.frames.received("notifications/message");
        assert!(messages.is_empty(), "{messages:?}");
        peer.set_log_level(LogLevel::Debug).await?;
        subscribed.unsubscribe().await?;
        let is_log = |notice: &Notification| matches!(notice, Notification::Log(_));
        let Notification::Log(log) = await_notice(&mut notices, is_log).await? else {
            return Err("not a log message".into());
        };
        assert_eq!(log.level, LogLevel::Info);
        let text: String = log.data.decode()?;
        assert!(text.contains("Unsubscribe"), "{text}");
        let started = peer.text("toggle-simulated-logging", json!({})).await?;
        assert!(started.starts_with("Started"), "{started}");
        await_notice(&mut notices, is_log).await?;
        let stopped = peer.text("toggle-simulated-logging", json!({})).await?;
        assert!(stopped.starts_with("Stopped"), "{stopped}");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn progress_is_reported_step_by_step() -> Checked {
    within(async {
        let peer = everything().await?;
        let (listener, mut progress) = progress_channel();
        let arguments = json!({"duration": 0.3, "steps": 3});
        let call = peer
            .tools()
            .call("trigger-long-running-operation", arguments)
            .map_call(|call| call.progress_to(listener));
        let text = text_of(&call.await?);
        assert!(text.contains("completed"), "{text}");
        let mut steps = Vec::new();
        while let Some(step) = progress.recv().await {
            let total = step.total.map(Number::as_f64);
            steps.push((step.progress.as_f64(), total));
        }
        assert_eq!(
            steps,
            [(1.0, Some(3.0)), (2.0, Some(3.0)), (3.0, Some(3.0))]
        );
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_call_that_is_dropped_is_cancelled_on_the_wire() -> Checked {
    within(async {
        let peer = everything().await?;
        let (listener, mut progress) = progress_channel();
        let arguments = json!({"duration": 4, "steps": 80});
        let call = peer
            .tools()
            .call("trigger-long-running-operation", arguments)
            .map_call(|call| call.progress_to(listener));
        tokio::select! {
            result = call => return Err(format!("ended: {result:?}").into()),
            step = progress.recv() => assert!(step.is_some()),
        }
        let sent = peer.frames.sent("tools/call");
        let cancelled = peer.frames.sent("notifications/cancelled");
        assert_eq!(cancelled.len(), 1);
        assert_eq!(cancelled[0]["params"]["requestId"], sent[0]["id"]);
        // The server goes on reporting for a while, which must not matter.
        for _ in 0..20 {
            let text = peer.text("echo", json!({"message": "next"})).await?;
            assert_eq!(text, "Echo: next");
        }
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn updates_arrive_of_what_is_subscribed_to() -> Checked {
    within(async {
        let peer = everything().await?;
        let mut notices = peer.subscribe_to_list_changes();
        let [first, second] = ["1", "2"].map(|id| format!("demo://resource/dynamic/text/{id}"));
        let is_update = |uri: &str| {
            let uri = uri.to_owned();
            move |notice: &Notification| {
                matches!(notice, Notification::ResourceUpdated(update) if update.uri == uri)
            }
        };
        let on_first = peer.resources().subscribe(&first).await?;
        let _on_second = peer.resources().subscribe(&second).await?;
        peer.text("toggle-subscriber-updates", json!({})).await?;
        await_notice(&mut notices, is_update(&first)).await?;
        await_notice(&mut notices, is_update(&second)).await?;
        peer.text("toggle-subscriber-updates", json!({})).await?;
        on_first.unsubscribe().await?;
        let before = peer.frames.received("notifications/resources/updated");
        peer.text("toggle-subscriber-updates", json!({})).await?;
        await_notice(&mut notices, is_update(&second)).await?;
        // The first would have been announced before the second.
        let after = peer.frames.received("notifications/resources/updated");
        let news: Vec<_> = after[before.len()..].iter().collect();
        assert!(
            news.iter().all(|update| update["params"]["uri"] == second),
            "{news:?}"
        );
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_new_resource_is_announced_and_can_be_read() -> Checked {
    within(async {
        let peer = everything().await?;
        let mut notices = peer.subscribe_to_list_changes();
        let arguments = json!({"name": "knot.gz", "data": "data:text/plain,bowline"});
        let result = peer
            .tools()
            .call("gzip-file-as-resource", arguments)
            .await?;
        let Some(ContentBlock::ResourceLink(link)) = result.content.first() else {
            return Err(format!("{result:?}").into());
        };
        let is_change = |notice: &Notification| *notice == Notification::ResourcesChanged;
        await_notice(&mut notices, is_change).await?;
        let listed = peer.resources().list().await?;
        assert!(listed.iter().any(|resource| resource.uri == link.uri));
        let read = peer.resources().read(&link.uri).await?;
        assert_eq!(
            read.contents[0].mime_type.as_deref(),
            Some("application/gzip")
        );
        let blob = read.contents[0].blob.as_deref().unwrap_or_default();
        assert!(blob.starts_with("H4sI"), "the first bytes of gzip: {blob}");
        peer.close().await
    })
    .await
}

/// Answers in the order given, and keeps the questions.
#[derive(Clone, Default)]
struct User {
    answers: Arc<Mutex<VecDeque<ElicitResult>>>,
    questions: Arc<Mutex<Vec<ElicitParams>>>,
}

impl User {
    fn who_answers(answers: impl IntoIterator<Item = ElicitResult>) -> Self {
        Self {
            answers: Arc::new(Mutex::new(answers.into_iter().collect())),
            questions: Arc::default(),
        }
    }

    fn asked(&self, question: ElicitParams) -> ElicitResult {
        lock(&self.questions).push(question);
        let mut answers = lock(&self.answers);
        let silence = || ElicitResult::new(ElicitAction::Cancel);
        answers.pop_front().unwrap_or_else(silence)
    }

    fn questions(&self) -> Vec<ElicitParams> {
        lock(&self.questions).clone()
    }

    async fn meets_everything(&self) -> Result<Peer, Fault> {
        let user = self.clone();
        let builder = builder()
            .on_elicit(move |question| std::future::ready(user.asked(question)))
            .allow_url_elicitation();
        Peer::open(builder, node("mcp-server-everything")?).await
    }
}

#[tokio::test]
async fn a_form_is_filled_in_declined_and_left() -> Checked {
    within(async {
        let form = json!({"name": "Ada", "check": true, "integer": 7, "birthdate": "1815-12-10"});
        let user = User::who_answers([
            ElicitResult::accept(RawJson::encode(&form)?),
            ElicitResult::new(ElicitAction::Decline),
            ElicitResult::new(ElicitAction::Cancel),
        ]);
        let peer = user.meets_everything().await?;
        let tool = "trigger-elicitation-request";
        let text = peer.text(tool, json!({})).await?;
        for line in [
            "- Name: Ada",
            "- Agreed to terms: true",
            "- Favorite Integer: 7",
        ] {
            assert!(text.contains(line), "{text}");
        }
        assert!(peer.text(tool, json!({})).await?.contains("declined"));
        assert!(peer.text(tool, json!({})).await?.contains("cancelled"));
        let questions = user.questions();
        assert_eq!(questions.len(), 3);
        let schema = questions[0].requested_schema.as_ref().ok_or("no form")?;
        assert_eq!(schema.required, ["name"]);
        let unknown: Vec<_> = (schema.properties.iter())
            .filter(|(_, property)| matches!(property, PropertySchema::Unknown(_)))
            .collect();
        assert_eq!(unknown, [], "every kind of field is understood");
        assert_eq!(schema.properties.len(), 13);
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn a_user_is_sent_to_a_page() -> Checked {
    within(async {
        let accept = || ElicitResult::new(ElicitAction::Accept);
        let user = User::who_answers([accept(), accept()]);
        let peer = user.meets_everything().await?;
        let tool = "trigger-url-elicitation";
        let page = "https://example.com/consent";
        let arguments = json!({"url": page, "elicitationId": "visit-1"});
        let text = peer.text(tool, arguments).await?;
        assert!(text.contains("completed the URL elicitation"), "{text}");
        let questions = user.questions();
        assert!(questions[0].is_url());
        assert_eq!(questions[0].url.as_deref(), Some(page));
        assert_eq!(questions[0].elicitation_id.as_deref(), Some("visit-1"));

        let arguments = json!({"url": page, "errorPath": true});
        let Err(error) = peer.tools().call(tool, arguments.clone()).await else {
            return Err("the first call is to be refused".into());
        };
        assert_eq!(error.reason(), Reason::UrlElicitationRequired);
        let data = error.server_error().and_then(|error| error.data.as_ref());
        let data: UrlElicitationRequiredData = data.ok_or("no data")?.decode()?;
        assert_eq!(data.elicitations.len(), 1);
        assert!(peer.text(tool, arguments).await?.contains("completed"));
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn the_model_is_asked_and_may_refuse() -> Checked {
    within(async {
        let (asked, mut questions) = mpsc::unbounded_channel();
        let sample = move |params: CreateMessageParams| {
            let first = params.messages[0].content.blocks()[0].as_text();
            let refused = first.is_some_and(|text| text.contains("forbidden"));
            let _ = asked.send(params);
            std::future::ready(if refused {
                Err(ErrorObject::new(-1, "the user said no"))
            } else {
                let said = SamplingBlock::text("A knot.");
                Ok(CreateMessageResult::new(Role::Assistant, said, "made-up-1"))
            })
        };
        let builder = builder().on_sample(sample);
        let peer = Peer::open(builder, node("mcp-server-everything")?).await?;
        let tool = "trigger-sampling-request";
        let arguments = json!({"prompt": "What is a bowline?", "maxTokens": 42});
        let text = peer.text(tool, arguments).await?;
        assert!(
            text.contains("A knot.") && text.contains("made-up-1"),
            "{text}"
        );
        let question = questions.recv().await.ok_or("nothing asked")?;
        assert_eq!(question.max_tokens, 42);
        assert_eq!(question.temperature.map(Number::as_f64), Some(0.7));
        let system = question.system_prompt.as_deref();
        assert_eq!(system, Some("You are a helpful test server."));
        let text = peer.failure(tool, json!({"prompt": "forbidden"})).await?;
        assert!(text.contains("the user said no"), "{text}");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn roots_are_told_and_told_again_when_they_change() -> Checked {
    within(async {
        let mut one = Root::new("file:///srv/one");
        one.name = Some("One".into());
        let builder = builder().roots([one.clone()]);
        let peer = Peer::open(builder, node("mcp-server-everything")?).await?;
        let mut notices = peer.subscribe_to_list_changes();
        let text = peer.text("get-roots-list", json!({})).await?;
        assert!(
            text.contains("(1 total)") && text.contains("1. One"),
            "{text}"
        );
        peer.set_roots([one, Root::new("file:///srv/two")]);
        let is_told = |notice: &Notification| match notice {
            Notification::Log(log) => log.data.get().contains("Roots updated: 2 root(s)"),
            _ => false,
        };
        await_notice(&mut notices, is_told).await?;
        let text = peer.text("get-roots-list", json!({})).await?;
        assert!(text.contains("URI: file:///srv/two"), "{text}");
        peer.close().await
    })
    .await
}
