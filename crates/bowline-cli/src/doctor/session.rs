//! The session: whether it opens, in which era, and what the server offers.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bowline::{
    Client, Error,
    config::Endpoint,
    proto::{
        client::{Server, Telemetry, Timeouts},
        model::{Tool, method},
        revision::Era,
    },
    transport::{CauseKind, ChildProcess, StderrPolicy},
};

use super::{
    advice,
    chart::{Chart, Ended},
    heard::Heard,
    is_started,
    schemas::faults,
};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    fleet::{lacks, round_trip},
    target::{Target, bounded, settings, typed_command},
    traffic::{self, Tapped},
};

/// How often the round trip is measured.
const ROUNDS: usize = 5;
/// How many lines of standard error are shown.
const LINES: usize = 5;

pub(super) async fn examine(
    cx: &Context,
    target: &Target,
    chart: &mut Chart<'_>,
) -> Result<(), Ended> {
    let patient = Patient::new(cx, target);
    let client = match patient {
        Ok(patient) => patient.open(chart).await?,
        Err(failure) => return chart.failed("start", None, failure),
    };
    let (client, stderr) = client;
    let examined = offers(&client, chart).await;
    client.stop().await;
    if is_started(target) && examined.is_ok() {
        stderr.examine(target, chart);
    }
    examined
}

/// A server that is about to be connected to.
struct Patient<'a> {
    cx: &'a Context,
    target: &'a Target,
    transport: Tapped<Heard>,
    heard: Heard,
    stderr: Stderr,
}

/// What the server writes to standard error.
#[derive(Clone, Default)]
struct Stderr(Arc<Mutex<Vec<String>>>);

impl<'a> Patient<'a> {
    fn new(cx: &'a Context, target: &'a Target) -> Result<Self, Failure> {
        let (heard, stderr) = (Heard::default(), Stderr::default());
        let transport = match process(target) {
            Some(process) => Box::new(process.stderr(stderr.listener())),
            None => target.transport(&cx.globals)?,
        };
        let transport = traffic::watch(transport, &cx.globals)?;
        let transport = Tapped::new(transport, heard.clone());
        Ok(Self {
            cx,
            target,
            transport,
            heard,
            stderr,
        })
    }

    /// Opens a session, and says how that went.
    async fn open(self, chart: &mut Chart<'_>) -> Result<(Client, Stderr), Ended> {
        let garbage = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&garbage);
        let settings = settings(self.cx, self.target).observer(move |event| {
            if let Telemetry::Violation { .. } = event.telemetry {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let began = Instant::now();
        let client = settings.connect_later(self.transport);
        self.cx.departure.includes(&client);
        let opened = bounded(self.cx, async { Ok(client.opened().await) }).await;
        let took = began.elapsed();
        let started = is_started(self.target);
        let opened = match opened {
            Ok(opened) => opened,
            Err(interrupted) => {
                client.stop().await;
                chart.failed("session", took, interrupted)?;
                return Err(Ended);
            }
        };
        if let Err(error) = opened {
            client.stop().await;
            not_opened(&error, &self.heard, took, started, chart)?;
            return Err(Ended);
        }
        if started {
            chart.good("start", self.heard.dialled(), running(self.target));
        }
        opening(self.cx, &client, &self.heard, took, chart);
        complain(garbage.load(Ordering::Relaxed), chart);
        if let Some(server) = client.server() {
            capabilities(&server, chart);
        }
        Ok((client, self.stderr))
    }
}

/// The process to start, if the server is one.
fn process(target: &Target) -> Option<ChildProcess> {
    match target {
        Target::Command(words) => {
            let (command, args) = words.split_first()?;
            Some(typed_command(command, args))
        }
        Target::Configured(found) => match &found.entry.endpoint {
            Endpoint::Stdio(_) => found.entry.child_process(),
            _ => None,
        },
        _ => None,
    }
}

fn running(target: &Target) -> &'static str {
    match target {
        Target::Demo => "within this process",
        _ => "it runs",
    }
}

/// Says which layer it was that failed.
fn not_opened(
    error: &Error,
    heard: &Heard,
    took: Duration,
    started: bool,
    chart: &mut Chart<'_>,
) -> Result<(), Ended> {
    let Some(cause) = error.cause() else {
        return chart.failed("session", took, Failure::failed(error.to_string()));
    };
    let message = match cause.kind() {
        CauseKind::Unreachable(why) => why.clone(),
        CauseKind::OpeningTimeout(after) => format!("there is no answer after {after:?}"),
        kind => kind.to_string(),
    };
    let mut failure = Failure::new(FailureKind::of(cause), message);
    if let Some(tail) = cause.tail() {
        let last = last_lines(&tail.lines().collect::<Vec<_>>());
        failure.message = format!("{}\nits last words:\n{last}", failure.message);
    }
    failure.hints = advice::of_opening(cause, !started);
    let died = matches!(
        cause.kind(),
        CauseKind::Exited { .. } | CauseKind::Unreachable(_)
    );
    if started && died {
        return chart.failed("start", took, failure);
    }
    if started {
        chart.good("start", heard.dialled(), "it runs");
    }
    chart.failed("session", took, failure)
}

/// Says in which era the session is, and how that was found out.
fn opening(cx: &Context, client: &Client, heard: &Heard, took: Duration, chart: &mut Chart<'_>) {
    let Some(server) = client.server() else {
        return;
    };
    let name = server.info.as_ref().map_or_else(
        || "it does not say what it is".to_owned(),
        |info| format!("{} {}", info.name, info.version),
    );
    let revision = server.revision;
    let probe = heard.question(method::DISCOVER);
    let how = match (revision.era(), &probe) {
        (Era::Stateless, _) => "stateless".to_owned(),
        (Era::Handshake, None) => "with sessions".to_owned(),
        (Era::Handshake, Some(probe)) => match probe.answered {
            Some((after, _)) => {
                let ms = after.as_secs_f64() * 1000.0;
                format!(
                    "with sessions; it refused {} after {ms:.1} ms",
                    probe.method
                )
            }
            None => format!("with sessions; it left {} unanswered", probe.method),
        },
    };
    chart.good(
        "session",
        took,
        format!("{name}, revision {revision} ({how})"),
    );
    let unanswered = probe.is_some_and(|probe| probe.answered.is_none());
    if unanswered && revision.era() == Era::Handshake {
        let waited = cx
            .timeout()
            .map_or(Timeouts::standard().probe, |limit| limit / 2);
        chart.warning(
            "session",
            format!("opening waits up to {waited:?} for an answer that this server never gives"),
            format!(
                "say which revision it speaks: --protocol {revision}, or `revisions` in its entry"
            ),
        );
    }
}

/// Says what the server declares that it can do.
fn capabilities(server: &Server, chart: &mut Chart<'_>) {
    let known = [
        "tools",
        "resources",
        "resources.subscribe",
        "prompts",
        "completions",
        "logging",
        "tasks",
        "extensions",
        "experimental",
    ];
    let declared = known.into_iter().filter(|it| server.capabilities.has(it));
    let declared = declared.collect::<Vec<_>>().join(", ");
    match declared.is_empty() {
        true => chart.warning(
            "capabilities",
            "none are declared",
            "a server that offers nothing is of no use: is it the right one?",
        ),
        false => chart.good("capabilities", None, declared),
    }
}

/// Says that the server wrote what is no message.
fn complain(garbage: usize, chart: &mut Chart<'_>) {
    if garbage > 0 {
        let what = match garbage {
            1 => "it sent something that is no message".to_owned(),
            _ => format!("it sent {garbage} things that are no messages"),
        };
        chart.warning(
            "session",
            what,
            "logs belong on standard error; --trace shows what was sent",
        );
    }
}

/// What the server offers, and whether it is sound.
async fn offers(client: &Client, chart: &mut Chart<'_>) -> Result<(), Ended> {
    let tools = list("tools", client.tools().list(), chart).await?;
    list("resources", client.resources().list(), chart).await?;
    list("templates", client.resources().templates(), chart).await?;
    list("prompts", client.prompts().list(), chart).await?;
    judge(&tools, chart);
    distance(client, chart).await
}

async fn list<T>(
    layer: &'static str,
    listing: impl Future<Output = Result<Vec<T>, Error>>,
    chart: &mut Chart<'_>,
) -> Result<Vec<T>, Ended> {
    let began = Instant::now();
    match bounded(chart.context(), async { Ok(listing.await) }).await {
        Ok(Ok(items)) => {
            chart.good(layer, began.elapsed(), items.len().to_string());
            Ok(items)
        }
        Ok(Err(error)) if lacks(&error) => {
            if error.server_error().is_some() {
                chart.warning(
                    layer,
                    format!("declared, and refused: {error}"),
                    "the server should answer, or not declare that it has them",
                );
            } else {
                chart.good(layer, None, "not offered");
            }
            Ok(Vec::new())
        }
        Ok(Err(error)) => {
            let failure = Failure::from(error);
            chart.failed(layer, began.elapsed(), failure)?;
            Err(Ended)
        }
        Err(interrupted) => {
            chart.failed(layer, began.elapsed(), interrupted)?;
            Err(Ended)
        }
    }
}

fn judge(tools: &[Tool], chart: &mut Chart<'_>) {
    let faults = faults(tools);
    if faults.is_empty() {
        let detail = match tools.len() {
            0 => "none to look at".to_owned(),
            1 => "that of the one tool is sound".to_owned(),
            count => format!("those of all {count} tools are sound"),
        };
        chart.good("schemas", None, detail);
    }
    for fault in faults {
        chart.warning(
            "schemas",
            format!("{}: {}", fault.tool, fault.what),
            fault.advice,
        );
    }
}

async fn distance(client: &Client, chart: &mut Chart<'_>) -> Result<(), Ended> {
    let mut times = Vec::new();
    let mut method = "";
    for _ in 0..ROUNDS {
        match bounded(chart.context(), round_trip(client)).await {
            Ok((asked, took)) => {
                method = asked;
                times.push(took);
            }
            Err(failure) => return chart.failed("round trip", None, failure),
        }
    }
    times.sort_unstable();
    let ms = |time: &Duration| time.as_secs_f64() * 1000.0;
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Ok(());
    };
    let detail = format!("{method}, {:.1} to {:.1} ms", ms(first), ms(last));
    chart.good("round trip", times[times.len() / 2], detail);
    Ok(())
}

/// Not more of them than somebody wants to read.
fn last_lines<S: AsRef<str>>(lines: &[S]) -> String {
    let last = &lines[lines.len().saturating_sub(LINES)..];
    let last: Vec<_> = last.iter().map(AsRef::as_ref).collect();
    last.join("\n")
}

impl Stderr {
    fn listener(&self) -> StderrPolicy {
        let lines = Arc::clone(&self.0);
        StderrPolicy::lines(move |line| {
            let mut lines = lines.lock().unwrap_or_else(PoisonError::into_inner);
            lines.push(line.trim_end().to_owned());
        })
    }

    fn examine(&self, target: &Target, chart: &mut Chart<'_>) {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let detail = match (lines.len(), target) {
            (_, Target::Demo) => "that of this command".to_owned(),
            (0, _) => "nothing".to_owned(),
            (1, _) => format!("one line:\n{}", lines[0]),
            (count, _) => format!("{count} lines; the last of them:\n{}", last_lines(&lines)),
        };
        chart.good("standard error", None, detail);
    }
}
