//! The Redis of the fleet.

use std::{
    ffi::OsString,
    io,
    path::{Path, PathBuf},
    time::Duration,
};

use tokio::{net::UnixStream, time::sleep};

use crate::process::Process;

/// The names of the program, in order of preference.
const PROGRAMS: [&str; 2] = ["redis-server", "valkey-server"];

/// A server with a socket in a folder.
pub(crate) struct Redis {
    own_program: OsString,
    folder: PathBuf,
    is_durable: bool,
    process: Process,
}

impl Redis {
    /// Starts a server. If it is durable, it writes everything to disk before it answers;
    /// otherwise nothing ever.
    pub(crate) async fn start(
        own_program: &OsString,
        folder: &Path,
        is_durable: bool,
    ) -> io::Result<Self> {
        let process = spawn(own_program, folder, is_durable).await?;
        Ok(Self {
            own_program: own_program.clone(),
            folder: folder.to_owned(),
            is_durable,
            process,
        })
    }

    pub(crate) fn socket(folder: &Path) -> PathBuf {
        folder.join("redis")
    }

    /// Ends it without any warning.
    pub(crate) async fn kill(&mut self) -> io::Result<()> {
        self.process.kill().await.map(drop)
    }

    /// Starts it again, with what it has on disk.
    pub(crate) async fn restart(&mut self) -> io::Result<()> {
        self.process = spawn(&self.own_program, &self.folder, self.is_durable).await?;
        Ok(())
    }
}

async fn spawn(own_program: &OsString, folder: &Path, is_durable: bool) -> io::Result<Process> {
    let socket = Redis::socket(folder);
    let _ = std::fs::remove_file(&socket);
    for program in PROGRAMS {
        let log = folder.join("redis.log");
        let mut words: Vec<OsString> = vec![program.into()];
        words.extend(["--port", "0", "--save", "", "--unixsocket"].map(OsString::from));
        words.extend([socket.clone().into(), "--dir".into(), folder.into()]);
        words.extend(["--logfile".into(), log.into(), "--appendonly".into()]);
        let settings: &[&str] = match is_durable {
            true => &["yes", "--appendfsync", "always"],
            false => &["no"],
        };
        words.extend(settings.iter().map(OsString::from));
        let mut process = Process::start(own_program, words)?;
        if is_ready(&mut process, &socket).await {
            return Ok(process);
        }
        process.kill().await?;
    }
    Err(io::Error::other(
        "redis-server does not start: install it, or see redis.log in the folder of the run",
    ))
}

/// Waits until it answers that it has loaded its data. Returns `false` if it ends.
async fn is_ready(process: &mut Process, socket: &Path) -> bool {
    let connecting = async {
        loop {
            if let Ok(true) = answers(socket).await {
                return true;
            }
            sleep(Duration::from_millis(10)).await;
        }
    };
    tokio::select! {
        is_ready = connecting => is_ready,
        // It prints nothing, so this is its end.
        _ = process.line() => false,
        () = sleep(Duration::from_secs(60)) => false,
    }
}

async fn answers(socket: &Path) -> io::Result<bool> {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
    let mut stream = UnixStream::connect(socket).await?;
    stream.write_all(b"PING\r\n").await?;
    let mut response = [0; 5];
    stream.read_exact(&mut response).await?;
    Ok(response == *b"+PONG")
}
