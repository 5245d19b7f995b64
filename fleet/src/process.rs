//! Processes that end with the one that started them, however that ends.

use std::{
    ffi::OsString,
    io,
    os::unix::process::CommandExt as _,
    process::{Command, ExitStatus, Stdio},
};

use rustix::process::{Pid, Signal, getppid, kill_process, set_parent_process_death_signal};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader, Lines},
    process::{Child, ChildStdout},
};

/// Becomes another program that is killed when its parent ends.
///
/// # Errors
///
/// Returns an error if it cannot: otherwise this does not return.
pub fn become_program(parent: u32, program: &[OsString]) -> io::Result<()> {
    let [name, arguments @ ..] = program else {
        return Err(io::Error::other("there is no program to become"));
    };
    set_parent_process_death_signal(Some(Signal::KILL))?;
    let actual = getppid().map(|pid| pid.as_raw_nonzero().get().unsigned_abs());
    if actual != Some(parent) {
        // It ended before it was noticed.
        return Err(io::Error::other("the parent has ended"));
    }
    Err(Command::new(name).args(arguments).exec())
}

/// A process, and what it prints.
pub(crate) struct Process {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Process {
    /// Starts a program, by way of this one (`own_program`), which ties it to this
    /// process. The thread that calls this must live as long as the process.
    pub(crate) fn start(own_program: &OsString, program: Vec<OsString>) -> io::Result<Self> {
        let mut child = tokio::process::Command::new(own_program)
            .args(["tied", "--parent", &std::process::id().to_string(), "--"])
            .args(program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()?;
        let output = child.stdout.take();
        let output = output.ok_or_else(|| io::Error::other("its output is not piped"))?;
        let lines = BufReader::new(output).lines();
        Ok(Self { child, lines })
    }

    /// Returns the next line, or an error if it has ended.
    pub(crate) async fn line(&mut self) -> io::Result<String> {
        let line = self.lines.next_line().await?;
        line.ok_or_else(|| io::Error::other("the process ended"))
    }

    /// The id, unless it has been waited for.
    pub(crate) fn id(&self) -> Option<u32> {
        self.child.id()
    }

    /// Ends it without any warning.
    pub(crate) async fn kill(&mut self) -> io::Result<ExitStatus> {
        // It may have ended by itself.
        let _ = self.child.start_kill();
        self.child.wait().await
    }

    /// Stops it, so it does nothing until it is continued.
    pub(crate) fn stop(&self) {
        self.signal(Signal::STOP);
    }

    pub(crate) fn resume(&self) {
        self.signal(Signal::CONT);
    }

    fn signal(&self, signal: Signal) {
        let id = self.id().and_then(|id| i32::try_from(id).ok());
        if let Some(pid) = id.and_then(Pid::from_raw) {
            // It may have ended.
            let _ = kill_process(pid, signal);
        }
    }
}
