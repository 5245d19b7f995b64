//! Reading files named on the command line, within limits.
//!
//! A path may be endless, such as `/dev/zero`, or never deliver anything, such
//! as a pipe without a writer. The command must end anyway.

use std::{
    fs::{self, File},
    io::{self, Read},
    sync::mpsc::{self, RecvTimeoutError},
    thread,
    time::Duration,
};

use crate::{failure::Failure, target};

/// Maximum number of bytes read from a file or standard input.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

/// Reads a file, or standard input for `-`, as UTF-8. Anything but a file or a
/// pipe is refused. A pipe must end before the timeout, if there is one.
pub(crate) fn read(path: &str, timeout: Option<Duration>) -> Result<String, Failure> {
    let name = path.to_owned();
    let bytes = with_timeout(timeout, move || match &*name {
        "-" => read_limited(io::stdin().lock()),
        path => read_limited(open(path)?),
    });
    let bytes = bytes.map_err(|why| to_failure(path, timeout, &why))?;
    String::from_utf8(bytes)
        .map_err(|_| Failure::usage(format!("{} is not valid UTF-8", display_name(path))))
}

/// Why a file was not read.
enum ReadError {
    Io(io::Error),
    NotAFile,
    TooLarge,
    TimedOut,
}

impl From<io::Error> for ReadError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

fn open(path: &str) -> Result<File, ReadError> {
    // Checked before opening, because opening a device may have side effects.
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() && !is_pipe(&metadata) {
        return Err(ReadError::NotAFile);
    }
    Ok(File::open(path)?)
}

#[cfg(unix)]
fn is_pipe(metadata: &fs::Metadata) -> bool {
    std::os::unix::fs::FileTypeExt::is_fifo(&metadata.file_type())
}

#[cfg(not(unix))]
fn is_pipe(_: &fs::Metadata) -> bool {
    false
}

fn read_limited(reader: impl Read) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    reader.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > MAX_BYTES {
        true => Err(ReadError::TooLarge),
        false => Ok(bytes),
    }
}

/// Reads on a separate thread, which is abandoned on timeout: a read from a
/// pipe without a writer cannot be cancelled.
fn with_timeout(
    timeout: Option<Duration>,
    read: impl FnOnce() -> Result<Vec<u8>, ReadError> + Send + 'static,
) -> Result<Vec<u8>, ReadError> {
    let Some(timeout) = timeout else {
        return read();
    };
    let (sender, receiver) = mpsc::channel();
    // The receiver is gone after a timeout.
    thread::spawn(move || drop(sender.send(read())));
    receiver.recv_timeout(timeout).unwrap_or_else(|why| {
        Err(match why {
            RecvTimeoutError::Timeout => ReadError::TimedOut,
            RecvTimeoutError::Disconnected => {
                io::Error::other("reader thread ended without a result").into()
            }
        })
    })
}

fn to_failure(path: &str, timeout: Option<Duration>, why: &ReadError) -> Failure {
    let name = display_name(path);
    match why {
        ReadError::Io(error) if error.kind() == io::ErrorKind::NotFound => {
            Failure::usage(format!("file `{path}` not found"))
        }
        ReadError::Io(error) => Failure::usage(format!("{name}: {error}")),
        ReadError::NotAFile => Failure::usage(format!("{name} is neither a file nor a pipe")),
        ReadError::TooLarge => {
            let max_mib = MAX_BYTES >> 20;
            Failure::usage(format!("{name} exceeds the limit of {max_mib} MiB"))
        }
        ReadError::TimedOut => {
            let failure = target::timed_out(timeout.unwrap_or_default());
            let message = format!("timed out reading {name}");
            Failure { message, ..failure }
        }
    }
}

fn display_name(path: &str) -> &str {
    match path {
        "-" => "standard input",
        path => path,
    }
}
