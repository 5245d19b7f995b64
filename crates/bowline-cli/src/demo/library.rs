//! Resources, a template and prompts, with completion.

use bowline::{
    Server,
    server::{
        Conversation, Prompt, Resource, ResourceTemplate, Variables,
        prompt::{assistant, user},
    },
};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{App, picture, travel::agency};

/// All notes, by name.
const NOTES: [(&str, &str); 3] = [
    (
        "welcome",
        "Welcome! This note is a resource of the demo server.\n\
         There are more where it came from: read notes://knots, or watch clock://now.\n",
    ),
    (
        "knots",
        "The bowline makes a loop at the end of a rope. It holds under load and never jams.\n\
         Make a small loop, bring the end up through it, around the rope, and down again.\n",
    ),
    (
        "lisbon",
        "Lisbon has seven hills. Take the tram up and walk down.\n",
    ),
];

/// Registers resources and prompts.
pub(super) fn register(server: Server<App>) -> Server<App> {
    server
        .resource(welcome())
        .resource(knot())
        .template(notes())
        .prompt(hello())
        .prompt(plan_trip())
}

fn welcome() -> Resource<App> {
    let (name, text) = NOTES[0];
    Resource::new(format!("notes://{name}"), name)
        .title("Welcome")
        .description("A note to begin with")
        .mime_type("text/plain")
        .text(text)
}

fn knot() -> Resource<App> {
    Resource::new("pictures://knot.png", "knot.png")
        .title("A knot")
        .description("A small picture: bytes, not text")
        .mime_type("image/png")
        .bytes(picture::png())
}

fn notes() -> ResourceTemplate<App> {
    ResourceTemplate::new("notes://{name}", "note")
        .title("Notes")
        .description("A note by its name")
        .mime_type("text/plain")
        .complete_from("name", NOTES.map(|(name, _)| name))
        .read(async |variables: Variables, _cx: Conversation<App>| {
            let named = |(name, _): &&(&str, &'static str)| *name == &variables["name"];
            // `None` means that the resource does not exist.
            Ok(NOTES.iter().find(named).map(|(_, text)| *text))
        })
}

fn hello() -> Prompt<App> {
    Prompt::new("hello")
        .title("Hello")
        .description("Begins a conversation")
        .get(async |_, _cx: Conversation<App>| {
            Ok([
                user("Hello! What can you do with the tools that you have?"),
                assistant("Let me look at them one by one."),
            ])
        })
}

#[derive(Deserialize, JsonSchema)]
struct Plan {
    /// Where to
    destination: String,
    /// How many days to stay
    days: Option<u32>,
}

fn plan_trip() -> Prompt<App> {
    Prompt::new("plan_trip")
        .title("Plan a trip")
        .description("Asks for a plan of a trip")
        .arguments::<Plan>()
        .complete_from("destination", agency::destinations())
        .get(async |plan: Plan, _cx: Conversation<App>| {
            let days = match plan.days {
                Some(1) => "a day".to_owned(),
                Some(days) => format!("{days} days"),
                None => "a few days".to_owned(),
            };
            let place = plan.destination;
            Ok(format!(
                "Plan {days} in {place}. Find a flight first, and ask me before you book it."
            ))
        })
}
