//! A watchdog process that kills our children when this process dies, even if
//! it is killed.
//!
//! A parent-death signal would reach only the child, not its descendants, and
//! it is tied to the thread that spawned the child. So a small watchdog process
//! waits for our end instead: it holds the other end of a pipe that closes when
//! this process exits for any reason, and then kills the groups of all
//! remaining children.
//!
//! One watchdog serves all children and runs as long as there are any. A thread
//! starts it, reports starting and ending groups to it, and reaps it, so
//! starting a child never waits for it. What the child says is not read before
//! its group is guarded.

use std::{
    collections::BTreeSet,
    convert::Infallible,
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    pin::Pin,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Mutex,
        mpsc::{Receiver, Sender, channel},
    },
    task::{Context, Poll, ready},
    thread,
};

use tokio::sync::oneshot;

use crate::sync;

/// Takes groups as arguments, reads starting and ending ones until its input
/// ends, then kills the remaining groups. Ignores terminal signals, which would end it too early.
const SCRIPT: &str = "trap '' INT TERM HUP QUIT
groups=$*
while read -r what group; do
    rest=
    for one in $groups; do
        [ \"$one\" = \"$group\" ] || rest=\"$rest $one\"
    done
    groups=$rest
    [ \"$what\" = - ] || groups=\"$groups $group\"
done
for group in $groups; do
    kill -s KILL -- \"-$group\"
done";

/// The sender to the watchdog thread, while it runs, and the number of guarded
/// groups.
static WATCHDOG: Mutex<Watchdog> = Mutex::new(Watchdog {
    sender: None,
    guarded: 0,
});

struct Watchdog {
    sender: Option<Sender<GroupEvent>>,
    guarded: usize,
}

enum GroupEvent {
    /// The sender is dropped once the group is guarded, or cannot be.
    Started(u32, oneshot::Sender<Infallible>),
    Ended(u32),
}

/// Guarantees that a process group ends when this process does. Dropping it
/// reports that the group is gone.
#[derive(Debug)]
pub(super) struct GroupGuard {
    leader: u32,
    /// Closed once the watchdog knows the group; `None` after that.
    starting: Option<oneshot::Receiver<Infallible>>,
}

impl GroupGuard {
    /// Guards the group led by `leader`.
    pub(super) fn new(leader: u32) -> io::Result<Self> {
        let mut watchdog = sync::lock(&WATCHDOG);
        let (guarded, starting) = oneshot::channel();
        let event = GroupEvent::Started(leader, guarded);
        let unsent = match &watchdog.sender {
            Some(thread) => thread.send(event).err().map(|unsent| unsent.0),
            None => Some(event),
        };
        if let Some(event) = unsent {
            let (sender, events) = channel();
            let _ = sender.send(event);
            thread::Builder::new()
                .name("bowline-guard".to_owned())
                .spawn(move || run_watchdog(&events))?;
            watchdog.sender = Some(sender);
        }
        watchdog.guarded += 1;
        let starting = Some(starting);
        Ok(Self { leader, starting })
    }

    /// Ready once the group is guarded, or cannot be.
    pub(super) fn poll_guarded(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        if let Some(starting) = &mut self.starting {
            let _ = ready!(Pin::new(starting).poll(cx));
            self.starting = None;
        }
        Poll::Ready(())
    }
}

impl Drop for GroupGuard {
    fn drop(&mut self) {
        let mut watchdog = sync::lock(&WATCHDOG);
        watchdog.guarded -= 1;
        if let Some(thread) = &watchdog.sender {
            // The thread may have ended already.
            let _ = thread.send(GroupEvent::Ended(self.leader));
        }
        if watchdog.guarded == 0 {
            watchdog.sender = None;
        }
    }
}

/// Reports events to the watchdog until no group is left to guard.
fn run_watchdog(events: &Receiver<GroupEvent>) {
    let mut state = WatchdogState::default();
    for event in events {
        state.handle_event(event);
    }
}

/// The guarded groups and the watchdog process.
#[derive(Default)]
struct WatchdogState {
    groups: BTreeSet<u32>,
    process: Option<WatchdogProcess>,
}

impl WatchdogState {
    fn handle_event(&mut self, event: GroupEvent) {
        let (line, _guarded) = match event {
            GroupEvent::Started(leader, guarded) => {
                self.groups.insert(leader);
                (format!("+ {leader}\n"), Some(guarded))
            }
            GroupEvent::Ended(leader) => {
                self.groups.remove(&leader);
                (format!("- {leader}\n"), None)
            }
        };
        let process = self.process.as_mut();
        let is_written = process.is_some_and(|process| process.write_line(&line).is_ok());
        if !is_written && !self.groups.is_empty() {
            // Either the first start, or the watchdog was killed. Running a
            // child without a guard is better than failing, and the next child
            // causes another attempt.
            self.process = WatchdogProcess::start(&self.groups).ok();
        }
    }
}

/// The watchdog process.
struct WatchdogProcess {
    process: Child,
    input: Option<ChildStdin>,
}

impl WatchdogProcess {
    fn start(groups: &BTreeSet<u32>) -> io::Result<Self> {
        let mut process = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "bowline-guard"])
            // From its start, even if this process is killed right now.
            .args(groups.iter().map(u32::to_string))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let input = process.stdin.take();
        Ok(Self { process, input })
    }

    /// Writes a line, which is short enough for the pipe to accept it whole or
    /// not at all.
    fn write_line(&mut self, line: &str) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }
}

impl Drop for WatchdogProcess {
    fn drop(&mut self) {
        // It exits once its input is closed; wait for it so it does not remain
        // a zombie.
        self.input = None;
        let _ = self.process.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;

    use rustix::process::{Pid, Signal, kill_process};

    use super::*;

    /// A group of one, that lives until it is killed.
    fn sleeper() -> Child {
        let mut command = Command::new("sleep");
        let sleeper = command.arg("600").process_group(0).spawn();
        sleeper.expect("it starts")
    }

    fn kill(pid: u32) {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        kill_process(pid.expect("a process"), Signal::KILL).expect("it is there");
    }

    #[test]
    fn those_who_are_left_end_with_us() {
        let (mut gone, left, late) = (sleeper(), sleeper(), sleeper());
        let groups = BTreeSet::from([gone.id(), left.id()]);
        let mut process = WatchdogProcess::start(&groups).expect("it starts");
        process
            .write_line(&format!("+ {}\n", late.id()))
            .expect("heard");
        process
            .write_line(&format!("- {}\n", gone.id()))
            .expect("heard");
        drop(process);
        for mut child in [left, late] {
            let status = child.wait().expect("it ends");
            assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        }
        assert!(gone.try_wait().expect("it is known").is_none());
        gone.kill().expect("it is there");
        gone.wait().expect("it ends");
    }

    #[test]
    fn one_that_was_killed_is_replaced_and_told_of_everybody() {
        let (mut first, mut second) = (sleeper(), sleeper());
        let (sender, events) = channel();
        sender
            .send(GroupEvent::Started(first.id(), oneshot::channel().0))
            .expect("somebody hears");
        sender
            .send(GroupEvent::Started(second.id(), oneshot::channel().0))
            .expect("somebody hears");
        drop(sender);
        let mut state = WatchdogState::default();
        for (index, event) in events.iter().enumerate() {
            state.handle_event(event);
            if index == 0 {
                let process = state.process.as_mut().expect("it was started");
                kill(process.process.id());
                process.process.wait().expect("it ends");
            }
        }
        drop(state);
        for child in [&mut first, &mut second] {
            let status = child.wait().expect("it ends");
            assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        }
    }
}
