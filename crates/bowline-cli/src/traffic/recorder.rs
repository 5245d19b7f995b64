//! Recording messages as they happen.

use std::{
    fs::{self, File, OpenOptions},
    io::{self, Write as _},
    path::{Path, PathBuf},
    sync::Mutex,
    time::Duration,
};

use bytes::Bytes;
use serde::Serialize;
use serde_json::{json, value::RawValue};

use super::{
    TrafficEvent,
    recording::{FORMAT, event},
    utc_time::UtcTime,
};
use crate::{failure::Failure, locks};

/// Writes every frame to a file, one line each, without buffering: the file is
/// complete even if the command is killed.
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
    /// Starts a recording. An existing file is not overwritten.
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
            "started": UtcTime::now().rfc3339(),
        }));
        Ok(recorder)
    }

    pub(super) fn record(&self, elapsed: Duration, link: u32, traffic_event: &TrafficEvent<'_>) {
        let mut line = Line {
            ms: (elapsed.as_secs_f64() * 1e6).round() / 1e3,
            link,
            event: event_name(traffic_event),
            message: None,
            text: None,
            id: None,
        };
        let text;
        match traffic_event {
            TrafficEvent::Sent(frame) | TrafficEvent::Received(frame) => {
                return self.write_frame(line, frame);
            }
            TrafficEvent::Up { server, .. } => text = (*server).to_owned(),
            TrafficEvent::RevisionAgreed(revision) => text = revision.as_str().to_owned(),
            TrafficEvent::Refused { id, reason: why } => {
                line.id = *id;
                text = why.clone();
            }
            TrafficEvent::Cancelled(id) => {
                line.id = Some(*id);
                return self.write(&line);
            }
            TrafficEvent::OversizedFrame(size) => text = format!("at least {size} bytes"),
            TrafficEvent::Down(cause) => text = cause.to_string(),
            TrafficEvent::Closed => return self.write(&line),
        }
        line.text = Some(&text);
        self.write(&line);
    }

    /// Writes a message verbatim, or as text if it is not JSON.
    fn write_frame(&self, line: Line<'_>, frame: &Bytes) {
        let text = String::from_utf8_lossy(frame);
        // Newlines in valid JSON are whitespace, and a line must stay one line.
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
        let mut file = locks::lock(&self.file);
        let Some(writer) = &mut *file else {
            return;
        };
        let written = serde_json::to_vec(line)
            .map_err(io::Error::from)
            .and_then(|mut bytes| {
                bytes.push(b'\n');
                writer.write_all(&bytes)
            });
        if let Err(error) = written {
            let path = self.path.display();
            // A failed recording must not stop the command.
            let _ = writeln!(
                io::stderr().lock(),
                "warning: {path}: recording stopped: {error}",
            );
            *file = None;
        }
    }
}

fn event_name(traffic_event: &TrafficEvent<'_>) -> &'static str {
    match traffic_event {
        TrafficEvent::Up { .. } => event::UP,
        TrafficEvent::Sent(_) => event::SENT,
        TrafficEvent::Received(_) => event::RECEIVED,
        TrafficEvent::RevisionAgreed(_) => event::REVISION_AGREED,
        TrafficEvent::Refused { .. } => event::REFUSED,
        TrafficEvent::Cancelled(_) => event::CANCELLED,
        TrafficEvent::OversizedFrame(_) => event::OVERSIZE,
        TrafficEvent::Down(_) => event::DOWN,
        TrafficEvent::Closed => event::CLOSED,
    }
}

/// Opens a file that did not exist or was empty. Recordings hold what users
/// typed, so nobody else may read them, and symlinks are not followed, because
/// someone else may have created them.
fn open(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        use std::os::unix::fs::OpenOptionsExt as _;
        // Opening a pipe must not block the command.
        let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
        options.mode(0o600).custom_flags(flags.bits().cast_signed());
    }
    if fs::symlink_metadata(path).is_ok_and(|metadata| !metadata.is_file()) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let file = options.open(path)?;
    let metadata = file.metadata()?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    if metadata.len() > 0 {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    // An existing file may have a wider mode.
    #[cfg(unix)]
    file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    Ok(file)
}

fn cannot_create(path: &Path, error: &io::Error) -> Failure {
    let path_display = path.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::usage(format!("--record {path_display}: file already exists"))
                .hint("remove it first, or choose another name")
        }
        io::ErrorKind::InvalidInput => {
            Failure::usage(format!("--record {path_display}: not a regular file"))
                .hint("remove it first, or choose another name")
        }
        io::ErrorKind::NotFound => {
            Failure::usage(format!("--record {path_display}: folder not found"))
        }
        _ => Failure::usage(format!("--record {path_display}: {error}")),
    }
}
