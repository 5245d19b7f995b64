//! What comes too late: after a branch's time, a call's, or a conversation's.

use std::{future::pending, time::Duration};

use bowline::server::{CallLimits, Conversation, HandlerContext, Server, Service, Tool};
use serde_json::json;
use tokio::time::{advance, sleep};

use super::{
    app::{App, Text},
    rig::{Called, Peer, Questions, Round, always, clock, say},
};

const MINUTE: Duration = Duration::from_secs(60);

/// A server whose clock goes with the runtime's.
fn serve(tool: Tool<App>, life: Duration) -> Service<App> {
    Server::new("late", "1")
        .state(App::default())
        .tool(tool)
        .clock(clock())
        .conversation_timeout(life)
        .build()
        .expect("the server is sound")
}

/// Waits for ever, while the world is as it was in the beginning.
async fn wait_in_this_world(cx: &Conversation<App>) {
    if cx.state().world() == 0 {
        let _ = cx.state().note("waiting").await;
        pending::<()>().await;
    }
}

/// A branch of a minute that asks and charges; then another question. Where it
/// is told to, it waits between the two.
fn pay(waits: bool) -> Tool<App> {
    Tool::new("pay")
        .description("Charges within a minute")
        .no_input()
        .handler_with_conversation(move |_, cx: Conversation<App>| async move {
            let work = async |branch: Conversation<App>| {
                branch.elicit::<Text>("pay?").required().await?;
                branch.step("charge", branch.state().note("charge")).await
            };
            let paid = cx.branch(work).allow_elicitation().timeout(MINUTE).await;
            let end = match paid {
                Ok(_) => "charged",
                Err(_) => "too late: nothing was charged",
            };
            if waits {
                wait_in_this_world(&cx).await;
            }
            cx.elicit::<Text>("a receipt?").required().await?;
            Ok(end)
        })
}

/// The first round, and the parameters of the second, which is sent at 30 s.
async fn paying(peer: &mut Peer, called: &Called) -> (Questions, serde_json::Value) {
    let asked = peer.begin(called).await.questions();
    let params = called.later(&asked.state, &asked.answers(always("yes")));
    advance(MINUTE / 2).await;
    (asked, params)
}

#[tokio::test(start_paused = true)]
async fn a_charge_in_time_is_in_time_when_its_round_is_repeated() {
    let service = serve(pay(false), 60 * MINUTE);
    let mut peer = Peer::new(&service);
    let called = Called::new("pay");
    let (_, params) = paying(&mut peer, &called).await;
    // This answer is lost.
    let lost = peer.ask("tools/call", &params).await.questions();
    assert_eq!(lost.messages(), ["a receipt?"]);
    assert_eq!(service.state().noted(), ["charge"]);
    advance(MINUTE).await;
    let then = peer.ask("tools/call", &params).await.questions();
    assert_eq!(then.messages(), ["a receipt?"]);
    for asked in [then, lost] {
        let answers = asked.answers(always("yes"));
        let end = peer.go_on(&called, &asked.state, &answers).await;
        assert_eq!(end.text(), ("charged".to_owned(), false));
    }
    assert_eq!(service.state().noted(), ["charge"]);
}

/// Whoever repeats a round has the time at which it ended before, not that at
/// which it began.
#[tokio::test(start_paused = true)]
async fn time_does_not_go_back_when_a_round_is_repeated() {
    let tool = Tool::new("wait")
        .description("Takes longer than the branch after it may")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("begin?").required().await?;
            let slow = async {
                sleep(3 * MINUTE / 2).await;
                cx.state().note("slow").await
            };
            cx.step("slow", slow).await?;
            let ask = async |branch: Conversation<App>| {
                let answer = branch.elicit::<Text>("soon?").required().await?;
                Ok(answer.text)
            };
            cx.branch(ask).allow_elicitation().timeout(MINUTE).await
        });
    let service = serve(tool, 60 * MINUTE);
    let called = Called::new("wait");
    let mut peer = Peer::new(&service);
    let asked = peer.begin(&called).await.questions();
    let params = called.later(&asked.state, &asked.answers(always("yes")));
    // This answer is lost.
    peer.ask("tools/call", &params).await.questions();
    sleep(MINUTE / 6).await;
    let again = peer.ask("tools/call", &params).await.questions();
    sleep(MINUTE / 6).await;
    let answers = again.answers(always("in time"));
    let end = peer.go_on(&called, &again.state, &answers).await;
    assert_eq!(end.text(), ("in time".to_owned(), false));
    assert_eq!(service.state().noted(), ["slow"]);
}

/// A round that was in time and had no effect may be repeated when it is too
/// late, and keeps nobody from going on with what it led to.
#[tokio::test(start_paused = true)]
async fn who_was_in_time_is_not_overtaken_by_a_copy_that_is_not() {
    let tool = Tool::new("ask")
        .description("Asks twice within a minute, or does something")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let ask = async |branch: Conversation<App>| {
                branch.elicit::<Text>("first").required().await?;
                branch.elicit::<Text>("second").required().await
            };
            let asked = cx.branch(ask).allow_elicitation().timeout(MINUTE).await;
            match asked {
                Ok(_) => Ok("in time".to_owned()),
                Err(_) => cx.step("late", cx.state().note("late")).await,
            }
        });
    let service = serve(tool, 60 * MINUTE);
    let called = Called::new("ask");
    let mut peer = Peer::new(&service);
    let first = peer.begin(&called).await.questions();
    let params = called.later(&first.state, &first.answers(always("yes")));
    sleep(MINUTE / 6).await;
    let second = peer.ask("tools/call", &params).await.questions();
    sleep(2 * MINUTE).await;
    let copy = peer.ask("tools/call", &params).await.questions();
    assert_eq!(copy.messages(), ["second"]);
    assert!(service.state().noted().is_empty());
    let answers = second.answers(always("yes"));
    let end = peer.go_on(&called, &second.state, &answers).await;
    assert_eq!(end.text(), ("late".to_owned(), false));
}

#[tokio::test(start_paused = true)]
async fn a_charge_in_time_is_in_time_when_its_round_was_cut_off() {
    for cancels in [true, false] {
        let service = serve(pay(true), 60 * MINUTE);
        let mut peer = Peer::new(&service);
        let called = Called::new("pay");
        let (_, params) = paying(&mut peer, &called).await;
        let id = peer.send("tools/call", &params).await;
        service.state().until("waiting").await;
        if cancels {
            peer.cancel(id).await;
        }
        drop(peer);
        service.state().change_the_world();
        advance(MINUTE).await;
        let mut peer = Peer::new(&service);
        let then = peer.ask("tools/call", &params).await.questions();
        let answers = then.answers(always("yes"));
        let end = peer.go_on(&called, &then.state, &answers).await;
        assert_eq!(end.text(), ("charged".to_owned(), false));
        assert_eq!(service.state().noted(), ["charge", "waiting"]);
    }
}

/// A call of a minute that asks, charges, and asks again.
fn pay_in_all(waits: bool) -> Tool<App> {
    Tool::new("pay")
        .description("Charges, and has a minute for all")
        .no_input()
        .limits(CallLimits::new().timeout(MINUTE))
        .handler_with_conversation(move |_, cx: Conversation<App>| async move {
            cx.elicit::<Text>("pay?").required().await?;
            cx.step("charge", cx.state().note("charge")).await?;
            if waits {
                wait_in_this_world(&cx).await;
                return Ok("charged");
            }
            cx.elicit::<Text>("a receipt?").required().await?;
            Ok("charged")
        })
}

#[tokio::test(start_paused = true)]
async fn a_round_in_time_is_in_time_when_it_is_repeated() {
    let service = serve(pay_in_all(false), 60 * MINUTE);
    let mut peer = Peer::new(&service);
    let called = Called::new("pay");
    let (_, params) = paying(&mut peer, &called).await;
    let lost = peer.ask("tools/call", &params).await.questions();
    advance(MINUTE).await;
    let then = peer.ask("tools/call", &params).await.questions();
    assert_eq!(then.messages(), lost.messages());
    assert_eq!(service.state().noted(), ["charge"]);
}

#[tokio::test(start_paused = true)]
async fn a_round_in_time_is_in_time_when_it_was_cut_off() {
    let service = serve(pay_in_all(true), 60 * MINUTE);
    let mut peer = Peer::new(&service);
    let called = Called::new("pay");
    let (_, params) = paying(&mut peer, &called).await;
    let id = peer.send("tools/call", &params).await;
    service.state().until("waiting").await;
    peer.cancel(id).await;
    drop(peer);
    service.state().change_the_world();
    advance(MINUTE).await;
    let end = Peer::new(&service).ask("tools/call", &params).await;
    assert_eq!(end.text(), ("charged".to_owned(), false));
    assert_eq!(service.state().noted(), ["charge", "waiting"]);
}

/// Holds, asks, takes its time, asks again, and books or lets go.
fn book(limits: CallLimits, takes: Duration) -> Tool<App> {
    let note = |what: &'static str, cx: HandlerContext<App>| async move {
        cx.state().note(what).await?;
        Ok(())
    };
    Tool::new("book")
        .description("Books a seat")
        .no_input()
        .limits(limits)
        .phases()
        .before(move |_, cx: HandlerContext<App>| note("hold", cx))
        .ask(move |(), cx: Conversation<App>| async move {
            cx.elicit::<Text>("book?").required().await?;
            let slow = async {
                sleep(takes).await;
                Ok(())
            };
            cx.step("slow", slow).await?;
            cx.elicit::<Text>("sure?").required().await
        })
        .cleanup(move |(), cx: HandlerContext<App>| note("release", cx))
        .after(move |(), text: Text, cx: HandlerContext<App>| async move {
            note("book", cx).await?;
            Ok(text.text)
        })
}

/// Sends the first answer so much later, several times. What happened?
async fn booked_late(service: &Service<App>, after: Duration) -> (Vec<Round>, Vec<String>) {
    let called = Called::new("book");
    let mut peer = Peer::new(service);
    let asked = peer.begin(&called).await.questions();
    advance(after).await;
    let mut rounds = Vec::new();
    for _ in 0..3 {
        let answers = json!({"1": say("yes")});
        rounds.push(peer.go_on(&called, &asked.state, &answers).await);
    }
    // Whatever goes on after the answer has time to.
    sleep(MINUTE).await;
    (rounds, service.state().noted())
}

#[tokio::test(start_paused = true)]
async fn a_call_whose_time_is_over_is_cleaned_up_after() {
    let limits = CallLimits::new().timeout(MINUTE);
    let service = serve(book(limits, Duration::ZERO), 60 * MINUTE);
    let (rounds, noted) = booked_late(&service, 2 * MINUTE).await;
    for round in &rounds {
        let (text, failed) = round.text();
        assert!(failed && text.contains("after 60s"), "{text}");
    }
    assert_eq!(noted, ["hold", "release"]);
}

/// The time is over in the middle of a round.
#[tokio::test(start_paused = true)]
async fn a_call_whose_time_ends_is_cleaned_up_after() {
    let limits = CallLimits::new().timeout(MINUTE);
    let service = serve(book(limits, 2 * MINUTE), 60 * MINUTE);
    let (rounds, noted) = booked_late(&service, MINUTE / 2).await;
    for round in &rounds {
        let (text, failed) = round.text();
        assert!(failed && text.contains("after 60s"), "{text}");
    }
    assert_eq!(noted, ["hold", "release"]);
}

#[tokio::test(start_paused = true)]
async fn a_conversation_that_has_expired_is_cleaned_up_after() {
    let service = serve(book(CallLimits::new(), Duration::ZERO), MINUTE);
    let (rounds, noted) = booked_late(&service, MINUTE + Duration::from_secs(5)).await;
    for round in &rounds {
        assert!(!matches!(round, Round::Asked(_)), "{round:?}");
    }
    assert_eq!(noted, ["hold", "release"]);
}

/// It expires in the middle of a round, which has nowhere to go on to.
#[tokio::test(start_paused = true)]
async fn a_conversation_that_expires_is_cleaned_up_after() {
    let service = serve(book(CallLimits::new(), 2 * MINUTE), MINUTE);
    let (rounds, noted) = booked_late(&service, MINUTE / 2).await;
    for round in &rounds {
        assert!(!matches!(round, Round::Asked(_)), "a dead state: {round:?}");
    }
    assert_eq!(noted, ["hold", "release"]);
}

/// What was booked stays booked, whoever comes back when.
#[tokio::test(start_paused = true)]
async fn what_was_booked_is_not_released_when_it_expires() {
    let service = serve(book(CallLimits::new(), Duration::ZERO), MINUTE);
    let called = Called::new("book");
    let mut peer = Peer::new(&service);
    let first = peer.begin(&called).await.questions();
    let yes = first.answers(always("yes"));
    let second = peer.go_on(&called, &first.state, &yes).await.questions();
    let also = second.answers(always("yes"));
    let end = peer.go_on(&called, &second.state, &also).await;
    assert_eq!(end.text(), ("yes".to_owned(), false));
    for _ in 0..3 {
        advance(MINUTE).await;
        peer.go_on(&called, &first.state, &yes).await;
        peer.go_on(&called, &second.state, &also).await;
    }
    sleep(MINUTE).await;
    assert_eq!(service.state().noted(), ["hold", "book"]);
}

#[tokio::test(start_paused = true)]
async fn a_round_that_ends_after_expiry_hands_out_no_state() {
    let tool = Tool::new("slow")
        .description("Takes longer than it has")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("first").required().await?;
            let slow = async {
                cx.state().note("slow").await?;
                sleep(2 * MINUTE).await;
                Ok(())
            };
            cx.step("slow", slow).await?;
            cx.elicit::<Text>("second").required().await?;
            Ok("done")
        });
    let service = serve(tool, MINUTE);
    let called = Called::new("slow");
    let mut peer = Peer::new(&service);
    let asked = peer.begin(&called).await.questions();
    let answers = asked.answers(always("yes"));
    for _ in 0..2 {
        let round = peer.go_on(&called, &asked.state, &answers).await;
        assert!(!matches!(round, Round::Asked(_)), "a dead state: {round:?}");
    }
    assert_eq!(service.state().noted(), ["slow"]);
}

#[tokio::test(start_paused = true)]
async fn no_step_begins_after_expiry() {
    let tool = Tool::new("slow")
        .description("Takes longer than it has, and goes on")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("first").required().await?;
            let slow = async {
                cx.state().note("slow").await?;
                sleep(2 * MINUTE).await;
                Ok(())
            };
            cx.step("slow", slow).await?;
            cx.step("more", cx.state().note("more")).await
        });
    let service = serve(tool, MINUTE);
    let called = Called::new("slow");
    let mut peer = Peer::new(&service);
    let asked = peer.begin(&called).await.questions();
    let answers = asked.answers(always("yes"));
    for _ in 0..2 {
        peer.go_on(&called, &asked.state, &answers).await;
        assert_eq!(service.state().noted(), ["slow"]);
    }
}
