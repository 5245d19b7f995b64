//! Checks the session: whether it opens, in which era, and what the server
//! offers.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use bowline::{
    Client, Error, Timeouts,
    client::TelemetryEvent,
    config::Endpoint,
    model::{Tool, method},
    proto::{client::ServerInfo, revision::Era},
    transport::{ChildProcess, ConnectionErrorKind, StderrPolicy},
};

use super::{
    advice, is_local_process,
    opening::OpeningObserver,
    report::{Report, Stopped},
    schemas::tool_problems,
};
use crate::{
    context::Context,
    failure::{Failure, FailureKind},
    fleet::{is_unsupported, round_trip},
    locks,
    target::{Target, client_builder, user_command, with_limits},
    traffic::{self, ObservedTransport},
};

/// How many times the round trip is measured.
const ROUND_TRIPS: usize = 5;
/// Maximum number of standard error lines shown.
const STDERR_LINES: usize = 5;

pub(super) async fn examine(
    cx: &Context,
    target: &Target,
    report: &mut Report<'_>,
) -> Result<(), Stopped> {
    let session_probe = SessionProbe::new(cx, target);
    let client = match session_probe {
        Ok(session_probe) => session_probe.open(report).await?,
        Err(failure) => return report.failed("start", None, failure),
    };
    let (client, stderr) = client;
    let result = report_offers(&client, report).await;
    client.stop().await;
    if is_local_process(target) && result.is_ok() {
        stderr.write_report(target, report);
    }
    result
}

/// A server about to be connected to.
struct SessionProbe<'a> {
    cx: &'a Context,
    target: &'a Target,
    transport: ObservedTransport<OpeningObserver>,
    observer: OpeningObserver,
    stderr: StderrLines,
}

/// The lines the server writes to standard error.
#[derive(Clone, Default)]
struct StderrLines(Arc<Mutex<Vec<String>>>);

impl<'a> SessionProbe<'a> {
    fn new(cx: &'a Context, target: &'a Target) -> Result<Self, Failure> {
        let (observer, stderr) = (OpeningObserver::default(), StderrLines::default());
        let transport = match child_process(target) {
            Some(process) => Box::new(process.stderr(stderr.listener())),
            None => target.transport(&cx.globals)?,
        };
        let transport = traffic::observe_transport(transport, &cx.globals)?;
        let transport = ObservedTransport::new(transport, observer.clone());
        Ok(Self {
            cx,
            target,
            transport,
            observer,
            stderr,
        })
    }

    /// Opens a session and reports the result.
    async fn open(self, report: &mut Report<'_>) -> Result<(Client, StderrLines), Stopped> {
        let violations = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&violations);
        let builder = client_builder(self.cx, self.target).observer(move |event| {
            if let TelemetryEvent::Violation { .. } = event.event {
                count.fetch_add(1, Ordering::Relaxed);
            }
        });
        let start = Instant::now();
        let client = builder.connect_in_background(self.transport);
        self.cx.shutdown.register(&client);
        let opened = with_limits(self.cx, async { Ok(client.wait_first_attempt().await) }).await;
        let elapsed = start.elapsed();
        let is_local = is_local_process(self.target);
        let opened = match opened {
            Ok(opened) => opened,
            Err(interrupted) => {
                client.stop().await;
                report.failed("session", elapsed, interrupted)?;
                return Err(Stopped);
            }
        };
        if let Err(error) = opened {
            client.stop().await;
            report_open_failure(&error, &self.observer, elapsed, is_local, report)?;
            return Err(Stopped);
        }
        if is_local {
            report.ok(
                "start",
                self.observer.dial_time(),
                running_detail(self.target),
            );
        }
        report_opening(self.cx, &client, &self.observer, elapsed, report);
        report_violations(violations.load(Ordering::Relaxed), report);
        if let Some(server) = client.server_info() {
            report_capabilities(&server, report);
        }
        Ok((client, self.stderr))
    }
}

/// Returns the process to start, if the server is one.
fn child_process(target: &Target) -> Option<ChildProcess> {
    match target {
        Target::Command(words) => {
            let (command, args) = words.split_first()?;
            Some(user_command(command, args))
        }
        Target::Configured(found) => match &found.entry.endpoint {
            Endpoint::Stdio(_) => found.entry.child_process(),
            _ => None,
        },
        _ => None,
    }
}

fn running_detail(target: &Target) -> &'static str {
    match target {
        Target::Demo => "runs in this process",
        _ => "running",
    }
}

/// Reports which layer failed.
fn report_open_failure(
    error: &Error,
    observer: &OpeningObserver,
    elapsed: Duration,
    is_local: bool,
    report: &mut Report<'_>,
) -> Result<(), Stopped> {
    let Some(cause) = error.connection_error() else {
        return report.failed("session", elapsed, Failure::failed(format!("{error:#}")));
    };
    let message = match cause.kind() {
        ConnectionErrorKind::Unreachable(why) => why.clone(),
        ConnectionErrorKind::OpeningTimeout(after) => format!("timed out after {after:?}"),
        kind => kind.to_string(),
    };
    let mut failure = Failure::new(FailureKind::from_cause(cause), message);
    if let Some(tail) = cause.detail() {
        let last = last_lines(&tail.lines().collect::<Vec<_>>());
        failure.message = format!("{}\nstandard error:\n{last}", failure.message);
    }
    failure.hints = advice::for_failed_opening(cause, !is_local);
    let has_exited = matches!(
        cause.kind(),
        ConnectionErrorKind::Exited { .. } | ConnectionErrorKind::Unreachable(_)
    );
    if is_local && has_exited {
        return report.failed("start", elapsed, failure);
    }
    if is_local {
        report.ok("start", observer.dial_time(), "running");
    }
    report.failed("session", elapsed, failure)
}

/// Reports the era of the session and how it was detected.
fn report_opening(
    cx: &Context,
    client: &Client,
    observer: &OpeningObserver,
    elapsed: Duration,
    report: &mut Report<'_>,
) {
    let Some(server) = client.server_info() else {
        return;
    };
    let name = server.info.as_ref().map_or_else(
        || "name not given".to_owned(),
        |info| format!("{} {}", info.name, info.version),
    );
    let revision = server.revision;
    let probe = observer.request(method::DISCOVER);
    let mode = match (revision.era(), &probe) {
        (Era::Stateless, _) => "stateless".to_owned(),
        (Era::Handshake, None) => "with sessions".to_owned(),
        (Era::Handshake, Some(probe)) => match probe.response {
            Some((after, _)) => {
                let ms = after.as_secs_f64() * 1000.0;
                format!("with sessions; rejected {} after {ms:.1} ms", probe.method)
            }
            None => format!("with sessions; did not respond to {}", probe.method),
        },
    };
    report.ok(
        "session",
        elapsed,
        format!("{name}, revision {revision} ({mode})"),
    );
    let unanswered = probe.is_some_and(|probe| probe.response.is_none());
    if unanswered && revision.era() == Era::Handshake {
        let probe_timeout = cx
            .timeout()
            .map_or(Timeouts::standard().probe, |limit| limit / 2);
        report.warning(
            "session",
            format!(
                "opening waits up to {probe_timeout:?} for a response that this server never sends"
            ),
            format!("set its revision: --protocol {revision}, or `revisions` in its entry"),
        );
    }
}

/// Reports the capabilities the server declares.
fn report_capabilities(server: &ServerInfo, report: &mut Report<'_>) {
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
        true => report.warning(
            "capabilities",
            "none declared",
            "the server offers nothing: is it the right one?",
        ),
        false => report.ok("capabilities", None, declared),
    }
}

/// Reports output of the server that is not a valid message.
fn report_violations(violations: usize, report: &mut Report<'_>) {
    if violations > 0 {
        let what = match violations {
            1 => "it sent 1 invalid message".to_owned(),
            _ => format!("it sent {violations} invalid messages"),
        };
        report.warning(
            "session",
            what,
            "logs belong on standard error; --trace shows what was sent",
        );
    }
}

/// Reports what the server offers, and problems with it.
async fn report_offers(client: &Client, report: &mut Report<'_>) -> Result<(), Stopped> {
    let tools = report_list("tools", client.tools().list(), report).await?;
    report_list("resources", client.resources().list(), report).await?;
    report_list("templates", client.resources().templates(), report).await?;
    report_list("prompts", client.prompts().list(), report).await?;
    report_tool_problems(&tools, report);
    measure_round_trip(client, report).await
}

async fn report_list<T>(
    layer: &'static str,
    listing: impl Future<Output = Result<Vec<T>, Error>>,
    report: &mut Report<'_>,
) -> Result<Vec<T>, Stopped> {
    let start = Instant::now();
    match with_limits(report.context(), async { Ok(listing.await) }).await {
        Ok(Ok(items)) => {
            report.ok(layer, start.elapsed(), items.len().to_string());
            Ok(items)
        }
        Ok(Err(error)) if is_unsupported(&error) => {
            if error.server_error().is_some() {
                report.warning(
                    layer,
                    format!("declared but not supported: {error}"),
                    "the server should support them, or not declare the capability",
                );
            } else {
                report.ok(layer, None, "not offered");
            }
            Ok(Vec::new())
        }
        Ok(Err(error)) => {
            let failure = Failure::from(error);
            report.failed(layer, start.elapsed(), failure)?;
            Err(Stopped)
        }
        Err(interrupted) => {
            report.failed(layer, start.elapsed(), interrupted)?;
            Err(Stopped)
        }
    }
}

fn report_tool_problems(tools: &[Tool], report: &mut Report<'_>) {
    let problems = tool_problems(tools);
    if problems.is_empty() {
        let detail = match tools.len() {
            0 => "no tools to check".to_owned(),
            1 => "1 tool is valid".to_owned(),
            count => format!("all {count} tools are valid"),
        };
        report.ok("schemas", None, detail);
    }
    for problem in problems {
        report.warning(
            "schemas",
            format!("{}: {}", problem.tool, problem.message),
            problem.advice,
        );
    }
}

async fn measure_round_trip(client: &Client, report: &mut Report<'_>) -> Result<(), Stopped> {
    let mut times = Vec::new();
    let mut method = "";
    for _ in 0..ROUND_TRIPS {
        match with_limits(report.context(), round_trip(client)).await {
            Ok((sent_method, elapsed)) => {
                method = sent_method;
                times.push(elapsed);
            }
            Err(failure) => return report.failed("round trip", None, failure),
        }
    }
    times.sort_unstable();
    let ms = |time: &Duration| time.as_secs_f64() * 1000.0;
    let (Some(first), Some(last)) = (times.first(), times.last()) else {
        return Ok(());
    };
    let detail = format!("{method}, {:.1} to {:.1} ms", ms(first), ms(last));
    report.ok("round trip", times[times.len() / 2], detail);
    Ok(())
}

/// Returns the last lines, up to a limit.
fn last_lines<S: AsRef<str>>(lines: &[S]) -> String {
    let last = &lines[lines.len().saturating_sub(STDERR_LINES)..];
    let last: Vec<_> = last.iter().map(AsRef::as_ref).collect();
    last.join("\n")
}

impl StderrLines {
    fn listener(&self) -> StderrPolicy {
        let lines = Arc::clone(&self.0);
        StderrPolicy::lines(move |line| {
            let mut lines = locks::lock(&lines);
            lines.push(line.trim_end().to_owned());
        })
    }

    fn write_report(&self, target: &Target, report: &mut Report<'_>) {
        let lines = locks::lock(&self.0);
        let detail = match (lines.len(), target) {
            (_, Target::Demo) => "shared with this command".to_owned(),
            (0, _) => "nothing".to_owned(),
            (1, _) => format!("one line:\n{}", lines[0]),
            (count, _) => format!("{count} lines; the last ones:\n{}", last_lines(&lines)),
        };
        report.ok("standard error", None, detail);
    }
}
