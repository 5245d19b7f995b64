//! A Redis of our own, on a socket in a folder of its own.

use std::{
    fs,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    os::unix::net::UnixStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread::park_timeout,
    time::{Duration, Instant},
};

use crate::{Failure, process::Process};

/// How long it may take to start.
const PATIENCE: Duration = Duration::from_secs(10);

/// The socket's name in its folder.
const SOCKET: &str = "socket";

/// A server that runs until this is dropped.
pub(super) struct Redis {
    child: Child,
    folder: PathBuf,
    /// Where it is asked what it has done. Kept open, since to connect and to leave
    /// would count, too.
    link: Option<BufReader<UnixStream>>,
}

impl Redis {
    /// Starts one with the settings that the documentation of `bowline-redis` asks
    /// for: a log of all writes, of which at most the last second is not on the disk.
    pub(super) fn start() -> Result<Self, Failure> {
        let name = format!("bowline-bench-redis-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut command = Command::new("redis-server");
        command
            .args(["--port", "0", "--save", "", "--appendonly", "yes"])
            .arg("--dir")
            .arg(&folder)
            .arg("--unixsocket")
            .arg(folder.join(SOCKET))
            .stdin(Stdio::null())
            .stdout(Stdio::null());
        let child = command.spawn().map_err(|error| {
            let _ = fs::remove_dir_all(&folder);
            format!("redis-server cannot be started ({error}); install Redis")
        })?;
        // From here on it is ended, whatever happens.
        let mut redis = Self {
            child,
            folder,
            link: None,
        };
        redis.wait()?;
        Ok(redis)
    }

    /// Where it can be reached.
    pub(super) fn url(&self) -> String {
        format!("redis+unix://{}", self.folder.join(SOCKET).display())
    }

    pub(super) fn process(&self) -> Process {
        Process(self.child.id())
    }

    /// How often it has read from a connection: once for each round trip, unless
    /// several are under way at once. Each time this is asked counts, too.
    pub(super) fn reads(&mut self) -> Result<u64, Failure> {
        let told = self.info().map_err(|error| format!("redis: {error}"))?;
        let reads = told
            .lines()
            .find_map(|line| line.strip_prefix("total_reads_processed:"));
        let reads = reads.and_then(|number| number.trim().parse().ok());
        reads.ok_or_else(|| "redis does not tell how often it has read".to_owned())
    }

    fn info(&mut self) -> std::io::Result<String> {
        let stream = match &mut self.link {
            Some(link) => link,
            none => none.insert(BufReader::new(UnixStream::connect(
                self.folder.join(SOCKET),
            )?)),
        };
        stream.get_mut().write_all(b"INFO stats\r\n")?;
        let mut length = String::new();
        stream.read_line(&mut length)?;
        let length = length.trim().strip_prefix('$');
        let length = length.and_then(|length| length.parse::<usize>().ok());
        // A line break follows.
        let mut text = vec![0; length.map_or(0, |length| length + 2)];
        stream.read_exact(&mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    fn wait(&mut self) -> Result<(), Failure> {
        let until = Instant::now() + PATIENCE;
        loop {
            match self.reads() {
                Ok(_) => return Ok(()),
                Err(why) if Instant::now() > until => return Err(why),
                Err(_) => park_timeout(Duration::from_millis(20)),
            }
        }
    }
}

impl Drop for Redis {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_dir_all(&self.folder);
    }
}
