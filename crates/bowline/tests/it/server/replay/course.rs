//! A conversation has one course, and it is the course of the request that it
//! began with.

use std::{sync::Arc, time::Duration};

use bowline::server::{
    Conversation, Elicited, HandlerContext, Server, Service, Tool,
    seal::SealKeys,
    store::{JournalStore, MemoryJournalStore, MemorySealedStateStore},
};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::{join, time::sleep};

use super::{
    app::{App, Text},
    rig::{Called, Peer, Questions, Round, always, call_text, say},
    stores::{Far, Through},
};

/// Two nodes with one application and one store.
fn nodes(tool: impl Fn() -> Tool<Arc<App>>) -> (Service<Arc<App>>, Service<Arc<App>>) {
    nodes_on(&Arc::new(MemoryJournalStore::new()), tool)
}

/// The same with this store.
fn nodes_on(
    store: &Arc<impl JournalStore>,
    tool: impl Fn() -> Tool<Arc<App>>,
) -> (Service<Arc<App>>, Service<Arc<App>>) {
    let app = Arc::new(App::default());
    let node = || {
        let secret = b"a secret of at least thirty-two bytes";
        Server::new("course", "1")
            .state(Arc::clone(&app))
            .tool(tool())
            .seal_keys(SealKeys::from_secret(secret).expect("long enough"))
            .journal_store(Arc::clone(store))
            .sealed_state_store(MemorySealedStateStore::new())
            .build()
            .expect("the server is sound")
    };
    (node(), node())
}

#[derive(Deserialize, JsonSchema)]
struct Order {
    item: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
struct Amount {
    count: i128,
}

/// Asks, and orders what its arguments say.
fn buy() -> Tool<Arc<App>> {
    Tool::new("buy")
        .description("Buys something")
        .input::<Order>()
        .handler_with_conversation(async |order: Order, cx: Conversation<Arc<App>>| {
            cx.elicit::<Text>("buy?").required().await?;
            let what = format!("{:?}", order.item);
            cx.step("order", cx.state().note(&what)).await
        })
}

/// Likewise, so many of them.
fn buy_many() -> Tool<Arc<App>> {
    Tool::new("buy")
        .description("Buys many")
        .input::<Amount>()
        .handler_with_conversation(async |amount: Amount, cx: Conversation<Arc<App>>| {
            cx.elicit::<Text>("buy?").required().await?;
            let what = amount.count.to_string();
            cx.step("order", cx.state().note(&what)).await
        })
}

/// What comes of a state that was given out for one text of arguments, and
/// comes back with another; and what happened.
async fn goes_on(tool: fn() -> Tool<Arc<App>>, begun: &str, later: &str) -> (Round, Vec<String>) {
    let (one, _) = nodes(tool);
    let mut peer = Peer::known(&one, "ada");
    let asked = peer.ask_text(&call_text("buy", begun, None)).await;
    let asked = asked.questions();
    let answers = asked.answers(always("yes"));
    let params = call_text("buy", later, Some((&asked.state, &answers)));
    (peer.ask_text(&params).await, one.state().noted())
}

async fn is_another_request(tool: fn() -> Tool<Arc<App>>, begun: &str, later: &str) {
    let (round, noted) = goes_on(tool, begun, later).await;
    let Round::Refused(code, why) = &round else {
        panic!("{begun} went on as {later}: {round:?}, {noted:?}");
    };
    assert_eq!(*code, -32602, "{why}");
    assert!(why.contains("another request"), "{why}");
    assert!(noted.is_empty(), "{begun} went on as {later}: {noted:?}");
}

#[tokio::test(start_paused = true)]
async fn numbers_beyond_all_bounds_are_bound() {
    let pen = r#"{"item":"pen","x":1e400}"#;
    is_another_request(buy, pen, r#"{"item":"car","x":1e400}"#).await;
    is_another_request(buy, pen, r#"{"item":"pen","x":1e401}"#).await;
    is_another_request(buy, pen, r#"{"item":"pen"}"#).await;
    is_another_request(buy, pen, "{}").await;
    is_another_request(buy, r#"{"item":"pen"}"#, pen).await;
}

#[tokio::test(start_paused = true)]
async fn half_a_character_is_bound() {
    let pen = r#"{"item":"pen","x":"\ud800"}"#;
    is_another_request(buy, pen, r#"{"item":"car","x":"\ud800"}"#).await;
    is_another_request(buy, pen, r#"{"item":"pen","x":"\ud801"}"#).await;
    is_another_request(buy, pen, r#"{"item":"pen","x":1e400}"#).await;
}

#[tokio::test(start_paused = true)]
async fn large_numbers_that_differ_in_the_end_are_bound() {
    // Both are the same as the nearest number with a floating point.
    let many = r#"{"count":170141183460469231731687303715884105727}"#;
    is_another_request(
        buy_many,
        many,
        r#"{"count":170141183460469231731687303715884105726}"#,
    )
    .await;
    let many = r#"{"count":36893488147419103232}"#;
    is_another_request(buy_many, many, r#"{"count":36893488147419103233}"#).await;
}

/// Also where they have no value here.
#[tokio::test(start_paused = true)]
async fn the_same_arguments_may_be_written_in_another_way() {
    let pen = r#"{"item":"pen","x":[1,2]}"#;
    let infinite = r#"{"item":"pen","x":1e400}"#;
    let half = r#"{"item":"pen","x":"\ud800"}"#;
    let many = r#"{"count":36893488147419103233,"x":1}"#;
    let tool: fn() -> Tool<Arc<App>> = buy;
    for (tool, begun, later) in [
        (tool, pen, "{ \"x\": [ 1,2 ],\n \"item\" : \"pen\" }"),
        (tool, pen, r#"{"item":"\u0070en","x":[1,2]}"#),
        (tool, infinite, r#"{ "x" : 1e400, "item": "pen" }"#),
        (tool, half, r#"{ "x" : "\ud800", "item": "pen" }"#),
        (buy_many, many, r#"{"x":1, "count":36893488147419103233}"#),
    ] {
        let (round, noted) = goes_on(tool, begun, later).await;
        let ended = matches!(round, Round::Ended(_));
        assert!(ended, "{begun}, {later}: {round:?}");
        assert_eq!(noted.len(), 1, "{begun}, {later}");
    }
}

/// An answer may hold what has no value here, too.
#[tokio::test(start_paused = true)]
async fn an_answer_may_be_beyond_all_bounds() {
    for beyond in ["1e400", r#""\ud800""#] {
        let (one, _) = nodes(buy);
        let mut peer = Peer::new(&one);
        let asked = peer.begin(&Called::new("buy")).await.questions();
        let answers = format!(
            r#"{{"1":{{"action":"accept","content":{{"text":"yes"}},"_meta":{{"x":{beyond}}}}}}}"#
        );
        let params = call_text("buy", "{}", Some((&asked.state, &json!({}))));
        let params = params.replace(
            r#""inputResponses":{}"#,
            &format!(r#""inputResponses":{answers}"#),
        );
        for _ in 0..2 {
            let round = peer.ask_text(&params).await;
            assert!(matches!(round, Round::Ended(_)), "{beyond}: {round:?}");
        }
        assert_eq!(one.state().noted().len(), 1, "{beyond}");
    }
}

/// Holds, asks, and then books or lets go.
fn book() -> Tool<Arc<App>> {
    let work = |what: &'static str, cx: HandlerContext<Arc<App>>| async move {
        cx.state().note(what).await?;
        sleep(Duration::from_secs(1)).await;
        Ok(())
    };
    Tool::new("book")
        .description("Books a seat")
        .no_input()
        .phases()
        .before(move |_, cx: HandlerContext<Arc<App>>| work("hold", cx))
        .ask(async |(), cx: Conversation<Arc<App>>| {
            Ok(cx.elicit::<Text>("book?").required().await?.text)
        })
        .cleanup(move |(), cx: HandlerContext<Arc<App>>| work("release", cx))
        .after(
            move |(), text: String, cx: HandlerContext<Arc<App>>| async move {
                work("book", cx).await?;
                Ok(text)
            },
        )
}

fn decline() -> Value {
    json!({"action": "decline"})
}

/// Ends with what it ended with first, or is refused.
#[track_caller]
fn same_or_refused(first: &Round, again: &Round) {
    match again {
        Round::Refused(..) => {}
        other => assert_eq!(first, other, "two ends of one conversation"),
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_booked_is_not_released() {
    let (one, two) = nodes(book);
    let called = Called::new("book");
    let asked = Peer::new(&one).begin(&called).await.questions();
    let yes = json!({"1": say("yes")});
    let end = Peer::new(&one).go_on(&called, &asked.state, &yes).await;
    assert_eq!(end.text(), ("yes".to_owned(), false));
    for node in [&one, &two] {
        let no = json!({"1": decline()});
        let again = Peer::new(node).go_on(&called, &asked.state, &no).await;
        assert_eq!(one.state().noted(), ["hold", "book"]);
        same_or_refused(&end, &again);
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_released_is_not_booked() {
    let (one, two) = nodes(book);
    let called = Called::new("book");
    let asked = Peer::new(&one).begin(&called).await.questions();
    let no = json!({"1": decline()});
    let end = Peer::new(&one).go_on(&called, &asked.state, &no).await;
    assert!(end.text().1, "{end:?}");
    for node in [&one, &two] {
        let yes = json!({"1": say("yes")});
        let again = Peer::new(node).go_on(&called, &asked.state, &yes).await;
        assert_eq!(one.state().noted(), ["hold", "release"]);
        same_or_refused(&end, &again);
    }
}

#[tokio::test(start_paused = true)]
async fn yes_and_no_at_once_are_one_of_them() {
    let (one, two) = nodes(book);
    let called = Called::new("book");
    let asked = Peer::new(&one).begin(&called).await.questions();
    let answers = [say("yes"), decline(), say("yes"), decline()];
    let mut calls = Vec::new();
    for (number, answer) in answers.iter().enumerate() {
        let mut peer = Peer::new([&one, &two][number / 2]);
        let params = called.later(&asked.state, &json!({"1": answer}));
        let id = peer.send("tools/call", &params).await;
        calls.push((peer, id));
    }
    let mut ends = Vec::new();
    for (mut peer, id) in calls {
        ends.push(peer.answer(id).await);
    }
    assert_eq!(one.state().noted().len(), 2, "{:?}", one.state().noted());
    ends.retain(|end| matches!(end, Round::Ended(_)));
    for end in &ends {
        assert_eq!(*end, ends[0], "two ends of one conversation");
    }
}

/// Does one thing or the other.
fn choose() -> Tool<Arc<App>> {
    Tool::new("choose")
        .description("Refunds or ships")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<Arc<App>>| {
            match &*cx.elicit::<Text>("which?").required().await?.text {
                "refund" => cx.step("refund", cx.state().note("refund")).await,
                _ => cx.step("ship", cx.state().note("ship")).await,
            }
        })
}

#[tokio::test(start_paused = true)]
async fn one_state_with_two_answers_has_one_effect() {
    let (one, two) = nodes(choose);
    let called = Called::new("choose");
    let asked = Peer::new(&one).begin(&called).await.questions();
    let refund = json!({"1": say("refund")});
    let end = Peer::new(&one).go_on(&called, &asked.state, &refund).await;
    assert_eq!(end.text().0, "refund");
    for node in [&one, &two] {
        let ship = json!({"1": say("ship")});
        let again = Peer::new(node).go_on(&called, &asked.state, &ship).await;
        assert_eq!(one.state().noted(), ["refund"]);
        same_or_refused(&end, &again);
        let again = Peer::new(node).go_on(&called, &asked.state, &refund).await;
        assert_eq!(again, end, "the course that it took goes on");
    }
}

/// Asks as many questions as the first answer says and one more, and then has
/// an effect that is named after all answers.
fn path() -> Tool<Arc<App>> {
    Tool::new("path")
        .description("Goes one way or the other")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<Arc<App>>| {
            let mut all = cx.elicit::<Text>("which way?").required().await?.text;
            for _ in 0..all.len() {
                all += &cx.elicit::<Text>("sure?").required().await?.text;
            }
            cx.step(&all, cx.state().note(&all)).await?;
            let last = cx.elicit::<Text>("and now?").required().await?.text;
            let all = all + &last;
            cx.step(&all, cx.state().note(&all)).await
        })
}

/// The state after these answers, one for each round, from this one on; `None`
/// if that course is refused.
async fn after(
    peer: &mut Peer,
    called: &Called,
    from: &Questions,
    answers: &[&'static str],
) -> Option<Questions> {
    let mut asked = from.clone();
    for answer in answers {
        let answers = asked.answers(always(answer));
        match peer.go_on(called, &asked.state, &answers).await {
            Round::Asked(questions) => asked = questions,
            Round::Refused(..) => return None,
            Round::Ended(end) => panic!("it has ended: {end}"),
        }
    }
    Some(asked)
}

#[tokio::test(start_paused = true)]
async fn who_went_another_way_before_has_no_effect_after() {
    let (one, two) = nodes(path);
    let called = Called::new("path");
    let mut peer = Peer::new(&one);
    let first = peer.begin(&called).await.questions();
    let a = after(&mut peer, &called, &first, &["a"]).await;
    let b = after(&mut Peer::new(&two), &called, &first, &["b"]).await;
    let a = a.expect("nothing speaks against the first way");
    let then = after(&mut peer, &called, &a, &["y"]).await;
    let then = then.expect("nor against its effect");
    assert_eq!(one.state().noted(), ["ay"]);
    if let Some(b) = b {
        let late = after(&mut Peer::new(&two), &called, &b, &["y"]).await;
        assert_eq!(one.state().noted(), ["ay"], "a second course");
        assert_eq!(late, None, "a second course");
    }
    // The first goes on where it was.
    let answers = then.answers(always("!"));
    let end = peer.go_on(&called, &then.state, &answers).await;
    assert_eq!(end.text().0, "ay!");
    assert_eq!(one.state().noted(), ["ay", "ay!"]);
}

#[tokio::test(start_paused = true)]
async fn a_longer_way_is_another_way_too() {
    for longer_first in [false, true] {
        let (one, two) = nodes(path);
        let called = Called::new("path");
        let mut peer = Peer::new(&one);
        let first = peer.begin(&called).await.questions();
        let short = after(&mut peer, &called, &first, &["a"]).await;
        let long = after(&mut Peer::new(&two), &called, &first, &["bb", "y"]).await;
        let mut ways = [short, long];
        if longer_first {
            ways.reverse();
        }
        let mut effects = Vec::new();
        for way in ways.iter().flatten() {
            after(&mut Peer::new(&two), &called, way, &["y"]).await;
            effects.push(one.state().noted());
        }
        assert_eq!(effects[0].len(), 1, "{effects:?}");
        assert_eq!(effects.first(), effects.last(), "a second course");
    }
}

/// An effect fixes the answers before it, and not those after.
#[tokio::test(start_paused = true)]
async fn until_the_next_effect_an_answer_may_be_changed() {
    let (one, _) = nodes(path);
    let called = Called::new("path");
    let mut peer = Peer::new(&one);
    let first = peer.begin(&called).await.questions();
    let other = after(&mut peer, &called, &first, &["b"]).await;
    assert!(other.is_some(), "nothing has happened");
    let a = after(&mut peer, &called, &first, &["a", "n"]).await;
    assert!(a.is_some(), "nothing had happened");
    assert_eq!(one.state().noted(), ["an"]);
}

/// Steps of one name are told apart by their number, and who comes first
/// depends on what is answered. Both begin while the store is on its way.
#[tokio::test(start_paused = true)]
async fn what_one_answer_led_to_is_not_repeated_when_there_are_two() {
    let tool = || {
        Tool::new("pair")
            .description("Asks two things at once, and acts on each")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<Arc<App>>| {
                let side = async |key: &str| {
                    cx.elicit::<Text>(key).key(key).required().await?;
                    cx.step("act", cx.state().note(key)).await
                };
                let (left, right) = join!(side("left"), side("right"));
                Ok(format!("{} {}", left?, right?))
            })
    };
    let (one, two) = nodes_on(&Arc::new(Through(Far, MemoryJournalStore::new())), tool);
    let called = Called::new("pair");
    let asked = Peer::new(&one).begin(&called).await.questions();
    let right = json!({"right": say("yes")});
    let then = Peer::new(&one).go_on(&called, &asked.state, &right).await;
    let then = then.questions();
    assert_eq!(one.state().noted(), ["right"]);
    let both = asked.answers(always("yes"));
    for node in [&one, &two] {
        Peer::new(node).go_on(&called, &asked.state, &both).await;
        assert!(
            one.state().repeated().is_empty(),
            "{:?}",
            one.state().noted()
        );
    }
    let left = then.answers(always("yes"));
    Peer::new(&two).go_on(&called, &then.state, &left).await;
    let mut noted = one.state().noted();
    noted.sort();
    assert_eq!(noted, ["left", "right"]);
}

#[tokio::test(start_paused = true)]
async fn to_lack_a_capability_is_not_the_end() {
    let tool = || {
        Tool::new("sum")
            .description("Asks the user, and then a model")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<Arc<App>>| {
                let first = cx.elicit::<Text>("first").required().await?.text;
                cx.step("step", cx.state().note("step")).await?;
                Ok(format!("{first}: {}", cx.sample("sum up").await?))
            })
    };
    let (one, _) = nodes(tool);
    let called = Called::new("sum");
    let mut peer = Peer::new(&one);
    let asked = peer.begin(&called).await.questions();
    let answers = asked.answers(always("a"));
    let mut lacking = Peer::new(&one);
    lacking.meta["io.modelcontextprotocol/clientCapabilities"] = json!({
        "elicitation": {"form": {}}
    });
    for _ in 0..2 {
        let round = lacking.go_on(&called, &asked.state, &answers).await;
        assert!(matches!(round, Round::Refused(-32021, _)), "{round:?}");
    }
    let then = peer.go_on(&called, &asked.state, &answers).await;
    let then = then.questions();
    let model = json!({
        "role": "assistant", "content": {"type": "text", "text": "done"}, "model": "m"
    });
    let answers = then.answers(|_, _| model.clone());
    let end = peer.go_on(&called, &then.state, &answers).await;
    assert_eq!(end.text(), ("a: done".to_owned(), false));
    assert_eq!(one.state().noted(), ["step"]);
}

/// As after a deployment between two rounds.
#[tokio::test(start_paused = true)]
async fn nothing_is_done_beside_a_question_that_has_changed() {
    let tool = || {
        Tool::new("reserve")
            .description("Asks something else later, and reserves beside it")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<Arc<App>>| {
                let world = cx.state().world();
                let reserve = async {
                    match world {
                        0 => Ok(String::new()),
                        _ => cx.step("reserve", cx.state().note("reserve")).await,
                    }
                };
                let (answer, reserved) = join!(cx.elicit::<Text>(format!("in {world}?")), reserve);
                reserved?;
                Ok(match answer? {
                    Elicited::Accepted(answer) => answer.text,
                    _ => String::from("none"),
                })
            })
    };
    let (one, _) = nodes(tool);
    let called = Called::new("reserve");
    let mut peer = Peer::new(&one);
    let asked = peer.begin(&called).await.questions();
    one.state().change_the_world();
    let answers = asked.answers(always("yes"));
    let round = peer.go_on(&called, &asked.state, &answers).await;
    assert!(round.refusal().contains("different question"), "{round:?}");
    assert_eq!(one.state().noted(), Vec::<String>::new());
}
