//! Files that the command line names, read within limits.
//!
//! What is behind a name may have no end, as `/dev/zero`, or no beginning, as a
//! pipe that nobody writes to. A command must end all the same.

use std::{
    fs::{self, File},
    io::{self, Read},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use crate::{failure::Failure, target};

/// How much is read of one file, or of standard input.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file as text, or standard input, which is called `-`. What is
/// neither a file nor a pipe is refused. A pipe must end before the time is over,
/// if that has an end.
pub(crate) fn read(path: &str, time: Option<Duration>) -> Result<String, Failure> {
    let name = path.to_owned();
    let bytes = in_time(time, move || match &*name {
        "-" => bounded(io::stdin().lock()),
        path => bounded(open(path)?),
    });
    let bytes = bytes.map_err(|why| explain(path, time, &why))?;
    String::from_utf8(bytes).map_err(|_| Failure::usage(format!("{} is not text", shown(path))))
}

/// Why something was not read.
enum Why {
    Io(io::Error),
    NoFile,
    TooLarge,
    TooSlow,
}

impl From<io::Error> for Why {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn open(path: &str) -> Result<File, Why> {
    // Before it is opened: to open a device may do something.
    let about = fs::metadata(path)?;
    if !about.is_file() && !is_pipe(&about) {
        return Err(Why::NoFile);
    }
    Ok(File::open(path)?)
}

#[cfg(unix)]
fn is_pipe(about: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&about.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

fn bounded(from: impl Read) -> Result<Vec<u8>, Why> {
    let mut bytes = Vec::new();
    from.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(Why::TooLarge),
        false => Ok(bytes),
    }
}

/// Reads on a thread of its own, which is left behind if it takes too long: a
/// pipe that nobody writes to cannot be given up in another way.
fn in_time(
    time: Option<Duration>,
    read: impl FnOnce() -> Result<Vec<u8>, Why> + Send + 'static,
) -> Result<Vec<u8>, Why> {
    let Some(time) = time else {
        return read();
    };
    let (sender, receiver) = mpsc::channel();
    // If nobody waits for it any more, it is not needed.
    thread::spawn(move || drop(sender.send(read())));
    receiver.recv_timeout(time).unwrap_or_else(|why| {
        Err(match why {
            RecvTimeoutError::Timeout => Why::TooSlow,
            RecvTimeoutError::Disconnected => io::Error::other("it was not read").into(),
        })
    })
}

fn explain(path: &str, time: Option<Duration>, why: &Why) -> Failure {
    let shown = shown(path);
    match why {
        Why::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            Failure::usage(format!("no file `{path}`"))
        }
        Why::Io(error) => Failure::usage(format!("{shown}: {error}")),
        Why::NoFile => Failure::usage(format!("{shown} is neither a file nor a pipe")),
        Why::TooLarge => {
            let most = MAX_BYTES >> 20;
            Failure::usage(format!(
                "{shown} has more than the {most} MiB that are read"
            ))
        }
        Why::TooSlow => {
            let failure = target::too_slow(time.unwrap_or_default());
            let message = format!("{shown} did not end in time");
            Failure { message, ..failure }
        }
    }
}

fn shown(path: &str) -> &str {
    match path {
        "-" => "standard input",
        path => path,
    }
}
