//! The steps of the tour.

use std::time::{Duration, Instant};

use bowline::{
    client::{Change, ConnectionErrorKind, Subscription, progress_channel},
    transport::ConnectionError,
};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::{
    super::clock,
    assertion_failed,
    dialogue::Speaker,
    screen::Screen,
    server::{self, TourServer},
    with_step_timeout,
};
use crate::{failure::Failure, output::Column};

/// Maximum number of tools listed.
const MAX_LISTED_TOOLS: usize = 6;

pub(super) async fn welcome(screen: &mut Screen<'_>) -> Result<(), Failure> {
    screen
        .paragraph("A tour of bowline, on a server that is started for it and will be killed.")
        .await
}

pub(super) async fn connect(screen: &mut Screen<'_>) -> Result<TourServer, Failure> {
    screen.section("Connect to a server").await?;
    screen
        .paragraph("A server is a name, a URL, or a command after `--`.")
        .await?;
    screen
        .command("bowline status -- bowline serve demo --stdio")
        .await?;
    let mut tour_server =
        with_step_timeout("the server to start", TourServer::start(screen.cx)).await??;
    let process = tour_server.wait_process_id(None).await?;
    let server = tour_server
        .client
        .server_info()
        .ok_or_else(|| assertion_failed("not connected to a server"))?;
    let name = server
        .info
        .as_ref()
        .map_or("a server", |info| info.name.as_str());
    let ms = tour_server.startup_time.as_secs_f64() * 1000.0;
    let revision = server.revision;
    screen
        .success(&format!(
            "{name} is process {process}, was ready after {ms:.0} ms and uses revision {revision}"
        ))
        .await?;
    Ok(tour_server)
}

pub(super) async fn list(screen: &mut Screen<'_>, tour_server: &TourServer) -> Result<(), Failure> {
    screen.section("See what it offers").await?;
    screen.command("bowline list demo").await?;
    let tools = tour_server.client.tools().list().await?;
    let listed = || tools.iter().take(MAX_LISTED_TOOLS);
    let names = Column::of(listed().map(|tool| &tool.name));
    for tool in listed() {
        let summary = tool.description.as_deref().unwrap_or_default();
        let name = names.cell(&tool.name);
        screen.output(&format!("{name}{summary}")).await?;
    }
    match tools.len().saturating_sub(MAX_LISTED_TOOLS) {
        0 => Ok(()),
        more => screen.output(&format!("… and {more} more")).await,
    }
}

pub(super) async fn call(screen: &mut Screen<'_>, tour_server: &TourServer) -> Result<(), Failure> {
    screen.section("Call a tool").await?;
    screen.command("bowline call demo.add a=17 b=25").await?;
    let start = Instant::now();
    let result = tour_server
        .client
        .tools()
        .call("add", json!({"a": 17, "b": 25}))
        .await?;
    let elapsed = start.elapsed().as_secs_f64() * 1000.0;
    let text = result.all_text();
    screen.output(&text).await?;
    let sum = serde_json::from_str(&text).map(|result: Value| result["sum"].as_f64());
    if !matches!(sum, Ok(Some(42.0))) {
        return Err(assertion_failed(format!("17 + 25 should not be {text}")));
    }
    screen
        .success(&format!("responded in {elapsed:.1} ms"))
        .await
}

pub(super) async fn read(screen: &mut Screen<'_>, tour_server: &TourServer) -> Result<(), Failure> {
    screen.section("Read a resource").await?;
    screen.command("bowline read demo notes://knots").await?;
    let text = read_text(tour_server, "notes://knots").await?;
    screen.output(&text).await
}

async fn read_text(tour_server: &TourServer, uri: &str) -> Result<String, Failure> {
    let read = tour_server.client.resources().read(uri).await?;
    let text = read.contents.into_iter().find_map(|part| part.text);
    text.ok_or_else(|| assertion_failed(format!("{uri} holds no text")))
}

pub(super) async fn ask(screen: &mut Screen<'_>, tour_server: &TourServer) -> Result<(), Failure> {
    screen.section("Call a tool that asks questions").await?;
    screen
        .paragraph("It asks you, and your model, before it finishes. Here a script answers.")
        .await?;
    screen
        .command("bowline call demo.book_flight destination=Lisbon")
        .await?;
    let call = tour_server
        .client
        .tools()
        .call("book_flight", json!({"destination": "Lisbon"}));
    let result = with_step_timeout("the flight to be booked", call.into_future()).await??;
    let lines = tour_server.dialogue.take_lines();
    if lines.is_empty() || result.is_error() {
        return Err(assertion_failed(format!(
            "the flight was not booked: {}",
            result.all_text()
        )));
    }
    for line in lines {
        let speaker = match line.speaker {
            Speaker::ServerToUser => "demo asks you:",
            Speaker::User => "you:",
            Speaker::ServerToModel => "demo asks the model:",
            Speaker::Model => "the model:",
        };
        screen.output(&dialogue_block(speaker, &line.text)).await?;
    }
    screen
        .output(&dialogue_block("result:", &result.all_text()))
        .await
}

/// Formats a line of dialogue next to its speaker.
fn dialogue_block(speaker: &str, text: &str) -> String {
    let lines = text.lines().filter(|line| !line.is_empty());
    let labels = [speaker].into_iter().chain(std::iter::repeat(""));
    let lines = labels
        .zip(lines)
        .map(|(speaker, line)| format!("{speaker:<21}{line}"));
    lines.collect::<Vec<_>>().join("\n")
}

pub(super) async fn watch(
    screen: &mut Screen<'_>,
    tour_server: &TourServer,
) -> Result<Subscription, Failure> {
    screen.section("Watch a resource change").await?;
    screen
        .command(&format!("bowline watch demo {}", clock::URI))
        .await?;
    screen
        .output(&read_text(tour_server, clock::URI).await?)
        .await?;
    let mut clock = tour_server.client.resources().subscribe(clock::URI).await?;
    wait_update(&mut clock).await?;
    screen
        .output(&read_text(tour_server, clock::URI).await?)
        .await?;
    Ok(clock)
}

/// Waits for an update of the clock.
async fn wait_update(clock: &mut Subscription) -> Result<(), Failure> {
    while next_change(clock).await? == Change::Missed {}
    Ok(())
}

/// Waits until updates were missed, then for the next one. Earlier updates are
/// old.
async fn wait_resubscribed(clock: &mut Subscription) -> Result<(), Failure> {
    while next_change(clock).await? != Change::Missed {}
    wait_update(clock).await
}

async fn next_change(clock: &mut Subscription) -> Result<Change, Failure> {
    let change = with_step_timeout("the clock to change", clock.next()).await?;
    change
        .filter(|change| *change != Change::Lost)
        .ok_or_else(|| assertion_failed("the subscription to the clock was lost"))
}

/// Kills the server. The result knows how long it took to recover.
pub(super) async fn kill(
    screen: &mut Screen<'_>,
    tour_server: &mut TourServer,
) -> Result<KilledServer, Failure> {
    let process = tour_server.wait_process_id(None).await?;
    screen
        .section("Kill the server in the middle of a call")
        .await?;
    screen
        .command("bowline call demo.slow count=50 pause_ms=300")
        .await?;
    let (sender, mut progress) = progress_channel();
    let slow = json!({"count": 50, "pause_ms": 300});
    let call = tour_server
        .client
        .tools()
        .call("slow", slow)
        .progress_to(sender);
    let kill_server = async {
        for _ in 0..3 {
            let update = with_step_timeout("the server to count", progress.recv()).await?;
            let message = update.and_then(|update| update.message);
            screen.output(message.as_deref().unwrap_or("?")).await?;
        }
        screen.command(&server::kill_command(process)).await?;
        let recovery = server::measure_recovery(&tour_server.client);
        let killed_at = Instant::now();
        server::kill(&tour_server.client, process).await?;
        Ok::<_, Failure>((killed_at, recovery))
    };
    let (outcome, killed_at) = tokio::join!(
        with_step_timeout("the call to end", call.into_future()),
        kill_server
    );
    let (outcome, (killed_at, recovery)) = (outcome?, killed_at?);
    let Err(error) = outcome else {
        return Err(assertion_failed("the call survived its server"));
    };
    let ms = killed_at.elapsed().as_millis();
    let cause = error
        .connection_error()
        .ok_or_else(|| assertion_failed(format!("the call ended without a cause: {error:#}")))?;
    show_call_error(screen, cause, ms).await?;
    Ok(KilledServer { process, recovery })
}

/// A killed server, and when it has recovered.
pub(super) struct KilledServer {
    process: u32,
    recovery: JoinHandle<Duration>,
}

/// Shows how the call ended, and why.
async fn show_call_error(
    screen: &mut Screen<'_>,
    cause: &ConnectionError,
    ms: u128,
) -> Result<(), Failure> {
    if !matches!(cause.kind(), ConnectionErrorKind::Exited { .. }) {
        return Err(assertion_failed(format!(
            "the server process did not exit: {cause:#}"
        )));
    }
    screen
        .success(&format!("the call failed within {ms} ms: {}", cause.kind()))
        .await?;
    let last = cause.detail().and_then(|tail| tail.lines().last());
    let last =
        last.ok_or_else(|| assertion_failed("the server wrote nothing to standard error"))?;
    screen
        .success(&format!(
            "the last line of its standard error was kept: {last:?}"
        ))
        .await?;
    screen
        .paragraph("  The call was not retried: nobody knows what it had already done.")
        .await
}

pub(super) async fn show_recovery(
    screen: &mut Screen<'_>,
    tour_server: &mut TourServer,
    clock: &mut Subscription,
    killed: KilledServer,
) -> Result<(), Failure> {
    screen.section("The server comes back").await?;
    let elapsed = with_step_timeout("the connection to recover", killed.recovery).await?;
    let elapsed = elapsed.map_err(|_| assertion_failed("the connection did not recover"))?;
    let seconds = elapsed.as_secs_f64();
    let process = tour_server.wait_process_id(Some(killed.process)).await?;
    let sessions = tour_server.client.health().sessions;
    screen
        .success(&format!(
            "reconnected after {seconds:.1} s: process {process}, session {sessions}"
        ))
        .await?;
    wait_resubscribed(clock).await?;
    let time = read_text(tour_server, clock::URI).await?;
    screen
        .success(&format!("the clock is still subscribed to: {time}"))
        .await?;
    let echoed = tour_server
        .client
        .tools()
        .call("echo", json!({"message": "still here"}))
        .await?;
    screen
        .command("bowline call demo.echo message='still here'")
        .await?;
    screen.output(&echoed.all_text()).await
}

pub(super) async fn next_steps(screen: &mut Screen<'_>) -> Result<(), Failure> {
    screen.section("Your turn").await?;
    let commands = [
        ("bowline servers", "your configured servers and their state"),
        ("bowline list demo", "the same server, without the crash"),
        (
            "bowline call demo.book_flight destination=Oslo",
            "a tool that asks you",
        ),
        (
            "bowline doctor SERVER",
            "diagnose a server that does not work",
        ),
        (
            "bowline serve demo --http",
            "a server for other clients to try",
        ),
    ];
    for (command, summary) in commands {
        screen.output(&format!("{command:<47} {summary}")).await?;
    }
    Ok(())
}
