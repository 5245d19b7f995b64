//! What the system knows about a process: whose child it is, the time that it
//! has had, the memory that it has held.

use std::{fs, path::Path, time::Duration};

use crate::Failure;

/// A process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Process(u32);

impl Process {
    /// This one.
    pub(crate) fn own() -> Self {
        Self(std::process::id())
    }

    /// The server that this process has started. Clients may start others, too,
    /// and not all tell the number of what they start.
    pub(crate) fn server() -> Result<Self, Failure> {
        let own = std::process::id();
        let found = numbers(Path::new("/proc")).find(|process| {
            let process = Self(*process);
            process.status("PPid") == Some(u64::from(own)) && process.serves()
        });
        found.map(Self).ok_or_else(|| "no server runs".to_owned())
    }

    /// How long its threads have run together, those that ended aside.
    pub(crate) fn cpu(self) -> Result<Duration, Failure> {
        let tasks = format!("/proc/{}/task", self.0);
        let threads = numbers(Path::new(&tasks)).filter_map(|thread| {
            let text = fs::read_to_string(format!("{tasks}/{thread}/schedstat")).ok()?;
            text.split_ascii_whitespace().next()?.parse::<u64>().ok()
        });
        // None at all is a process that is gone. Nothing is one that has just
        // begun: the system adds up when a thread is stopped.
        let sum = threads.fold(None, |sum, time| Some(sum.unwrap_or(0) + time));
        sum.map(Duration::from_nanos)
            .ok_or_else(|| format!("the time of process {} is not known", self.0))
    }

    /// The most memory that it has had resident, in bytes.
    pub(crate) fn peak(self) -> Result<u64, Failure> {
        let kilobytes = self.status("VmHWM");
        kilobytes
            .map(|kilobytes| kilobytes * 1024)
            .ok_or_else(|| format!("the memory of process {} is not known", self.0))
    }

    /// Whether it has ended, waited for or not.
    pub(crate) fn has_ended(self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0)).unwrap_or_default();
        // The name before the state is in brackets, and may have some itself.
        let state = stat.rsplit(')').next().unwrap_or_default().trim_start();
        !self.serves() || matches!(state.chars().next(), None | Some('Z' | 'X'))
    }

    /// Whether it is a server of ours, whatever is put before its command.
    fn serves(self) -> bool {
        let command = fs::read(format!("/proc/{}/cmdline", self.0)).unwrap_or_default();
        let words: Vec<&[u8]> = command.split(|byte| *byte == 0).collect();
        words
            .windows(2)
            .any(|pair| pair == [&b"stdio"[..], b"serve"])
    }

    fn status(self, name: &str) -> Option<u64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.0)).ok()?;
        let line = status
            .lines()
            .find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    }
}

/// The entries of a folder that are numbers.
fn numbers(folder: &Path) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
}
