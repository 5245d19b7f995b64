//! Stopping waits for the server's end, and asks before it forces.

use std::{
    fs,
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
    time::Duration,
};

use bowline::{
    Client,
    pool::Pool,
    registry::Registry,
    transport::{ChildProcess, StopOutcome},
};

use super::within;

/// Opens a session, serves until its input ends, and then does what the test
/// says, with `$1` a file to leave a note in.
const OPENS: &str = r#"
read -r probe
echo '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}'
read -r initialize
echo '{"jsonrpc":"2.0","id":2,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}}'
while read -r message; do :; done
"#;

/// Longer than any server here takes that ends.
const LIMIT: Duration = Duration::from_secs(60);

/// A file that a server leaves a note in. It goes away with this.
struct Note(PathBuf);

impl Note {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("note-{}-{count}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    /// A server that does this when its input has ended.
    fn server(&self, last: &str) -> ChildProcess {
        let script = format!("{OPENS}{last}");
        ChildProcess::new("sh")
            .args(["-c", &script, "sh"])
            .arg(&self.0)
    }

    fn text(&self) -> Option<String> {
        fs::read_to_string(&self.0).ok()
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

async fn connect(server: ChildProcess) -> Client {
    let connecting = Client::builder().connect(server);
    within("connecting", connecting).await.expect("it opens")
}

/// A runtime of one thread, on which nothing happens once this returns.
fn on_one_thread<T>(work: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(work)
}

const CLEANS_UP: &str = "sleep 0.2; echo clean > \"$1\"";

#[test]
fn a_child_has_cleaned_up_when_the_wait_is_over() {
    let note = Note::new();
    let stopped = on_one_thread(async {
        let client = connect(note.server(CLEANS_UP)).await;
        client.stop_and_wait(LIMIT).await
    });
    assert_eq!(note.text().as_deref(), Some("clean\n"));
    assert_eq!(stopped, StopOutcome::Graceful);
}

#[test]
fn all_servers_of_a_registry_and_of_a_pool_have() {
    let notes = [Note::new(), Note::new(), Note::new()];
    let [one, two, pooled] = [0, 1, 2].map(|at: usize| notes[at].server(CLEANS_UP));
    on_one_thread(async move {
        let registry = Registry::new();
        for (name, server) in [("one", one), ("two", two)] {
            let start = move |_: &str| Client::builder().connect_in_background(server.clone());
            registry.add(name, start).expect("a good name");
            registry.start(name).await.expect("it opens");
        }
        let pool = Pool::new(1, move || {
            Client::builder().connect_in_background(pooled.clone())
        });
        pool.client().await.expect("it opens");
        let one = registry.stop_and_wait("one", LIMIT).await;
        assert_eq!(one.expect("it is known"), StopOutcome::Graceful);
        assert_eq!(
            registry.stop_all_and_wait(LIMIT).await,
            StopOutcome::Graceful
        );
        assert_eq!(pool.stop_and_wait(LIMIT).await, StopOutcome::Graceful);
    });
    for note in &notes {
        assert_eq!(note.text().as_deref(), Some("clean\n"));
    }
}

/// One that lives on after its input has ended, and says so when it is told to
/// end.
const WAITS_FOR_A_SIGNAL: &str = r#"
trap 'echo told > "$1"; exit 0' TERM
while :; do sleep 0.05; done
"#;

#[tokio::test]
async fn a_child_is_told_to_end_before_it_is_killed() {
    let note = Note::new();
    let server = note.server(WAITS_FOR_A_SIGNAL);
    let client = connect(server.shutdown_timeout(Duration::from_millis(500))).await;
    let stopped = within("stopping", client.stop_and_wait(LIMIT)).await;
    assert_eq!(note.text().as_deref(), Some("told\n"));
    assert_eq!(stopped, StopOutcome::Graceful);
}

/// It would take more than a pipe holds before it leaves its note.
const SAYS_A_LOT: &str = r#"
yes 'what nobody reads blocks its writer' | head -c 1000000 >&2 || exit 1
yes 'and so does this' | head -c 1000000 || exit 1
echo said > "$1"
"#;

#[tokio::test]
async fn what_a_child_still_says_is_read() {
    let note = Note::new();
    let client = connect(note.server(SAYS_A_LOT)).await;
    let stopped = within("stopping", client.stop_and_wait(LIMIT)).await;
    assert_eq!(note.text().as_deref(), Some("said\n"));
    assert_eq!(stopped, StopOutcome::Graceful);
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_child_that_does_not_end_in_time_is_killed() {
    let note = Note::new();
    let stubborn = r#"trap '' TERM; echo $$ > "$1"; while :; do sleep 0.05; done"#;
    let script = format!("trap '' TERM; echo $$ > \"$1\"{OPENS}{stubborn}");
    let server = ChildProcess::new("sh")
        .args(["-c", &script, "sh"])
        .arg(&note.0);
    let client = connect(server).await;
    let pid = note.text().expect("it said who it is");
    let stopped = within("stopping", client.stop_and_wait(Duration::ZERO)).await;
    assert_eq!(stopped, StopOutcome::Forced);
    let pid = pid.trim().parse().expect("a number");
    assert!(super::is_gone(pid), "it is gone when the wait is over");
}
