//! Whether something else loads the machine.

use std::{fs, thread, time::Duration};

use crate::Failure;

/// Others may take this part of the processors, no more.
const QUIET: f64 = 0.08;
/// How long to look.
const LOOK: Duration = Duration::from_millis(500);
/// How often to look before giving up.
const LOOKS: usize = 60;

/// Waits until nothing else runs, and says which part of the processors is
/// busy then.
///
/// # Errors
///
/// Where that does not happen within half a minute.
pub(crate) fn wait() -> Result<f64, Failure> {
    let mut busy = 0.0;
    for _ in 0..LOOKS {
        busy = self::busy();
        if busy <= QUIET {
            return Ok(busy);
        }
    }
    Err(format!(
        "other programs use {:.0} % of the processors, so measured times would mean nothing; \
         stop them, or pass `--anyway` to measure and note the load beside the figures",
        busy * 100.0
    ))
}

/// Which part of the processors is busy; nothing where the system does not
/// tell.
pub(crate) fn busy() -> f64 {
    let before = ticks();
    thread::sleep(LOOK);
    match (before, ticks()) {
        (Some(before), Some(after)) => share(before, after),
        _ => 0.0,
    }
}

/// Busy and all ticks.
type Ticks = (u64, u64);

fn share(before: Ticks, after: Ticks) -> f64 {
    let (busy, all) = (
        after.0.saturating_sub(before.0),
        after.1.saturating_sub(before.1),
    );
    busy as f64 / all.max(1) as f64
}

fn ticks() -> Option<Ticks> {
    read(&fs::read_to_string("/proc/stat").ok()?)
}

/// The first line: user, nice, system, idle, waiting for disks, and others.
fn read(text: &str) -> Option<Ticks> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> = line
        .split_whitespace()
        .take(8)
        .flat_map(str::parse)
        .collect();
    let all: u64 = ticks.iter().sum();
    let idle = ticks.get(3)? + ticks.get(4)?;
    Some((all - idle, all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn idle_and_waiting_for_disks_are_not_busy() {
        let before = read("cpu  10 0 10 100 20 0 0 0 0 0\ncpu0 1").unwrap();
        assert_eq!(before, (20, 140));
        let after = read("cpu  20 0 15 110 35 0 0 0 0 0\n").unwrap();
        assert_eq!(share(before, after), 15.0 / 40.0);
    }
}
