//! What the system knows about a process: the time and the memory that it has had.

use std::{fs, path::PathBuf, time::Duration};

use crate::Failure;

/// A process, by its number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Process(pub(crate) u32);

impl Process {
    /// Its time on processors, over all threads that still run. Those of a
    /// runtime all do.
    pub(crate) fn processor_time(self) -> Result<Duration, Failure> {
        let mut nanoseconds = 0;
        for thread in self.threads()? {
            // One that ends meanwhile is not there any more.
            let Ok(text) = fs::read_to_string(thread.join("schedstat")) else {
                continue;
            };
            let first = text.split_whitespace().next().unwrap_or_default();
            nanoseconds += first.parse::<u64>().map_err(|error| error.to_string())?;
        }
        Ok(Duration::from_nanos(nanoseconds))
    }

    /// How often its threads have waited for something.
    pub(crate) fn waits(self) -> Result<u64, Failure> {
        let mut waits = 0;
        for thread in self.threads()? {
            let Ok(text) = fs::read_to_string(thread.join("status")) else {
                continue;
            };
            waits += number(&text, "voluntary_ctxt_switches:").unwrap_or(0);
        }
        Ok(waits)
    }

    /// The bytes that are resident.
    pub(crate) fn memory(self) -> Result<f64, Failure> {
        let text = fs::read_to_string(self.path("status")).map_err(|error| error.to_string())?;
        let kilobytes = number(&text, "VmRSS:");
        let kilobytes = kilobytes.ok_or("the system does not say how much memory is resident")?;
        Ok(kilobytes as f64 * 1024.0)
    }

    fn threads(self) -> Result<Vec<PathBuf>, Failure> {
        let threads = fs::read_dir(self.path("task")).map_err(|error| error.to_string())?;
        let paths = threads.map(|thread| thread.map(|thread| thread.path()));
        paths
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())
    }

    fn path(self, what: &str) -> PathBuf {
        PathBuf::from(format!("/proc/{}/{what}", self.0))
    }
}

/// The number of the line that begins with this name.
fn number(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_by_its_whole_name() {
        let text =
            "VmRSS:\t    1234 kB\nvoluntary_ctxt_switches:\t5\nnonvoluntary_ctxt_switches:\t7\n";
        assert_eq!(number(text, "VmRSS:"), Some(1234));
        assert_eq!(number(text, "voluntary_ctxt_switches:"), Some(5));
        assert_eq!(number(text, "VmHWM:"), None);
    }
}
