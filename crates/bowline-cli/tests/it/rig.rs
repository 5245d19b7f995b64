//! Runs the command that was built, in a world of its own.
//!
//! Nothing of the machine's configuration leaks in: the home folder and the
//! working folder are empty but for what a test puts there.

use std::{
    ffi::OsStr,
    fmt, fs,
    io::{Read, Write as _},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicUsize, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

/// The command.
pub(crate) const BOWLINE: &str = env!("CARGO_BIN_EXE_bowline");

/// How long a command may take before the test says that it hangs.
const PATIENCE: Duration = Duration::from_secs(60);

/// A home and a working folder, which go away with this.
pub(crate) struct Rig {
    folder: PathBuf,
}

/// What a command did.
pub(crate) struct Ran {
    /// Its exit code; none if a signal ended it.
    pub(crate) code: Option<i32>,
    /// What it wrote as its result.
    pub(crate) stdout: Vec<u8>,
    /// What it said besides.
    pub(crate) stderr: String,
}

impl Rig {
    /// An empty home.
    pub(crate) fn empty() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("rig-{}-{count}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        for part in ["home", "work"] {
            fs::create_dir_all(folder.join(part)).expect("the folder can be made");
        }
        Self { folder }
    }

    /// A home in which the servers `fixture` and `asker` are configured.
    pub(crate) fn new() -> Self {
        let rig = Self::empty();
        let server = |name| serde_json::json!({"command": example(name)});
        let (fixture, asker) = (server("fixture"), server("asker"));
        rig.configure(&serde_json::json!({"mcpServers": {"fixture": fixture, "asker": asker}}));
        rig
    }

    /// Writes the user's own configuration file.
    pub(crate) fn configure(&self, servers: &serde_json::Value) {
        let folder = self.home().join(".config").join("bowline");
        fs::create_dir_all(&folder).expect("the folder can be made");
        fs::write(folder.join("bowline.json"), servers.to_string()).expect("it can be written");
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.folder.join("home")
    }

    /// The folder in which commands run.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Puts a file into the working folder.
    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.work().join(name);
        fs::write(&path, content).expect("it can be written");
        path
    }

    /// The command with these arguments, ready to be started.
    pub(crate) fn command<S: AsRef<OsStr>>(&self, args: &[S]) -> Command {
        let mut command = Command::new(BOWLINE);
        command
            .args(args)
            .current_dir(self.work())
            .env_clear()
            .envs(environment(&self.home()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Runs the command with nothing to read.
    pub(crate) fn run<S: AsRef<OsStr>>(&self, args: &[S]) -> Ran {
        finish(self.command(args).spawn().expect("the command starts"))
    }

    /// Runs the command with this on its standard input.
    pub(crate) fn run_with<S: AsRef<OsStr>>(&self, args: &[S], stdin: &str) -> Ran {
        let mut command = self.command(args);
        let mut child = command
            .stdin(Stdio::piped())
            .spawn()
            .expect("the command starts");
        let mut input = child.stdin.take().expect("it has an input");
        // One that does not read its input has ended for another reason.
        let _ = input.write_all(stdin.as_bytes());
        drop(input);
        finish(child)
    }
}

impl fmt::Debug for Ran {
    /// As people read it: a failed test shows what was on the screen.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let stdout = String::from_utf8_lossy(&self.stdout);
        writeln!(f, "exit code {:?}", self.code)?;
        write!(f, "--- stdout\n{stdout}--- stderr\n{}---", self.stderr)
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        // What cannot be removed lies below the build's own folder.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

impl Ran {
    /// The result, as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).expect("the result is text")
    }

    /// The result, as one JSON document.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.stdout)
            .unwrap_or_else(|error| panic!("not one JSON document: {error}\n{self:?}"))
    }
}

/// The environment in which commands run.
pub(crate) fn environment(home: &Path) -> Vec<(String, String)> {
    let path = std::env::var("PATH").unwrap_or_default();
    let home = home.to_str().expect("the path is text").to_owned();
    let under = |name: &str| format!("{home}/{name}");
    [
        ("PATH", path),
        ("XDG_CONFIG_HOME", under(".config")),
        ("XDG_STATE_HOME", under(".local/state")),
        ("XDG_DATA_HOME", under(".local/share")),
        ("XDG_CACHE_HOME", under(".cache")),
        ("XDG_RUNTIME_DIR", under(".run")),
        ("NO_COLOR", "1".to_owned()),
        ("COLUMNS", "100".to_owned()),
        ("HOME", home),
    ]
    .into_iter()
    .map(|(name, value)| (name.to_owned(), value))
    .collect()
}

/// The path of an example of this crate, which `cargo test -p bowline-cli`
/// builds.
pub(crate) fn example(name: &str) -> PathBuf {
    let folder = Path::new(BOWLINE).parent().expect("it lies in a folder");
    let path = folder.join("examples").join(name);
    assert!(
        path.with_extension(std::env::consts::EXE_EXTENSION)
            .is_file(),
        "{} is missing: build it with `cargo build -p bowline-cli --examples`",
        path.display(),
    );
    path
}

/// Waits for the end of a command, with limited patience.
pub(crate) fn finish(mut child: Child) -> Ran {
    let stdout = child.stdout.take().map(drain);
    let stderr = child.stderr.take().map(drain);
    let mut gather = |stream: Option<mpsc::Receiver<Vec<u8>>>| {
        let Some(stream) = stream else {
            return Vec::new();
        };
        stream.recv_timeout(PATIENCE).unwrap_or_else(|_| {
            let _ = child.kill();
            panic!("the command hangs");
        })
    };
    let stdout = gather(stdout);
    let stderr = gather(stderr);
    let status = child.wait().expect("its end can be waited for");
    Ran {
        code: status.code(),
        stdout,
        stderr: String::from_utf8(stderr).expect("remarks are text"),
    }
}

/// Reads a stream to its end, elsewhere.
fn drain(mut stream: impl Read + Send + 'static) -> mpsc::Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    thread::spawn(move || {
        let mut all = Vec::new();
        // What was read until it broke is what there is.
        let _ = stream.read_to_end(&mut all);
        let _ = sender.send(all);
    });
    receiver
}
