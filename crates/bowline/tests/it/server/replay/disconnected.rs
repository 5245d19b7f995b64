//! Callers who leave in the middle of what must happen once.

use std::time::Duration;

use bowline::{
    Client,
    proto::revision::Revision,
    server::{Conversation, HandlerContext, Server, Service, Tool},
};
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use super::{
    app::{App, Text},
    rig::{Called, Peer, always},
    user,
};

const LONG: Duration = Duration::from_secs(10);

fn serve(tool: Tool<App>) -> Service<App> {
    let server = Server::new("departed", "1").state(App::default());
    server.tool(tool).build().expect("the server is sound")
}

/// Something that takes long, and notes its begin and its end.
async fn work(app: &App, what: &str) -> bowline::server::Result<()> {
    app.note(&format!("{what} begins")).await?;
    sleep(LONG).await;
    app.note(&format!("{what} ends")).await?;
    Ok(())
}

/// A tool in phases whose last phase takes long.
fn book(asks: bool) -> Tool<App> {
    Tool::new("book")
        .description("Books slowly")
        .no_input()
        .phases()
        .before(async |_, cx: HandlerContext<App>| cx.state().note("before").await)
        .ask(move |_, cx: Conversation<App>| async move {
            if asks {
                cx.elicit::<Text>("book?").required().await?;
            }
            Ok(())
        })
        .cleanup(async |_, cx: HandlerContext<App>| {
            cx.state().note("cleanup").await?;
            Ok(())
        })
        .after(async |_, (), cx: HandlerContext<App>| {
            work(cx.state(), "after").await?;
            Ok("booking 7")
        })
}

/// How a caller leaves.
#[derive(Clone, Copy, Debug)]
enum Leaves {
    Cancels,
    Drops,
}

impl Leaves {
    const ALL: [Self; 2] = [Self::Cancels, Self::Drops];

    async fn leave(self, mut peer: Peer, id: u64) {
        match self {
            // The link stays open for a while.
            Self::Cancels => {
                peer.cancel(id).await;
                tokio::spawn(async move {
                    sleep(60 * LONG).await;
                    drop(peer);
                });
            }
            Self::Drops => drop(peer),
        }
        // So that the server notices.
        sleep(Duration::from_millis(10)).await;
    }
}

/// The parameters of the second round.
async fn second_round(service: &Service<App>, tool: &'static str) -> Value {
    let called = Called::new(tool);
    let asked = Peer::new(service).begin(&called).await.questions();
    called.later(&asked.state, &asked.answers(always("yes")))
}

#[tokio::test(start_paused = true)]
async fn the_last_phase_ends_when_its_caller_has_left() {
    for leaves in Leaves::ALL {
        let service = serve(book(true));
        let params = second_round(&service, "book").await;
        let mut peer = Peer::new(&service);
        let id = peer.send("tools/call", &params).await;
        service.state().until("after begins").await;
        leaves.leave(peer, id).await;
        service.state().until("after ends").await;
        for _ in 0..2 {
            let asked = Instant::now();
            let again = Peer::new(&service).ask("tools/call", &params).await;
            assert_eq!(again.text(), ("booking 7".to_owned(), false), "{leaves:?}");
            assert!(asked.elapsed() < LONG, "nobody waits for what is over");
        }
        let noted = service.state().noted();
        assert_eq!(
            noted,
            ["before", "after begins", "after ends"],
            "{leaves:?}"
        );
    }
}

/// Who comes back while it still goes on waits for its end, and no longer.
#[tokio::test(start_paused = true)]
async fn who_comes_back_at_once_gets_the_answer_too() {
    for leaves in Leaves::ALL {
        let service = serve(book(true));
        let params = second_round(&service, "book").await;
        let mut peer = Peer::new(&service);
        let id = peer.send("tools/call", &params).await;
        service.state().until("after begins").await;
        let begun = Instant::now();
        leaves.leave(peer, id).await;
        let again = Peer::new(&service).ask("tools/call", &params).await;
        assert_eq!(again.text(), ("booking 7".to_owned(), false), "{leaves:?}");
        assert!(begun.elapsed() < LONG + Duration::from_secs(2));
        let noted = service.state().noted();
        assert_eq!(
            noted,
            ["before", "after begins", "after ends"],
            "{leaves:?}"
        );
    }
}

/// Even a call that asks nothing has a phase that must not be cut in half.
#[tokio::test(start_paused = true)]
async fn the_last_phase_of_a_first_round_ends_too() {
    for leaves in Leaves::ALL {
        let service = serve(book(false));
        let mut peer = Peer::new(&service);
        let params = Called::new("book").params();
        let id = peer.send("tools/call", &params).await;
        service.state().until("after begins").await;
        leaves.leave(peer, id).await;
        service.state().until("after ends").await;
        let noted = service.state().noted();
        assert_eq!(
            noted,
            ["before", "after begins", "after ends"],
            "{leaves:?}"
        );
    }
}

/// A question, and two steps that take long.
fn two_steps() -> Tool<App> {
    Tool::new("steps")
        .description("Takes two steps")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.elicit::<Text>("go?").required().await?;
            cx.step("one", work(cx.state(), "one")).await?;
            cx.step("two", work(cx.state(), "two")).await?;
            Ok("done")
        })
}

#[tokio::test(start_paused = true)]
async fn a_step_ends_when_its_caller_has_left_and_no_other_begins() {
    for leaves in Leaves::ALL {
        let service = serve(two_steps());
        let params = second_round(&service, "steps").await;
        let mut peer = Peer::new(&service);
        let id = peer.send("tools/call", &params).await;
        service.state().until("one begins").await;
        leaves.leave(peer, id).await;
        service.state().until("one ends").await;
        sleep(10 * LONG).await;
        let noted = service.state().noted();
        assert_eq!(noted, ["one begins", "one ends"], "{leaves:?}");
        // Who comes back does the rest.
        let end = Peer::new(&service).ask("tools/call", &params).await;
        assert_eq!(end.text(), ("done".to_owned(), false), "{leaves:?}");
        let noted = service.state().noted();
        let all = ["one begins", "one ends", "two begins", "two ends"];
        assert_eq!(noted, all, "{leaves:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn who_comes_back_during_a_step_waits_for_its_end_and_goes_on() {
    for leaves in Leaves::ALL {
        let service = serve(two_steps());
        let params = second_round(&service, "steps").await;
        let mut peer = Peer::new(&service);
        let id = peer.send("tools/call", &params).await;
        service.state().until("one begins").await;
        leaves.leave(peer, id).await;
        let end = Peer::new(&service).ask("tools/call", &params).await;
        assert_eq!(end.text(), ("done".to_owned(), false), "{leaves:?}");
        let noted = service.state().noted();
        let all = ["one begins", "one ends", "two begins", "two ends"];
        assert_eq!(noted, all, "{leaves:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn live_the_last_phase_ends_when_its_caller_has_left() {
    for leaves in Leaves::ALL {
        let service = serve(book(true));
        let client = Client::builder()
            .revisions([Revision::V2025_11_25])
            .on_elicit(async |_| {
                let answer = bowline::proto::jsonrpc::RawJson::encode(&user::answer_to("yes"));
                answer.expect("JSON").decode().expect("an answer")
            })
            .connect(service.in_memory())
            .await
            .expect("it connects");
        tokio::select! {
            end = client.tools().call("book", json!({})) => panic!("{end:?}"),
            () = service.state().until("after begins") => {}
        }
        if matches!(leaves, Leaves::Drops) {
            drop(client);
        }
        service.state().until("after ends").await;
        sleep(LONG).await;
        let noted = service.state().noted();
        assert_eq!(
            noted,
            ["before", "after begins", "after ends"],
            "{leaves:?}"
        );
    }
}
