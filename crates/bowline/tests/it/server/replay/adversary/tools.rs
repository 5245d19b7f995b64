//! Tools that are worth an attack. Each notes, with every effect, what it knew.

use std::{
    sync::{Arc, LazyLock},
    time::Duration,
};

use bowline::server::{CallLimits, Conversation, Elicited, Error, HandlerContext, Result, Tool};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::join;

use super::world::{Hold, SCENE, Scene};
use crate::server::replay::{
    app::Text,
    program::{self, Part},
};

/// The names of the tools.
pub(crate) const NAMES: [&str; 6] = ["book", "choose", "timed", "both", "three", "program"];

/// What nobody answers, and effects must agree on all the same.
pub(crate) const IN_TIME: &str = "was it in time?";

/// How long the branch may take that has a limit.
const SOON: Duration = Duration::from_secs(60);

#[derive(Deserialize, JsonSchema)]
struct Order {
    what: String,
}

/// All tools, with this program as one of them.
pub(crate) fn all(program: &Part) -> Vec<Tool<Hold>> {
    // To make one, its schema is read, which takes longer than to attack it.
    static SAME: LazyLock<[Tool<Hold>; 5]> =
        LazyLock::new(|| [book(), choose(), timed(), both(), three()]);
    let mut tools = SAME.to_vec();
    tools.push(random(program));
    tools
}

/// The scene of a conversation, which draws its number first.
async fn scene(cx: &Conversation<Hold>, order: &Order) -> Result<Scene> {
    let principal = cx.principal().unwrap_or("nobody");
    let number = cx.step("id", cx.state().draw(&order.what, principal));
    Ok(Scene::new(number.await?, &order.what, cx.principal()))
}

/// What the user says to this, in a word.
async fn ask(cx: &Conversation<Hold>, scene: &Scene, question: &str) -> Result<String> {
    let said = match cx.elicit::<Text>(question).await? {
        Elicited::Accepted(answer) => {
            let (word, _) = answer.text.split_once(" to ").unwrap_or_default();
            word.to_owned()
        }
        Elicited::Declined => "declined".to_owned(),
        Elicited::Cancelled => "cancelled".to_owned(),
    };
    scene.hear(question, &said);
    Ok(said)
}

async fn step(cx: &Conversation<Hold>, scene: &Scene, name: &str, seconds: u64) -> Result<String> {
    cx.step(name, scene.effect(cx.state(), name, seconds)).await
}

/// Holds, asks twice, and books or lets go.
fn book() -> Tool<Hold> {
    Tool::new("book")
        .description("Books a seat")
        .input::<Order>()
        .phases()
        .before(async |order: Order, cx: HandlerContext<Hold>| {
            let principal = cx.principal().unwrap_or("nobody");
            let number = cx.state().draw(&order.what, principal).await?;
            let scene = Scene::new(number, &order.what, cx.principal());
            scene.effect(cx.state(), "hold", 1).await?;
            Ok((number, order.what))
        })
        .ask(
            async |(number, what): (usize, String), cx: Conversation<Hold>| {
                let scene = Scene::new(number, &what, cx.principal());
                if ask(&cx, &scene, "book?").await? != "0" {
                    return Err(Error::failed("not booked"));
                }
                step(&cx, &scene, "reserve", 2).await?;
                if ask(&cx, &scene, "sure?").await? == "declined" {
                    return Err(Error::failed("not booked"));
                }
                Ok(scene)
            },
        )
        .cleanup(
            async |(number, what): (usize, String), cx: HandlerContext<Hold>| {
                let scene = Scene::new(number, &what, cx.principal());
                scene.effect(cx.state(), "cleanup", 2).await?;
                Ok(())
            },
        )
        .after(async |_, scene: Scene, cx: HandlerContext<Hold>| {
            scene.effect(cx.state(), "after", 3).await
        })
}

/// Does one thing or the other.
fn choose() -> Tool<Hold> {
    Tool::new("choose")
        .description("Refunds or ships")
        .input::<Order>()
        .handler_with_conversation(async |order: Order, cx: Conversation<Hold>| {
            let scene = scene(&cx, &order).await?;
            let which = ask(&cx, &scene, "which?").await?;
            if ask(&cx, &scene, "sure?").await? != "0" {
                return Ok("neither".to_owned());
            }
            match &*which {
                "0" => step(&cx, &scene, "refund", 1).await,
                "1" => step(&cx, &scene, "ship", 1).await,
                _ => Ok("neither".to_owned()),
            }
        })
}

/// Charges within a branch that has a time limit, and says afterwards whether
/// that was in time.
fn timed() -> Tool<Hold> {
    Tool::new("timed")
        .description("Charges in time")
        .input::<Order>()
        .handler_with_conversation(async |order: Order, cx: Conversation<Hold>| {
            let scene = scene(&cx, &order).await?;
            let within = scene.clone();
            let charge = async move |branch: Conversation<Hold>| {
                ask(&branch, &within, "pay?").await?;
                step(&branch, &within, "charge", 2).await
            };
            let paid = cx.branch(charge).allow_elicitation().timeout(SOON).await;
            let paid = if paid.is_ok() { "receipt" } else { "apology" };
            scene.hear(IN_TIME, paid);
            ask(&cx, &scene, "where to?").await?;
            step(&cx, &scene, paid, 1).await
        })
}

/// Two branches at once.
fn both() -> Tool<Hold> {
    Tool::new("both")
        .description("Does two things at once")
        .input::<Order>()
        .handler_with_conversation(async |order: Order, cx: Conversation<Hold>| {
            let scene = &scene(&cx, &order).await?;
            let side = |side: &'static str, seconds| {
                let work = async move |branch: Conversation<Hold>| {
                    let answer = ask(&branch, scene, &format!("{side}?")).await?;
                    let name = format!("{side} {answer}");
                    step(&branch, scene, &name, seconds).await?;
                    let more = ask(&branch, scene, &format!("more {side}?")).await?;
                    let name = format!("{name} {more}");
                    step(&branch, scene, &name, seconds).await
                };
                cx.branch(work).allow_elicitation().into_future()
            };
            let (left, right) = join!(side("left", 1), side("right", 3));
            Ok(format!("{}, {}", left?, right?))
        })
}

/// Three questions, and an effect after each.
fn three() -> Tool<Hold> {
    Tool::new("three")
        .description("Asks three times")
        .input::<Order>()
        .handler_with_conversation(async |order: Order, cx: Conversation<Hold>| {
            let scene = scene(&cx, &order).await?;
            let mut all = String::from("three");
            for question in ["one?", "two?", "three?"] {
                all = all + " " + &ask(&cx, &scene, question).await?;
                step(&cx, &scene, &all, 1).await?;
            }
            Ok(all)
        })
}

/// The program of this run.
fn random(program: &Part) -> Tool<Hold> {
    let program = Arc::new(program.clone());
    Tool::new("program")
        .description("Runs a random conversation")
        .input::<Order>()
        .limits(CallLimits::new().max_questions(10_000))
        .handler_with_conversation(move |order: Order, cx: Conversation<Hold>| {
            let program = Arc::clone(&program);
            async move {
                let scene = scene(&cx, &order).await?;
                let run = program::run_part(&program, &cx);
                SCENE.scope(scene, run).await
            }
        })
}
