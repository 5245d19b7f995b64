//! What this process has used so far, as the system tells it.

use std::{fs, time::Duration};

use crate::Failure;

/// Time on processors, of all threads that still run. Those of a runtime all
/// do.
pub(super) fn processor_time() -> Result<Duration, Failure> {
    let mut nanoseconds = 0;
    for thread in fs::read_dir("/proc/self/task").map_err(|error| error.to_string())? {
        let path = thread.map_err(|error| error.to_string())?.path();
        // One that ends meanwhile is not there any more.
        let Ok(text) = fs::read_to_string(path.join("schedstat")) else {
            continue;
        };
        let first = text.split_whitespace().next().unwrap_or_default();
        nanoseconds += first.parse::<u64>().map_err(|error| error.to_string())?;
    }
    Ok(Duration::from_nanos(nanoseconds))
}

/// The most memory that was resident, in bytes.
pub(super) fn peak_memory() -> Result<u64, Failure> {
    let text = fs::read_to_string("/proc/self/status").map_err(|error| error.to_string())?;
    let mut lines = text.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmHWM:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let kilobytes = kilobytes.and_then(|number| number.trim().parse::<u64>().ok());
    let kilobytes = kilobytes.ok_or("the system does not say how much memory was used")?;
    Ok(kilobytes * 1024)
}
