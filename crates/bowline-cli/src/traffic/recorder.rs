//! Writing down what goes over the wire, as it happens.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
    time::Duration,
};

use bytes::Bytes;
use serde::Serialize;
use serde_json::{json, value::RawValue};

use super::{
    Happening,
    recording::{FORMAT, event},
    time::Moment,
};
use crate::failure::Failure;

/// Writes every frame to a file, a line each, and none of them late: what was
/// written is there even if the command is killed.
#[derive(Debug)]
pub(super) struct Recorder {
    path: PathBuf,
    /// `None` once writing has failed.
    file: Mutex<Option<File>>,
}

/// A line of a recording.
#[derive(Serialize)]
struct Line<'a> {
    ms: f64,
    link: u32,
    event: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<&'a RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<u64>,
}

impl Recorder {
    /// Begins a recording. A file that is there is left alone.
    pub(super) fn create(path: &Path, server: &str) -> Result<Self, Failure> {
        let file = open(path).map_err(|error| cannot_create(path, &error))?;
        let recorder = Self {
            path: path.to_owned(),
            file: Mutex::new(Some(file)),
        };
        recorder.write(&json!({
            "bowline": env!("CARGO_PKG_VERSION"),
            "format": FORMAT,
            "server": server,
            "started": Moment::now().date_and_time(),
        }));
        Ok(recorder)
    }

    pub(super) fn see(&self, after: Duration, link: u32, happening: &Happening<'_>) {
        let mut line = Line {
            ms: (after.as_secs_f64() * 1e6).round() / 1e3,
            link,
            event: name(happening),
            message: None,
            text: None,
            id: None,
        };
        let text;
        match happening {
            Happening::Sent(frame) | Happening::Received(frame) => {
                return self.frame(line, frame);
            }
            Happening::Up { server, .. } => text = (*server).to_owned(),
            Happening::Settled(revision) => text = revision.as_str().to_owned(),
            Happening::Refused { id, why } => {
                line.id = *id;
                text = why.clone();
            }
            Happening::GivenUp(id) => {
                line.id = Some(*id);
                return self.write(&line);
            }
            Happening::Oversize(size) => text = format!("at least {size} bytes"),
            Happening::Down(cause) => text = cause.to_string(),
            Happening::Closed => return self.write(&line),
        }
        line.text = Some(&text);
        self.write(&line);
    }

    /// Writes a message verbatim, or as text if it is none.
    fn frame(&self, line: Line<'_>, frame: &Bytes) {
        let text = String::from_utf8_lossy(frame);
        // In valid JSON line ends are blanks, and a line here is one line.
        let one_line = text.replace(['\n', '\r'], " ");
        let mut line = line;
        match serde_json::from_str::<&RawValue>(&one_line) {
            Ok(message) => {
                line.message = Some(message);
                self.write(&line);
            }
            Err(_) => {
                line.text = Some(&text);
                self.write(&line);
            }
        }
    }

    fn write(&self, line: &impl Serialize) {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(open) = &mut *file else {
            return;
        };
        let written = serde_json::to_vec(line)
            .map_err(io::Error::from)
            .and_then(|mut bytes| {
                bytes.push(b'\n');
                open.write_all(&bytes)
            });
        if let Err(error) = written {
            let path = self.path.display();
            // What is recorded matters less than what is done meanwhile.
            let _ = writeln!(
                io::stderr().lock(),
                "warning: {path}: the recording ends here: {error}",
            );
            *file = None;
        }
    }
}

fn name(happening: &Happening<'_>) -> &'static str {
    match happening {
        Happening::Up { .. } => event::UP,
        Happening::Sent(_) => event::SENT,
        Happening::Received(_) => event::RECEIVED,
        Happening::Settled(_) => event::SETTLED,
        Happening::Refused { .. } => event::REFUSED,
        Happening::GivenUp(_) => event::GIVEN_UP,
        Happening::Oversize(_) => event::OVERSIZE,
        Happening::Down(_) => event::DOWN,
        Happening::Closed => event::CLOSED,
    }
}

/// A file that was not there, or was empty. Recordings hold what users said, so
/// that nobody else may read them, and they are not written to where a link
/// leads, which somebody else may have put there.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        // A pipe must not keep the command waiting either.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    if fs::symlink_metadata(path).is_ok_and(|about| !about.is_file()) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = options.open(path)?;
    let about = file.metadata()?;
    if !about.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if about.len() > 0 {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // One that was there has the mode that it was given by others.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

fn cannot_create(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("--record {shown}: there is a file already"))
                .hint("remove it first, or give another name")
        }
        io::ErrorKind::InvalidInput => Failure::usage(format!(
            "--record {shown}: there is a link, a folder or a device, and no file"
        ))
        .hint("remove it first, or give another name"),
        io::ErrorKind::NotFound => {
            Failure::usage(format!("--record {shown}: the folder does not exist"))
        }
        _ => Failure::usage(format!("--record {shown}: {error}")),
    }
}
