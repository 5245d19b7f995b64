//! Tools that ask in all the ways that authors write.

use bowline::server::{
    CallLimits, Conversation, Elicited, Error, HandlerContext, OnDecline, Result, Tool,
};
use tokio::{join, try_join};

use super::{
    app::{App, Text},
    unordered::{Boxed, unordered},
};

/// A tool, and what must come of it in every era.
pub(crate) struct Case {
    pub(crate) tool: Tool<App>,
    pub(crate) text: &'static str,
    pub(crate) failed: bool,
    /// What happened, sorted.
    pub(crate) noted: &'static [&'static str],
    /// What the user was asked, sorted.
    pub(crate) asked: &'static [&'static str],
}

type Talk = Conversation<App>;

/// A tool that does this.
fn tool<F, W>(name: &str, work: F) -> Tool<App>
where
    F: Fn(Talk) -> W + Send + Sync + 'static,
    W: Future<Output = Result<String>> + Send + 'static,
{
    let draft = Tool::new(name).description("Asks").no_input();
    draft.handler_with_conversation(move |_, cx| work(cx))
}

fn done(
    tool: Tool<App>,
    text: &'static str,
    noted: &'static [&'static str],
    asked: &'static [&'static str],
) -> Case {
    Case {
        tool,
        text,
        failed: false,
        noted,
        asked,
    }
}

fn failed(
    tool: Tool<App>,
    text: &'static str,
    noted: &'static [&'static str],
    asked: &'static [&'static str],
) -> Case {
    Case {
        failed: true,
        ..done(tool, text, noted, asked)
    }
}

async fn text(cx: &Talk, message: &str) -> Result<String> {
    Ok(cx.elicit::<Text>(message).required().await?.text)
}

async fn step(cx: &Talk, name: &str) -> Result<String> {
    cx.step(name, cx.state().note(name)).await
}

pub(crate) fn all() -> Vec<Case> {
    let mut cases = one_after_another();
    cases.extend(at_once());
    cases.extend(answers());
    cases.extend(steps());
    cases.extend(handoffs());
    cases
}

fn one_after_another() -> Vec<Case> {
    let looping = tool("loop", async |cx| {
        let mut all = String::new();
        for number in 0..3 {
            all += &text(&cx, &format!("q{number}")).await?;
            cx.step("count", cx.state().note(&number.to_string()))
                .await?;
        }
        Ok(all)
    });
    let branching = tool("branch", async |cx| {
        step(&cx, "s0").await?;
        if text(&cx, "left").await? == "left" {
            step(&cx, "s1").await?;
            return text(&cx, "then").await;
        }
        step(&cx, "s2").await
    });
    let keyed = tool("keyed", async |cx| {
        let mut all = String::new();
        for key in ["b", "a"] {
            let answer = cx.elicit::<Text>(format!("q{key}")).key(key).required();
            all += &answer.await?.text;
        }
        Ok(all)
    });
    let twice = tool("twice", async |cx| {
        cx.elicit::<Text>("q").key("a").required().await?;
        cx.elicit::<Text>("r").key("a").required().await?;
        Ok("done".to_owned())
    });
    let limited = Tool::new("limited")
        .description("Asks too much")
        .no_input()
        .limits(CallLimits::new().max_questions(2))
        .handler_with_conversation(async |_, cx: Talk| {
            for number in 0.. {
                let asked = text(&cx, &format!("q{number}")).await;
                if let Err(error) = asked {
                    return Ok(format!("{:?}", error.kind()));
                }
            }
            Ok(String::new())
        });
    vec![
        done(looping, "q0q1q2", &["0", "1", "2"], &["q0", "q1", "q2"]),
        done(branching, "then", &["s0", "s1"], &["left", "then"]),
        done(keyed, "qbqa", &[], &["qa", "qb"]),
        failed(
            twice,
            "Error: InvalidQuestion: the key \"a\" is used twice in this conversation",
            &[],
            &["q"],
        ),
        done(limited, "TooManyQuestions { limit: 2 }", &[], &["q0", "q1"]),
    ]
}

fn at_once() -> Vec<Case> {
    let joined = tool("join", async |cx| {
        let left = async {
            let first = text(&cx, "l1").await?;
            step(&cx, "left").await?;
            Ok::<_, Error>(first + &text(&cx, "l2").await?)
        };
        let right = async {
            step(&cx, "right").await?;
            let first = text(&cx, "r1").await?;
            step(&cx, "right again").await?;
            Ok::<_, Error>(first)
        };
        let (left, right, alone) = join!(left, right, step(&cx, "alone"));
        Ok(format!("{} {} {}", left?, right?, alone?))
    });
    let tried = tool("try_join", async |cx| {
        let both = try_join!(text(&cx, "yes"), text(&cx, "no: thanks"));
        let kind = both.map_err(|error| error.kind().clone());
        step(&cx, "after").await?;
        text(&cx, "then").await?;
        Ok(format!("{kind:?}"))
    });
    let many = tool("many", async |cx| {
        let asks = (0..5).map(|number| {
            let cx = cx.clone();
            let ask = async move {
                let number = number.to_string();
                let answer = cx.elicit::<Text>(number.clone()).required().await?.text;
                cx.step("write", cx.state().note(&number)).await?;
                Ok::<_, Error>(answer)
            };
            Box::pin(ask) as Boxed<'_, _>
        });
        let ended = unordered(asks).await.into_iter();
        let mut all: Vec<String> = ended.map(|(_, answer)| answer).collect::<Result<_>>()?;
        all.sort();
        Ok(all.concat())
    });
    let raced = tool("select", async |cx| {
        // The step ends by itself; the question cannot.
        let won = tokio::select! {
            biased;
            step = step(&cx, "s") => step?,
            answer = cx.roots() => format!("{answer:?}"),
        };
        Ok(won + &text(&cx, "q").await?)
    });
    vec![
        done(
            joined,
            "l1l2 r1 alone",
            &["alone", "left", "right", "right again"],
            &["l1", "l2", "r1"],
        ),
        done(
            tried,
            "Err(Declined)",
            &["after"],
            &["no: thanks", "then", "yes"],
        ),
        done(
            many,
            "01234",
            &["0", "1", "2", "3", "4"],
            &["0", "1", "2", "3", "4"],
        ),
        done(raced, "sq", &["s"], &["q"]),
    ]
}

fn answers() -> Vec<Case> {
    let declined = tool("decline", async |cx| {
        match cx.elicit::<Text>("no: never").await? {
            Elicited::Declined => Ok("declined".to_owned()),
            other => text(&cx, &format!("{other:?}")).await,
        }
    });
    let away = tool("cancel", async |cx| text(&cx, "away: gone").await);
    let retried = tool("retry", async |cx| {
        let question = cx.elicit::<Text>("bad: text?").key("t");
        let answer = question.retry(3, OnDecline::Error).await?.accepted()?;
        Ok(format!("{}", answer.text.len()))
    });
    let insisted = tool("insist", async |cx| {
        let question = cx.elicit::<Text>("no: text?");
        let answer = question.retry(3, OnDecline::Retry).await?;
        Ok(format!("{answer:?}"))
    });
    let confirmed = tool("confirm", async |cx| {
        cx.confirm("confirm: a").await?;
        let refused = cx.confirm("refuse: b").await;
        Ok(format!("{:?}", refused.map_err(|e| e.kind().clone())))
    });
    let rooted = tool("roots", async |cx| {
        let (roots, answer) = join!(cx.roots(), text(&cx, "q"));
        Ok(format!("{} {}", roots?[0].uri, answer?))
    });
    vec![
        done(declined, "declined", &[], &["no: never"]),
        failed(
            away,
            "Error: ElicitationCancelled: the user cancelled",
            &[],
            &["away: gone"],
        ),
        done(
            retried,
            "70",
            &[],
            &[
                "bad: text?",
                "bad: text?\n\nThe last answer was not valid: text: an answer is required",
            ],
        ),
        done(
            insisted,
            "Declined",
            &[],
            &["no: text?", "no: text?", "no: text?"],
        ),
        done(
            confirmed,
            "Err(Declined)",
            &[],
            &["confirm: a", "refuse: b"],
        ),
        done(rooted, "file:///work q", &[], &["q"]),
    ]
}

fn steps() -> Vec<Case> {
    let around = tool("around", async |cx| {
        step(&cx, "before").await?;
        text(&cx, "q").await?;
        step(&cx, "between").await?;
        text(&cx, "r").await?;
        step(&cx, "after").await
    });
    let failing = tool("failing", async |cx| {
        let failing = async {
            cx.state().note("failing").await?;
            Err::<(), _>(Error::failed("out of paper"))
        };
        let printed = cx.step("print", failing).await;
        text(&cx, "q").await?;
        step(&cx, "then").await?;
        text(&cx, "r").await?;
        Ok(printed.expect_err("it fails").to_string())
    });
    let asking = tool("asking", async |cx| {
        text(&cx, "q").await?;
        let ask = async { text(&cx, "in a step").await };
        let asked = cx.step("asks", ask).await;
        Ok(asked.expect_err("it fails").to_string())
    });
    let nested = tool("nested", async |cx| {
        let outer = async { step(&cx, "inner").await };
        let taken = cx.step("outer", outer).await;
        text(&cx, "q").await?;
        Ok(taken.expect_err("it fails").to_string())
    });
    vec![
        done(
            around,
            "after",
            &["after", "before", "between"],
            &["q", "r"],
        ),
        done(failing, "out of paper", &["failing", "then"], &["q", "r"]),
        done(asking, "a step must not ask", &[], &["q"]),
        done(nested, "a step must not run other steps", &[], &["q"]),
    ]
}

/// A tool in three phases that fails in this one, or in none.
fn in_phases(name: &'static str, failing: &'static str) -> Tool<App> {
    let check = move |phase: &str| match phase == failing {
        true => Err(Error::failed(format!("{phase} failed"))),
        false => Ok(()),
    };
    Tool::new(name)
        .description("Works in three phases")
        .no_input()
        .phases()
        .before(move |_, cx: HandlerContext<App>| async move {
            cx.state().note("before").await?;
            check("before")?;
            Ok(7_u32)
        })
        .ask(move |number, cx: Conversation<App>| async move {
            let first = text(&cx, &format!("q{number}")).await?;
            step(&cx, "step").await?;
            check("client")?;
            Ok(first + &text(&cx, "r").await?)
        })
        .cleanup(move |number, cx: HandlerContext<App>| async move {
            cx.state().note(&format!("cleanup {number}")).await?;
            Ok(())
        })
        .after(
            move |number, answer: String, cx: HandlerContext<App>| async move {
                cx.state().note("after").await?;
                check("after")?;
                Ok(format!("{number} {answer}"))
            },
        )
}

fn handoffs() -> Vec<Case> {
    vec![
        done(
            in_phases("phases", ""),
            "7 q7r",
            &["after", "before", "step"],
            &["q7", "r"],
        ),
        failed(
            in_phases("phases_before", "before"),
            "Error: before failed",
            &["before"],
            &[],
        ),
        failed(
            in_phases("phases_client", "client"),
            "Error: client failed",
            &["before", "cleanup 7", "step"],
            &["q7"],
        ),
        failed(
            in_phases("phases_after", "after"),
            "Error: after failed",
            &["after", "before", "step"],
            &["q7", "r"],
        ),
    ]
}
