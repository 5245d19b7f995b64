//! Conversations within conversations, live and by replay.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, SystemTime},
};

use bowline::{
    proto::{
        model::{Role, SamplingBlock, SamplingMessage},
        revision::{Era, Revision},
    },
    server::{CallLimits, Conversation, Error, Result, Service, form::Elicit},
    transport::BoxFuture,
};
use serde_json::{Value, json};

use super::sample::rig::{
    Answers, ByHand, REVISIONS, call, call_with_tools, draft, echo, prompt, says, serve, talk,
};

const SOON: Duration = Duration::from_millis(50);

#[derive(Elicit)]
struct Name {
    /// Which name?
    name: String,
}

fn kind<T: ToString>(result: Result<T>) -> String {
    match result {
        Ok(value) => value.to_string(),
        Err(error) => format!("{:?}", error.kind()),
    }
}

fn user(text: &str) -> SamplingMessage {
    SamplingMessage::new(Role::User, SamplingBlock::text(text))
}

/// Answers the user's questions, and repeats the model's.
fn everyone() -> Arc<Answers> {
    Arc::new(|question| match question.get("messages") {
        Some(_) => says(&format!("re: {}", prompt(question))),
        None => json!({"action": "accept", "content": {"name": "Ada"}}),
    })
}

fn lengths(asked: &[Value]) -> Vec<usize> {
    let length = |question: &Value| question["messages"].as_array().map_or(0, Vec::len);
    asked.iter().map(length).collect()
}

#[tokio::test]
async fn a_branch_knows_what_was_said_and_keeps_to_itself_what_it_says() {
    let service = talk(async |cx: Conversation| {
        cx.sample("One?").await?;
        let inner = cx
            .branch(async |b: Conversation| {
                b.sample("Two?").await?;
                let counts = (b.depth(), b.messages().len(), b.parent_messages().len());
                Ok(format!(
                    "{counts:?} {:?} {:?}",
                    b.system(),
                    b.parent_system()
                ))
            })
            .system("Be kind.")
            .await?;
        let alone = cx
            .branch(async |b: Conversation| {
                b.sample("Three?").await?;
                let nested = b
                    .branch(async |c: Conversation| {
                        c.sample("Four?").await?;
                        Ok(format!("{} {:?}", c.depth(), c.system()))
                    })
                    .inherit_system(false)
                    .await?;
                Ok(format!("{} {nested}", b.messages().len()))
            })
            .inherit_messages(false)
            .system("Be brief.")
            .messages(vec![user("Well.")])
            .await?;
        Ok(format!(
            "{} {inner} | {alone} | {}",
            cx.depth(),
            cx.messages().len()
        ))
    });
    for revision in REVISIONS {
        let told = call(&service, revision, echo()).await;
        let expected = "0 (1, 4, 2) Some(\"Be kind.\") None | 3 2 None | 2";
        assert_eq!(told.text, expected, "{revision}");
        assert_eq!(lengths(&told.asked), [1, 3, 2, 4], "{revision}");
        let systems: Vec<_> = told
            .asked
            .iter()
            .map(|it| it["systemPrompt"].as_str())
            .collect();
        assert_eq!(
            systems,
            [None, Some("Be kind."), Some("Be brief."), None],
            "{revision}"
        );
    }
}

#[tokio::test]
async fn branches_at_once_keep_their_names() {
    let service = talk(async |cx: Conversation| {
        let part = async |b: Conversation| {
            let first = b.sample("One?").await?;
            b.step("note", async { Ok(()) }).await?;
            let second = b.sample(format!("{first} Two?")).key("second").await?;
            Ok(second.to_string())
        };
        let (left, right) = tokio::join!(cx.branch(part), cx.branch(part));
        let last = cx.sample("Last?").await?;
        Ok(format!("{} | {} | {last}", left?, right?))
    });
    for revision in REVISIONS {
        let told = call(&service, revision, echo()).await;
        let expected = "re: re: One? Two? | re: re: One? Two? | re: Last?";
        assert_eq!(told.text, expected, "{revision}");
    }
    let told = call_with_tools(&service, Revision::V2026_07_28, &*echo()).await;
    assert_eq!(told.keys, ["1/1", "2/1", "1/second", "2/second", "1"]);
}

#[tokio::test]
async fn steps_of_a_branch_are_its_own() {
    let service = talk(async |cx: Conversation| {
        cx.sample("Begin?").await?;
        let outer: u32 = cx.step("1/x", async { Ok(1) }).await?;
        let inner: u32 = cx
            .branch(async |b: Conversation| b.step("x", async { Ok(2) }).await)
            .await?;
        cx.sample("Go on?").await?;
        Ok(format!("{outer} {inner}"))
    });
    for revision in REVISIONS {
        let told = call(&service, revision, echo()).await;
        assert_eq!(told.text, "1 2", "{revision}");
    }
}

#[tokio::test]
async fn branches_are_only_so_deep() {
    fn down(cx: Conversation, narrow: Option<u32>) -> BoxFuture<'static, Result<String>> {
        Box::pin(async move {
            let branch = cx.branch(|b| down(b, None));
            let deeper = match narrow {
                Some(limit) => branch.max_depth(limit).await,
                None => branch.await,
            };
            Ok(format!("{} {}", cx.depth(), kind(deeper)))
        })
    }
    let work = async |cx: Conversation| {
        let all = down(cx.clone(), None).await?;
        let narrow = down(cx.clone(), Some(1)).await?;
        let wide = down(cx.clone(), Some(9)).await?;
        let none = down(cx, Some(0)).await?;
        Ok([all, narrow, wide, none].join(" | "))
    };
    let service = serve(draft(CallLimits::new().max_depth(2), work));
    for revision in REVISIONS {
        let told = call(&service, revision, echo()).await;
        let expected = "0 1 2 DepthExceeded { limit: 2 } | 0 1 DepthExceeded { limit: 1 } | \
            0 1 2 DepthExceeded { limit: 2 } | 0 DepthExceeded { limit: 0 }";
        assert_eq!(told.text, expected, "{revision}");
    }
}

#[tokio::test]
async fn a_branch_asks_the_user_only_if_it_may() {
    async fn name(cx: Conversation) -> Result<String> {
        let name = cx.elicit::<Name>("Name?").required().await?;
        Ok(name.name)
    }
    async fn visit(cx: Conversation) -> Result<String> {
        let visit = cx.elicit_url("Go", "https://example.com/").await?;
        Ok(format!("{visit:?}"))
    }
    let service = talk(async |cx: Conversation| {
        let refused = kind(cx.branch(name).await);
        let nor = kind(cx.branch(visit).await);
        let allowed = kind(cx.branch(name).allow_elicitation().await);
        let nested = async |b: Conversation| b.branch(name).allow_elicitation().await;
        let within = kind(cx.branch(nested).await);
        let both = kind(cx.branch(nested).allow_elicitation().await);
        Ok([refused, nor, allowed, within, both].join(" | "))
    });
    for revision in REVISIONS {
        let told = call(&service, revision, everyone()).await;
        let expected = "ElicitInBranch { depth: 1 } | ElicitInBranch { depth: 1 } | Ada | \
            ElicitInBranch { depth: 2 } | Ada";
        assert_eq!(told.text, expected, "{revision}");
        assert_eq!(told.asked.len(), 2, "{revision}");
    }
}

#[tokio::test]
async fn tokens_are_charged_to_all_around() {
    // Each question without a history costs 1, and its answer 2.
    async fn ask(b: Conversation) -> Result<String> {
        b.sample(vec![user("0123")]).await?;
        b.sample(vec![user("4567")]).await?;
        Ok("done".to_owned())
    }
    let work = async |cx: Conversation| {
        let narrow = kind(cx.branch(ask).max_tokens(3).await);
        let wide = kind(cx.branch(ask).max_tokens(1000).await);
        let nested = async |b: Conversation| b.branch(ask).await;
        let rest = kind(cx.branch(nested).await);
        Ok([narrow, wide, rest].join(" | "))
    };
    let service = serve(draft(CallLimits::new().max_tokens(12), work));
    for revision in REVISIONS {
        let told = call(&service, revision, echo()).await;
        let expected =
            "TokenBudgetExceeded { limit: 3 } | done | TokenBudgetExceeded { limit: 12 }";
        assert_eq!(told.text, expected, "{revision}");
        assert_eq!(told.asked.len(), 4, "{revision}");
    }
}

#[tokio::test]
async fn a_branch_that_fails_leaves_no_question_open() {
    let service = talk(async |cx: Conversation| {
        let failed = cx
            .branch(async |b: Conversation| {
                let fail = async {
                    b.sample("First?").await?;
                    Err::<String, _>(Error::failed("enough"))
                };
                let wait = async { Ok(b.sample("Left?").await?.to_string()) };
                let (never, _) = tokio::try_join!(fail, wait)?;
                Ok(never)
            })
            .await;
        let last = cx.sample("Last?").await?;
        Ok(format!("{} {last}", kind(failed)))
    });
    for revision in REVISIONS {
        let client = ByHand::connect(&service, revision, json!({"sampling": {}})).await;
        let live = revision.rules().era == Era::Handshake;
        let told = client.call(|question| match prompt(question) {
            "Left?" if live => Value::Null,
            other => says(&format!("re: {other}")),
        });
        let told = told.await;
        assert_eq!(told.text, "Failed re: Last?", "{revision}");
        assert_eq!(told.withdrawn, usize::from(live), "{revision}");
        if !live {
            assert_eq!(told.keys, ["1/1", "1/2", "1"]);
        }
    }
}

/// A branch that takes too long, and a question after it, so that a replay
/// comes by again.
fn hurried() -> Service {
    talk(async |cx: Conversation| {
        let late = cx
            .branch(async |b: Conversation| {
                b.sample("Quick?").await?;
                let inner = async |c: Conversation| Ok(c.sample("Slow?").await?.to_string());
                let slow = b.branch(inner).await;
                // What a branch does with its errors does not give it more time.
                b.sample("More?").await?;
                slow
            })
            .timeout(SOON)
            .await;
        let next = cx.sample("Next?").await?;
        let quick = cx
            .branch(async |b: Conversation| Ok(b.sample("In time?").await?.to_string()))
            .timeout(Duration::from_secs(3600))
            .await;
        let last = cx.sample("Last?").await?;
        Ok(format!("{} {next} {} {last}", kind(late), kind(quick)))
    })
}

const HURRIED: &str = "BranchTimeout { after: 50ms } re: Next? re: In time? re: Last?";

#[tokio::test(start_paused = true)]
async fn a_branch_that_takes_too_long_is_over() {
    let service = hurried();
    for revision in [Revision::V2025_06_18, Revision::V2025_11_25] {
        let client = ByHand::connect(&service, revision, json!({"sampling": {}})).await;
        let told = client.call(|question| match prompt(question) {
            "Slow?" => Value::Null,
            other => says(&format!("re: {other}")),
        });
        let told = told.await;
        assert_eq!(told.text, HURRIED, "{revision}");
        assert_eq!(told.withdrawn, 1, "{revision}");
    }
}

/// Repeats what it is asked, and takes its time over what is slow. The time of
/// day is not paused in tests, and has to pass.
fn slowly(question: &Value) -> Value {
    if prompt(question).contains("Slow") {
        let soon = SystemTime::now() + 2 * SOON;
        while SystemTime::now() < soon {
            std::hint::spin_loop();
        }
    }
    says(&format!("re: {}", prompt(question)))
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_was_too_slow_once_is_too_slow_in_every_replay() {
    let service = hurried();
    let told = call_with_tools(&service, Revision::V2026_07_28, slowly).await;
    assert_eq!(told.text, HURRIED);
    assert!(!told.keys.contains(&"1/2".to_owned()), "{:?}", told.keys);
}

#[tokio::test(start_paused = true)]
async fn a_branch_that_was_in_time_stays_in_time() {
    let service = talk(async |cx: Conversation| {
        let work = async |b: Conversation| {
            b.sample("Quick?").await?;
            b.step("note", async { Ok("in time".to_owned()) }).await
        };
        let ended = kind(cx.branch(work).timeout(SOON).await);
        cx.sample(format!("Slow, after {ended}?")).await?;
        cx.sample("Last?").await?;
        Ok(format!("Slow, after {ended}?"))
    });
    let told = call_with_tools(&service, Revision::V2026_07_28, slowly).await;
    // Where the machine was slow it was late, but then it stays so.
    assert_eq!(told.text, prompt(&told.asked[1]));
    assert_eq!(told.keys, ["1/1", "1", "2"]);
}

#[tokio::test(start_paused = true)]
async fn a_step_that_is_cut_off_does_not_begin_again() {
    let begun = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&begun);
    let service = talk(move |cx: Conversation| {
        let begun = Arc::clone(&count);
        async move {
            let step = async {
                begun.fetch_add(1, Ordering::Relaxed);
                pending::<Result<String>>().await
            };
            let work = async |b: Conversation| b.step("endless", step).await;
            let cut = cx.branch(work).timeout(Duration::from_secs(1)).await;
            let first = cx.sample("First?").await?;
            let second = cx.sample("Second?").await?;
            Ok(format!("{} {first} {second}", kind(cut)))
        }
    });
    for revision in REVISIONS {
        begun.store(0, Ordering::Relaxed);
        let told = call(&service, revision, echo()).await;
        let expected = "BranchTimeout { after: 1s } re: First? re: Second?";
        assert_eq!(told.text, expected, "{revision}");
        assert_eq!(begun.load(Ordering::Relaxed), 1, "{revision}");
    }
}
