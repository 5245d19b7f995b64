//! A server that a test starts and ends.

use std::{
    fs,
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    sync::{
        atomic::{AtomicU32, Ordering},
        mpsc,
    },
    thread,
    time::Duration,
};

use bowline_redis::{RedisStores, RedisStoresBuilder};
use redis::{ConnectionLike as _, FromRedisValue};

/// The names of the program, in order of preference.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];

pub(crate) const HOUR: Duration = Duration::from_secs(3600);

/// A Redis with a socket in a folder of its own.
pub(crate) struct Redis {
    folder: PathBuf,
    settings: Vec<String>,
    child: Child,
}

impl Redis {
    /// Starts a server that writes nothing to disk.
    pub(crate) fn start() -> Self {
        Self::start_with(&["--appendonly", "no"])
    }

    /// Starts a server that writes everything to disk before it answers.
    pub(crate) fn start_persistent() -> Self {
        Self::start_with(&["--appendonly", "yes", "--appendfsync", "always"])
    }

    pub(crate) fn start_with(settings: &[&str]) -> Self {
        static COUNTER: AtomicU32 = AtomicU32::new(0);
        let number = COUNTER.fetch_add(1, Ordering::Relaxed);
        let name = format!("bowline-redis-{}-{number}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).expect("a folder");
        let settings: Vec<String> = settings.iter().map(ToString::to_string).collect();
        let child = spawn(&folder, &settings);
        Self {
            folder,
            settings,
            child,
        }
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.folder.join("socket")
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}", self.socket().display())
    }

    pub(crate) fn builder(&self) -> RedisStoresBuilder {
        RedisStores::builder(&self.url())
    }

    /// Returns stores with their own connection, as each node has.
    pub(crate) async fn stores(&self) -> RedisStores {
        self.builder().connect().await.expect("it runs")
    }

    /// Ends the server without any warning.
    pub(crate) fn kill(&mut self) {
        self.child.kill().expect("it runs");
        self.child.wait().expect("it ends");
    }

    /// Starts it again, with what it has on disk.
    pub(crate) fn restart(&mut self) {
        self.child = spawn(&self.folder, &self.settings);
    }

    /// Runs a command, as an administrator would.
    #[track_caller]
    pub(crate) fn run<T: FromRedisValue>(&self, command: &[&str]) -> T {
        let client = redis::Client::open(self.url()).expect("an address");
        let mut connection = client.get_connection().expect("it runs");
        let mut packed = redis::cmd(command[0]);
        packed.arg(&command[1..]);
        let value = connection.req_command(&packed).expect("a command");
        redis::from_redis_value(value).expect("a value of this type")
    }

    pub(crate) fn set(&self, setting: &str, value: &str) {
        self.run::<()>(&["CONFIG", "SET", setting, value]);
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        // It may have been killed already.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Starts the server and waits until it says that it is ready.
fn spawn(folder: &Path, settings: &[String]) -> Child {
    let _ = fs::remove_file(folder.join("socket"));
    let started = PROGRAMS.iter().find_map(|program| {
        let mut command = Command::new(program);
        command
            .args(["--port", "0", "--save", "", "--unixsocket"])
            .arg(folder.join("socket"))
            .arg("--dir")
            .arg(folder)
            .args(settings)
            .stdin(Stdio::null())
            .stdout(Stdio::piped());
        command.spawn().ok()
    });
    let mut child = started.expect("redis-server is installed: see `cargo xtask test`");
    let output = child.stdout.take().expect("it is piped");
    let (sender, ready) = mpsc::channel();
    // Reads to the end, so that it never blocks on a full pipe.
    thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            let is_ready = line.contains("eady to accept connections");
            if is_ready || line.contains("Fatal") {
                let _ = sender.send(is_ready.then_some(()).ok_or(line));
            }
        }
    });
    let ready = ready.recv().expect("it ended before it was ready");
    ready.expect("it starts");
    child
}
