//! What happens on the tour, scene by scene.

use std::time::{Duration, Instant};

use bowline::{
    client::{Change, Subscription, progress_channel},
    proto::client::CauseKind,
    transport::Cause,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{
    super::clock,
    cast::Who,
    screen::Screen,
    stage::{self, Stage},
    untrue, wait,
};
use crate::failure::Failure;

/// How many tools are shown.
const SHOWN: usize = 6;

pub(super) async fn welcome(screen: &mut Screen<'_>) -> Result<(), Failure> {
    screen
        .say("A tour of bowline, on a server that is started for it and does not survive it.")
        .await
}

pub(super) async fn connect(screen: &mut Screen<'_>) -> Result<Stage, Failure> {
    screen.scene("Connect to a server").await?;
    screen
        .say("A server is a name, a URL, or a command after `--`.")
        .await?;
    screen
        .command("bowline status -- bowline serve demo --stdio")
        .await?;
    let mut stage = wait("the server to start", Stage::set(screen.cx)).await??;
    let process = stage.process(None).await?;
    let server = stage
        .client
        .server()
        .ok_or_else(|| untrue("there is no server"))?;
    let name = server
        .info
        .as_ref()
        .map_or("a server", |info| info.name.as_str());
    let ms = stage.took.as_secs_f64() * 1000.0;
    let revision = server.revision;
    screen
        .proof(&format!(
            "{name} is process {process}, was up after {ms:.0} ms and speaks revision {revision}"
        ))
        .await?;
    Ok(stage)
}

pub(super) async fn list(screen: &mut Screen<'_>, stage: &Stage) -> Result<(), Failure> {
    screen.scene("See what it offers").await?;
    screen.command("bowline list demo").await?;
    let tools = stage.client.tools().list().await?;
    let longest = tools.iter().take(SHOWN).map(|tool| tool.name.len()).max();
    let width = longest.unwrap_or_default();
    for tool in tools.iter().take(SHOWN) {
        let what = tool.description.as_deref().unwrap_or_default();
        screen
            .output(&format!("{:width$}  {what}", tool.name))
            .await?;
    }
    match tools.len().saturating_sub(SHOWN) {
        0 => Ok(()),
        more => screen.output(&format!("… and {more} more")).await,
    }
}

pub(super) async fn call(screen: &mut Screen<'_>, stage: &Stage) -> Result<(), Failure> {
    screen.scene("Call a tool").await?;
    screen.command("bowline call demo.add a=17 b=25").await?;
    let asked = Instant::now();
    let result = stage
        .client
        .tools()
        .call("add", json!({"a": 17, "b": 25}))
        .await?;
    let took = asked.elapsed().as_secs_f64() * 1000.0;
    let text = result.all_text();
    screen.output(&text).await?;
    let sum = serde_json::from_str(&text).map(|result: Value| result["sum"].as_f64());
    if !matches!(sum, Ok(Some(42.0))) {
        return Err(untrue(format!("17 and 25 should not be {text}")));
    }
    screen.proof(&format!("answered in {took:.1} ms")).await
}

pub(super) async fn read(screen: &mut Screen<'_>, stage: &Stage) -> Result<(), Failure> {
    screen.scene("Read a resource").await?;
    screen.command("bowline read demo notes://knots").await?;
    let text = read_text(stage, "notes://knots").await?;
    screen.output(&text).await
}

async fn read_text(stage: &Stage, uri: &str) -> Result<String, Failure> {
    let read = stage.client.resources().read(uri).await?;
    let text = read.contents.into_iter().find_map(|part| part.text);
    text.ok_or_else(|| untrue(format!("{uri} holds no text")))
}

pub(super) async fn ask(screen: &mut Screen<'_>, stage: &Stage) -> Result<(), Failure> {
    screen.scene("Call a tool that asks back").await?;
    screen
        .say("It asks you, and your model, before it is done. Here a script answers.")
        .await?;
    screen
        .command("bowline call demo.book_flight destination=Lisbon")
        .await?;
    let call = stage
        .client
        .tools()
        .call("book_flight", json!({"destination": "Lisbon"}));
    let result = wait("the flight to be booked", call.into_future()).await??;
    let script = stage.script.take();
    if script.is_empty() || result.failed() {
        return Err(untrue(format!(
            "the flight was not booked: {}",
            result.all_text()
        )));
    }
    for line in script {
        let who = match line.who {
            Who::ServerToUser => "demo asks you:",
            Who::User => "you:",
            Who::ServerToModel => "demo asks the model:",
            Who::Model => "the model:",
        };
        screen.output(&conversation(who, &line.text)).await?;
    }
    screen
        .output(&conversation("result:", &result.all_text()))
        .await
}

/// What somebody said, beside who it was.
fn conversation(who: &str, text: &str) -> String {
    let lines = text.lines().filter(|line| !line.is_empty());
    let beside = [who].into_iter().chain(std::iter::repeat(""));
    let lines = beside
        .zip(lines)
        .map(|(who, line)| format!("{who:<21}{line}"));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) async fn watch(screen: &mut Screen<'_>, stage: &Stage) -> Result<Subscription, Failure> {
    screen.scene("Watch something change").await?;
    screen
        .command(&format!("bowline watch demo {}", clock::URI))
        .await?;
    screen.output(&read_text(stage, clock::URI).await?).await?;
    let mut clock = stage.client.resources().subscribe(clock::URI).await?;
    updated(&mut clock).await?;
    screen.output(&read_text(stage, clock::URI).await?).await?;
    Ok(clock)
}

/// Waits until the server says that the clock has changed.
async fn updated(clock: &mut Subscription) -> Result<(), Failure> {
    while next(clock).await? == Change::Missed {}
    Ok(())
}

/// Waits for the gap in what was told of the clock. What was told before it
/// is old.
async fn restored(clock: &mut Subscription) -> Result<(), Failure> {
    while next(clock).await? != Change::Missed {}
    updated(clock).await
}

async fn next(clock: &mut Subscription) -> Result<Change, Failure> {
    let change = wait("the clock to change", clock.next()).await?;
    change
        .filter(|change| *change != Change::Lost)
        .ok_or_else(|| untrue("the clock is not watched any more"))
}

/// Kills the server. Gives what will know how long it took to come back.
pub(super) async fn kill(screen: &mut Screen<'_>, stage: &mut Stage) -> Result<Return, Failure> {
    let process = stage.process(None).await?;
    screen
        .scene("Kill the server in the middle of a call")
        .await?;
    screen
        .command("bowline call demo.slow count=50 pause_ms=300")
        .await?;
    let (tell, mut progress) = progress_channel();
    let slow = json!({"count": 50, "pause_ms": 300});
    let call = stage.client.tools().call("slow", slow).on_progress(tell);
    let shooting = async {
        for _ in 0..3 {
            let told = wait("the server to count", progress.recv()).await?;
            let message = told.and_then(|told| told.message);
            screen.output(message.as_deref().unwrap_or("?")).await?;
        }
        screen.command(&stage::how_to_kill(process)).await?;
        let back = stage::until_back(&stage.client);
        let shot = Instant::now();
        stage::kill(&stage.client, process).await?;
        Ok::<_, Failure>((shot, back))
    };
    let (ended, shot) = tokio::join!(wait("the call to end", call.into_future()), shooting);
    let (ended, (shot, back)) = (ended?, shot?);
    let Err(error) = ended else {
        return Err(untrue("the call survived its server"));
    };
    let ms = shot.elapsed().as_millis();
    let cause = error
        .cause()
        .ok_or_else(|| untrue(format!("the call ended without a cause: {error}")))?;
    show_end(screen, cause, ms).await?;
    Ok(Return { process, back })
}

/// A server that was killed, and when it will be back.
pub(super) struct Return {
    process: u32,
    back: JoinHandle<Duration>,
}

/// How the call ended, and why.
async fn show_end(screen: &mut Screen<'_>, cause: &Cause, ms: u128) -> Result<(), Failure> {
    if !matches!(cause.kind(), CauseKind::Exited { .. }) {
        return Err(untrue(format!("the server did not just end: {cause}")));
    }
    screen
        .proof(&format!("the call ended within {ms} ms: {}", cause.kind()))
        .await?;
    let last = cause.tail().and_then(|tail| tail.lines().last());
    let last = last.ok_or_else(|| untrue("the server had no last words"))?;
    screen
        .proof(&format!("its last words were kept: {last:?}"))
        .await?;
    screen
        .say("  It was not sent again: nobody knows what it had done already.")
        .await
}

pub(super) async fn come_back(
    screen: &mut Screen<'_>,
    stage: &mut Stage,
    clock: &mut Subscription,
    killed: Return,
) -> Result<(), Failure> {
    screen.scene("And it comes back").await?;
    let took = wait("the connection to come back", killed.back).await?;
    let took = took.map_err(|_| untrue("the connection did not come back"))?;
    let waited = took.as_secs_f64();
    let process = stage.process(Some(killed.process)).await?;
    let sessions = stage.client.health().sessions;
    screen
        .proof(&format!(
            "the connection is up again {waited:.1} s later: process {process}, session {sessions}"
        ))
        .await?;
    restored(clock).await?;
    let time = read_text(stage, clock::URI).await?;
    screen
        .proof(&format!("the clock is still watched, and says {time}"))
        .await?;
    let again = stage
        .client
        .tools()
        .call("echo", json!({"message": "still here"}))
        .await?;
    screen
        .command("bowline call demo.echo message='still here'")
        .await?;
    screen.output(&again.all_text()).await
}

pub(super) async fn farewell(screen: &mut Screen<'_>) -> Result<(), Failure> {
    screen.scene("Your turn").await?;
    let next = [
        (
            "bowline servers",
            "the servers that you have configured, and how they are",
        ),
        ("bowline list demo", "the same server, without the accident"),
        (
            "bowline call demo.book_flight destination=Oslo",
            "a tool that asks you",
        ),
        (
            "bowline doctor SERVER",
            "what is wrong with one that does not work",
        ),
        (
            "bowline serve demo --http",
            "a server for other clients to try",
        ),
    ];
    for (command, what) in next {
        screen.output(&format!("{command:<47} {what}")).await?;
    }
    Ok(())
}
