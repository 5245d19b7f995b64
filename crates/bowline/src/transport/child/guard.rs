//! Seeing to it that no child outlives us, even if we are killed.
//!
//! A signal at the parent's death would reach the child only, not what the
//! child has started, and it is tied to the thread that started it. So a small
//! process of its own waits for our end instead: it holds the other end of a
//! pipe that closes when we go, however we go, and then ends the groups of all
//! children that are left.
//!
//! There is one such process for all children, and it is there for as long as
//! there are any. A thread starts it, tells it who comes and goes, and waits
//! for its end: who opens a connection waits for none of that.

use std::{
    collections::BTreeSet,
    io::{self, Write as _},
    os::unix::process::CommandExt as _,
    process::{Child, ChildStdin, Command, Stdio},
    sync::{
        Mutex, PoisonError,
        mpsc::{Receiver, Sender, channel},
    },
    thread,
};

/// Reads who comes and goes until its input ends, then kills the groups that
/// are left. Signals that a terminal sends to everybody must not end it before
/// its time.
const SCRIPT: &str = "trap '' INT TERM HUP QUIT
groups=
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

/// The way to the thread, while there is one, and how many groups are guarded.
static WATCH: Mutex<Watch> = Mutex::new(Watch {
    thread: None,
    guarded: 0,
});

struct Watch {
    thread: Option<Sender<News>>,
    guarded: usize,
}

enum News {
    Came(u32),
    Gone(u32),
}

/// The promise that a group ends when we do. Dropping it says that the group
/// is gone.
#[derive(Debug)]
pub(super) struct Guard {
    leader: u32,
}

impl Guard {
    /// Watches over the group that `leader` leads.
    pub(super) fn over(leader: u32) -> io::Result<Self> {
        let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        let came = News::Came(leader);
        let unheard = match &watch.thread {
            Some(thread) => thread.send(came).err().map(|unheard| unheard.0),
            None => Some(came),
        };
        if let Some(came) = unheard {
            let (sender, news) = channel();
            let _ = sender.send(came);
            thread::Builder::new()
                .name("bowline-guard".to_owned())
                .spawn(move || keep(&news))?;
            watch.thread = Some(sender);
        }
        watch.guarded += 1;
        Ok(Self { leader })
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let mut watch = WATCH.lock().unwrap_or_else(PoisonError::into_inner);
        watch.guarded -= 1;
        if let Some(thread) = &watch.thread {
            // A thread that is gone has nothing to be told.
            let _ = thread.send(News::Gone(self.leader));
        }
        if watch.guarded == 0 {
            watch.thread = None;
        }
    }
}

/// Tells the process what is new, until nobody is left to guard.
fn keep(news: &Receiver<News>) {
    let mut keeper = Keeper::default();
    for news in news {
        keeper.hear(&news);
    }
}

/// Who is guarded, and by whom.
#[derive(Default)]
struct Keeper {
    groups: BTreeSet<u32>,
    process: Option<Process>,
}

impl Keeper {
    fn hear(&mut self, news: &News) {
        let line = match *news {
            News::Came(leader) => {
                self.groups.insert(leader);
                format!("+ {leader}\n")
            }
            News::Gone(leader) => {
                self.groups.remove(&leader);
                format!("- {leader}\n")
            }
        };
        let process = self.process.as_mut();
        let heard = process.is_some_and(|process| process.tell(&line).is_ok());
        if !heard && !self.groups.is_empty() {
            // It is the first time, or somebody has killed it. A child without
            // a guard is better than none, and with the next there is another
            // attempt.
            self.process = Process::start(&self.groups).ok();
        }
    }
}

/// The process that waits for our end.
struct Process {
    process: Child,
    input: Option<ChildStdin>,
}

impl Process {
    fn start(groups: &BTreeSet<u32>) -> io::Result<Self> {
        let mut process = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "bowline-guard"])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let input = process.stdin.take();
        let mut started = Self { process, input };
        for leader in groups {
            started.tell(&format!("+ {leader}\n"))?;
        }
        Ok(started)
    }

    /// A line is short enough that the pipe takes it whole or not at all.
    fn tell(&mut self, line: &str) -> io::Result<()> {
        match &mut self.input {
            Some(input) => input.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // It ends by itself then. Until it is waited for, it would stay as a
        // zombie.
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
        let mut process = Process::start(&groups).expect("it starts");
        process.tell(&format!("+ {}\n", late.id())).expect("heard");
        process.tell(&format!("- {}\n", gone.id())).expect("heard");
        drop(process);
        for mut it in [left, late] {
            let status = it.wait().expect("it ends");
            assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        }
        assert!(gone.try_wait().expect("it is known").is_none());
        gone.kill().expect("it is there");
        gone.wait().expect("it ends");
    }

    #[test]
    fn one_that_was_killed_is_replaced_and_told_of_everybody() {
        let (mut first, mut second) = (sleeper(), sleeper());
        let (sender, news) = channel();
        sender.send(News::Came(first.id())).expect("somebody hears");
        sender
            .send(News::Came(second.id()))
            .expect("somebody hears");
        drop(sender);
        let mut keeper = Keeper::default();
        for (index, news) in news.iter().enumerate() {
            keeper.hear(&news);
            if index == 0 {
                let process = keeper.process.as_mut().expect("it was started");
                kill(process.process.id());
                process.process.wait().expect("it ends");
            }
        }
        drop(keeper);
        for it in [&mut first, &mut second] {
            let status = it.wait().expect("it ends");
            assert_eq!(status.signal(), Some(Signal::KILL.as_raw()));
        }
    }
}
