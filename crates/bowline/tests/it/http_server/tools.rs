//! The tools that the tests call, and what they say of themselves.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use bowline::{
    proto::model::LogLevel,
    server::{Conversation, Resource, Server, Service, Tool, form::Elicit},
};
use schemars::JsonSchema;
use serde::Deserialize;
use tokio::sync::{Semaphore, mpsc};

#[derive(Deserialize, JsonSchema)]
struct Say {
    message: String,
}

#[derive(Deserialize, JsonSchema)]
struct Size {
    size: usize,
}

#[derive(Elicit)]
struct Colour {
    colour: String,
}

/// A server whose tools wait for a gate, and what happens to them.
pub(super) struct Workshop {
    pub(super) service: Service,
    pub(super) events: mpsc::UnboundedReceiver<&'static str>,
    pub(super) gate: Arc<Semaphore>,
    pub(super) alive: Arc<AtomicUsize>,
}

/// Counts one that is alive, and says when it is not any more.
struct Guard(Arc<AtomicUsize>, mpsc::UnboundedSender<&'static str>);

impl Guard {
    fn new(alive: &Arc<AtomicUsize>, sender: &mpsc::UnboundedSender<&'static str>) -> Self {
        alive.fetch_add(1, Ordering::SeqCst);
        let _ = sender.send("started");
        Self(Arc::clone(alive), sender.clone())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
        let _ = self.1.send("dropped");
    }
}

pub(super) fn workshop() -> Workshop {
    workshop_with(|server| server)
}

pub(super) fn workshop_with(configure: impl FnOnce(Server) -> Server) -> Workshop {
    let (sender, events) = mpsc::unbounded_channel();
    let gate = Arc::new(Semaphore::new(0));
    let alive = Arc::new(AtomicUsize::new(0));
    let waits = |name: &str, before: fn(&Conversation)| {
        let (gate, alive, sender) = (Arc::clone(&gate), Arc::clone(&alive), sender.clone());
        let tool = Tool::new(name).description("Waits").no_input();
        tool.handler_with_conversation(move |_, cx: Conversation| {
            let guard = Guard::new(&alive, &sender);
            let gate = Arc::clone(&gate);
            async move {
                let _guard = guard;
                before(&cx);
                gate.acquire().await?.forget();
                Ok("waited")
            }
        })
    };
    let pour = {
        let (alive, sender) = (Arc::clone(&alive), sender.clone());
        let tool = Tool::new("pour").description("Talks for ever").no_input();
        tool.handler_with_conversation(move |_, cx: Conversation| {
            let guard = Guard::new(&alive, &sender);
            async move {
                let _guard = guard;
                let words = "x".repeat(64 * 1024);
                for step in 0..u32::MAX {
                    cx.progress_with_message(step.into(), None, &words);
                    tokio::task::yield_now().await;
                }
                Ok("empty")
            }
        })
    };
    let server = Server::new("workshop", "1")
        .tools(quick())
        .tool(pour)
        .tool(waits("wait", |_| {}))
        .tool(waits("tell_and_wait", |cx| {
            cx.progress(1.0, 2.0);
        }))
        .tool(waits("tell_much_and_wait", |cx| {
            for step in 1..=5 {
                cx.progress(f64::from(step), 5.0);
            }
        }))
        .tool(waits("release_and_wait", |cx| {
            cx.release_connection();
        }))
        .tool(waits("tell_release_and_wait", |cx| {
            cx.progress(1.0, 2.0);
            cx.release_connection();
            cx.progress(2.0, 2.0);
        }))
        .resource(Resource::new("a:1", "one").text("1"))
        .resource_subscriptions();
    Workshop {
        service: configure(server).build().expect("the server is sound"),
        events,
        gate,
        alive,
    }
}

impl Workshop {
    pub(super) async fn started(&mut self) {
        assert_eq!(self.events.recv().await, Some("started"));
    }

    pub(super) async fn dropped(&mut self) {
        assert_eq!(self.events.recv().await, Some("dropped"));
    }

    /// Lets one tool go on.
    pub(super) fn open(&self) {
        self.gate.add_permits(1);
    }

    pub(super) fn alive(&self) -> usize {
        self.alive.load(Ordering::SeqCst)
    }
}

/// Tools that wait for nothing but answers.
fn quick() -> Vec<Tool> {
    let echo = Tool::new("echo")
        .description("Says it again")
        .input::<Say>()
        .handler(async |say| Ok(say.message));
    let large = Tool::new("large")
        .description("Says much at once")
        .input::<Size>()
        .handler(async |it| Ok("x".repeat(it.size)));
    let chatty = Tool::new("chatty")
        .description("Tells how it goes")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            for step in 1..=3 {
                cx.progress(f64::from(step), 3.0);
                tokio::task::yield_now().await;
            }
            cx.log(LogLevel::Warning, "almost");
            Ok("done")
        });
    let flood = Tool::new("flood")
        .description("Says very much, and counts what is taken")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let words = "x".repeat(1024);
            let steps = 0..20_000;
            let told =
                steps.filter(|step| cx.progress_with_message(f64::from(*step), None, &words));
            Ok(told.count().to_string())
        });
    let ask = Tool::new("ask")
        .description("Asks twice")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let first = cx
                .elicit::<Colour>("First?")
                .key("first")
                .required()
                .await?;
            let second = cx
                .elicit::<Colour>("Second?")
                .key("second")
                .required()
                .await?;
            Ok(format!("{} and {}", first.colour, second.colour))
        });
    let fail = Tool::new("fail")
        .description("Panics")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            assert!(cx.name().is_empty(), "on purpose");
            Ok("unreached")
        });
    vec![echo, large, chatty, flood, ask, fail]
}
