//! Asking models, in every revision: live and by replay with the same results.

pub(super) mod rig;
mod structured;

use std::sync::Arc;

use bowline::{
    proto::model::{Role, SamplingBlock, SamplingMessage, ToolResultContent},
    server::{CallLimits, Conversation, ErrorKind, Result, Sample, form::Elicit},
};
use serde_json::json;

use self::{
    rig::{Answers, ByHand, REVISIONS, call, draft, echo, in_turn, says, serve, talk},
    structured::{forecast, mood},
};

fn kind<T>(result: Result<T>) -> String {
    match result {
        Ok(_) => "no error".to_owned(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

fn words(messages: &[SamplingMessage]) -> String {
    let text = |message: &SamplingMessage| {
        let blocks = message.content.blocks().iter();
        let texts: Vec<_> = blocks.map(|it| it.as_text().unwrap_or("*")).collect();
        format!("{}: {}", message.role, texts.join("+"))
    };
    messages.iter().map(text).collect::<Vec<_>>().join(" | ")
}

#[tokio::test]
async fn a_model_is_asked_with_all_that_was_wished() {
    let service = talk(async |cx: Conversation| {
        let first = cx.sample("One?").await?;
        let second = cx
            .sample(vec![SamplingMessage::new(
                Role::User,
                SamplingBlock::text("Two?"),
            )])
            .system("Be brief.")
            .max_tokens(10)
            .temperature(0.5)
            .stop_sequences(["END"])
            .model_hint("parrot")
            .model_hint("raven")
            .cost_priority(0.0)
            .speed_priority(1.0)
            .intelligence_priority(0.25)
            .await?;
        let stop = second.stop_reason.as_ref().map(ToString::to_string);
        Ok(format!("{first}, {second}, {}, {stop:?}", second.model))
    });
    for revision in REVISIONS {
        let told = call(&service, revision, echo()).await;
        let expected = "re: One?, re: Two?, parrot-1, Some(\"endTurn\")";
        assert_eq!(told.text, expected, "{revision}");
        let plain = json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": "One?"}}],
            "maxTokens": 4096,
        });
        let wishes = json!({
            "messages": [{"role": "user", "content": {"type": "text", "text": "Two?"}}],
            "systemPrompt": "Be brief.", "maxTokens": 10, "temperature": 0.5,
            "stopSequences": ["END"],
            "modelPreferences": {
                "hints": [{"name": "parrot"}, {"name": "raven"}],
                "costPriority": 0.0, "speedPriority": 1.0, "intelligencePriority": 0.25,
            },
        });
        assert_eq!(told.asked, [plain, wishes], "{revision}");
    }
}

#[tokio::test]
async fn what_cannot_be_asked_is_refused_before_it_is_sent() {
    type Change = fn(Sample<'_>) -> Sample<'_>;
    const CHANGES: [Change; 6] = [
        |it| it.cost_priority(1.1),
        |it| it.speed_priority(-0.1),
        |it| it.intelligence_priority(f64::NAN),
        |it| it.temperature(-1.0),
        |it| it.max_tokens(0),
        |it| it.key("not a key"),
    ];
    let service = talk(async |cx: Conversation| {
        for change in CHANGES {
            let error = change(cx.sample("?")).await.expect_err("refused");
            assert_eq!(*error.kind(), ErrorKind::InvalidQuestion, "{error}");
        }
        let none: Vec<SamplingMessage> = Vec::new();
        let dangling = vec![ToolResultContent::new("c1")];
        let without = [cx.sample(none).await, cx.sample(dangling).await];
        Ok(without.map(kind).join())
    });
    for revision in REVISIONS {
        let told = call(&service, revision, echo()).await;
        assert_eq!(told.text, "InvalidQuestion, InvalidQuestion", "{revision}");
        assert_eq!(told.asked, [json!(null); 0], "{revision}");
    }
}

trait Join {
    fn join(&self) -> String;
}

impl<const N: usize> Join for [String; N] {
    fn join(&self) -> String {
        self.as_slice().join(", ")
    }
}

#[tokio::test]
async fn a_conversation_remembers_prompts_and_their_answers() {
    let service = talk(async |cx: Conversation| {
        let first = cx.sample("One?").await?;
        let mut own = first.exchange();
        own.push(SamplingMessage::new(
            Role::User,
            SamplingBlock::text("Aside?"),
        ));
        let aside = cx.sample(own).await?;
        cx.sample("Two?").await?;
        Ok(format!(
            "{} || {} || {}",
            words(&first.exchange()),
            words(&aside.exchange()),
            words(&cx.messages())
        ))
    });
    for revision in REVISIONS {
        let told = call(&service, revision, echo()).await;
        let expected = "user: One? | assistant: re: One? || assistant: re: Aside? || \
            user: One? | assistant: re: One? | user: Two? | assistant: re: Two?";
        assert_eq!(told.text, expected, "{revision}");
        let lengths = told
            .asked
            .iter()
            .map(|it| it["messages"].as_array().unwrap().len());
        assert_eq!(lengths.collect::<Vec<_>>(), [1, 3, 3], "{revision}");
    }
}

#[tokio::test]
async fn what_the_client_cannot_do_is_not_asked() {
    let service = forecast();
    for revision in REVISIONS {
        let told = call(&service, revision, in_turn([])).await;
        let expected = "MissingCapability { capability: \"sampling.tools\" } \
            the client did not declare sampling.tools";
        assert_eq!(told.text, expected, "{revision}");
    }
    let service = mood();
    for revision in REVISIONS {
        let client = ByHand::connect(&service, revision, json!({"elicitation": {}})).await;
        let told = client.call(&*in_turn([])).await;
        assert!(
            told.text
                .contains("MissingCapability { capability: \"sampling\" }"),
            "{}",
            told.text
        );
    }
}

#[tokio::test]
async fn what_would_cost_too_many_tokens_is_not_asked() {
    // Of 20 tokens, the first question takes 4, and its answer 5. The second
    // would send both again with 4 more, which is over the limit. One that
    // takes 1 is not, although its answer brings the sum to 15.
    let work = async |cx: Conversation| {
        let first = cx.sample("0123456789abcdef").await?;
        let second = kind(cx.sample("0123456789abcdef").await);
        let aside = cx.sample(vec![SamplingMessage::new(
            Role::User,
            SamplingBlock::text("0123"),
        )]);
        let aside = kind(aside.await);
        let third = kind(cx.elicit::<Yes>("Yes?").await);
        Ok(format!("{first}, {second}, {aside}, {third}"))
    };
    let service = serve(draft(CallLimits::new().max_tokens(20), work));
    for revision in REVISIONS {
        let answers: Arc<Answers> = Arc::new(|question| match question.get("messages") {
            Some(_) => says("re: 0123456789abcdef"),
            None => json!({"action": "decline"}),
        });
        let told = call(&service, revision, answers).await;
        let expected =
            "re: 0123456789abcdef, TokenBudgetExceeded { limit: 20 }, no error, no error";
        assert_eq!(told.text, expected, "{revision}");
        assert_eq!(told.asked.len(), 3, "{revision}");
    }
}

#[derive(Elicit)]
struct Yes {
    /// Yes?
    #[expect(dead_code, reason = "only that it is asked matters")]
    yes: bool,
}
