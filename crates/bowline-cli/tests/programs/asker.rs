//! A server for the tests of the command that asks: forms of every kind, pages,
//! a model, and a tool that takes its time.
//!
//! Its key is the same in every run, so that a call that was put off goes on.
//!
//! ```sh
//! cargo build -p bowline-cli --examples
//! cargo run -p bowline-cli -- call every_field -- target/debug/examples/asker
//! ```

use std::{future::pending, io};

use bowline::{
    Server,
    model::{ElicitParams, LogLevel},
    server::{
        Conversation, Result, Tool,
        form::Elicit,
        seal::SealKeys,
        store::{
            AppendOutcome, ConversationKey, JournalStore, Lease, MemoryJournalStore,
            MemorySealedStateStore, NewEntry, OpenedJournal, StoreError,
        },
    },
    transport::BoxFuture,
};
use serde_json::json;

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    // A test that wants its state refused has another secret in the next run.
    let key = std::env::var("ASKER_SECRET");
    let key = key.as_deref().unwrap_or("a secret that everybody may know");
    let keyring = SealKeys::from_secret(key.as_bytes());
    Server::new("asker", "1.0.0")
        .seal_keys(keyring.map_err(io::Error::other)?)
        .journal_store(Forgetful(MemoryJournalStore::new()))
        .sealed_state_store(MemorySealedStateStore::new())
        .tools([every_field(), nothing(), secret(), two_at_once(), in_turn()])
        .tools([same_name(), visit(), haiku(), haikus(), places()])
        .tools([work(), wait()])
        .serve_stdio()
        .await
}

/// A store that passes for one which outlives the process. No tool here takes a
/// step, so that there is nothing to remember.
struct Forgetful(MemoryJournalStore);

impl JournalStore for Forgetful {
    fn open<'a>(
        &'a self,
        key: ConversationKey<'a>,
        from: u64,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<OpenedJournal, StoreError>> {
        self.0.open(key, from, lease)
    }

    fn append<'a>(
        &'a self,
        key: ConversationKey<'a>,
        entry: NewEntry,
    ) -> BoxFuture<'a, Result<AppendOutcome, StoreError>> {
        self.0.append(key, entry)
    }

    fn renew<'a>(
        &'a self,
        key: ConversationKey<'a>,
        lease: Lease<'a>,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.renew(key, lease)
    }

    fn release<'a>(
        &'a self,
        key: ConversationKey<'a>,
        holder: &'a str,
    ) -> BoxFuture<'a, Result<(), StoreError>> {
        self.0.release(key, holder)
    }
}

/// Gives the answer back as it came.
fn every_field() -> Tool {
    let form = json!({
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Name", "description": "Who travels?", "minLength": 1},
            "mail": {"type": "string", "format": "email"},
            "day": {"type": "string", "format": "date"},
            "bags": {"type": "integer", "minimum": 0, "maximum": 9, "default": 1},
            "weight": {"type": "number", "title": "Weight"},
            "window": {"type": "boolean", "title": "At the window", "default": true},
            "class": {"type": "string", "enum": ["economy", "business"]},
            "seat": {"type": "string", "oneOf": [
                {"const": "f", "title": "Front"}, {"const": "b", "title": "Back"},
            ], "default": "b"},
            "meals": {"type": "array", "maxItems": 2, "items": {
                "type": "string", "enum": ["breakfast", "lunch", "dinner"],
            }},
        },
        "required": ["name", "bags", "class"],
    });
    Tool::new("every_field")
        .description("Asks for a field of every kind")
        .no_input()
        .handler_with_conversation(move |_, cx: Conversation| {
            let form = form.clone();
            async move {
                let form =
                    ElicitParams::form("Who travels, and how?", serde_json::from_value(form)?);
                let answer = cx.ask(form, Some("trip")).await?;
                Ok(answer.get().to_owned())
            }
        })
}

/// A form without fields: a plain yes is asked for.
fn nothing() -> Tool {
    Tool::new("nothing")
        .description("Asks for a yes")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let form = json!({"type": "object", "properties": {}});
            let form = ElicitParams::form("Go on?", serde_json::from_value(form)?);
            Ok(cx.ask(form, None).await?.get().to_owned())
        })
}

fn secret() -> Tool {
    Tool::new("secret")
        .description("Asks for what no form may ask for, with a message that steers terminals")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let form = json!({"type": "object", "properties": {"password": {"type": "string"}}});
            let message = "Sign in\u{1b}[2J";
            let form = ElicitParams::form(message, serde_json::from_value(form)?);
            Ok(cx.ask(form, None).await?.get().to_owned())
        })
}

#[derive(Elicit)]
struct Row {
    /// Which row?
    #[elicit(min = 1, max = 40)]
    row: u8,
}

#[derive(Elicit)]
struct Dish {
    /// What to eat?
    dish: String,
}

fn two_at_once() -> Tool {
    Tool::new("two_at_once")
        .description("Asks two questions at once")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let row = cx.elicit::<Row>("Which row?").key("seat").required();
            let dish = cx.elicit::<Dish>("Which dish?").key("meal").required();
            let (row, dish) = tokio::try_join!(async { row.await }, async { dish.await })?;
            Ok(format!("row {} with {}", row.row, dish.dish))
        })
}

fn in_turn() -> Tool {
    Tool::new("in_turn")
        .description("Asks one question after the other")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let row = cx
                .elicit::<Row>("Which row?")
                .key("seat")
                .required()
                .await?;
            let dish = cx
                .elicit::<Dish>("Which dish?")
                .key("meal")
                .required()
                .await?;
            Ok(format!("row {} with {}", row.row, dish.dish))
        })
}

#[derive(Elicit)]
struct Colour {
    /// Which colour?
    value: String,
}

/// The second question has a field of the same name as the first.
fn same_name() -> Tool {
    Tool::new("same_name")
        .description("Asks for two things by the same name")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let wall = cx.elicit::<Colour>("The wall?").required().await?;
            let door = cx.elicit::<Colour>("The door?").required().await?;
            Ok(format!("a {} wall and a {} door", wall.value, door.value))
        })
}

fn visit() -> Tool {
    Tool::new("visit")
        .description("Sends the user to a page")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let page = "https://bücher.example/sign-in?for=asker";
            Ok(
                match cx.elicit_url("Please sign in.", page).await?.accepted() {
                    Ok(()) => "on the way".to_owned(),
                    Err(error) => error.to_string(),
                },
            )
        })
}

fn haiku() -> Tool {
    Tool::new("haiku")
        .description("Has a model write a haiku")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let haiku = cx
                .sample("Write a haiku about knots.")
                .max_tokens(100)
                .await?;
            Ok(format!("the model wrote: {haiku}"))
        })
}

/// Does not take no for an answer.
fn haikus() -> Tool {
    Tool::new("haikus")
        .description("Has a model write a haiku, again and again")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| -> Result<String> {
            let mut written = 0;
            for _ in 0..30 {
                let asked = cx.sample("Write another haiku about knots.");
                written += u32::from(asked.max_tokens(100).await.is_ok());
            }
            Ok(format!("{written} haikus"))
        })
}

fn places() -> Tool {
    Tool::new("places")
        .description("Tells where it may work")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| {
            let roots = cx.roots().await?;
            let roots: Vec<_> = roots.iter().map(|root| root.uri.clone()).collect();
            Ok(roots.join("\n"))
        })
}

/// Tells how far it is, and what happens, with a stray escape sequence.
fn work() -> Tool {
    Tool::new("work")
        .description("Works, and tells about it")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| -> Result<String> {
            for done in 1..=4 {
                cx.progress_with_message(f64::from(done), 4.0, &format!("part {done}"));
                cx.log_with_logger(
                    "works",
                    LogLevel::Info,
                    &format!("part {done}\u{1b}[2J is done"),
                );
            }
            cx.log(LogLevel::Warning, &json!({"left": 0}));
            Ok("all done".to_owned())
        })
}

/// Does not end, but says that it has begun.
fn wait() -> Tool {
    Tool::new("wait")
        .description("Waits for ever")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation| -> Result<String> {
            cx.progress_with_message(1.0, None, "waiting");
            pending().await
        })
}
