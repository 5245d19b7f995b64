//! Shutdown of a child process: close its input, terminate it, then kill it.

use std::{
    future::Future as _,
    io,
    pin::pin,
    process::ExitStatus,
    task::{Context, Poll, ready},
    time::Duration,
};

use tokio::{process::Child, time::timeout};

#[cfg(unix)]
use super::guard::GroupGuard;
use super::{ConnectionError, ConnectionErrorKind};
use crate::transport::CloseTask;

/// Owns a child process until it has exited. Dropping it kills the child's
/// whole group at once.
#[derive(Debug)]
pub(super) struct Reaper {
    child: Child,
    /// The group that the child leads; `None` once it has exited.
    group: Option<u32>,
    shutdown_timeout: Duration,
    /// Kills the group if this process is killed.
    #[cfg(unix)]
    guard: Option<GroupGuard>,
}

impl Reaper {
    pub(super) fn new(child: Child, shutdown_timeout: Duration) -> Self {
        let group = child.id();
        Self {
            // Running a child without a guard is better than failing.
            #[cfg(unix)]
            guard: group.and_then(|leader| GroupGuard::new(leader).ok()),
            child,
            group,
            shutdown_timeout,
        }
    }

    /// Ready once the child cannot outlive this process.
    pub(super) fn poll_guarded(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        #[cfg(unix)]
        if let Some(guard) = &mut self.guard {
            return guard.poll_guarded(cx);
        }
        let _ = cx;
        Poll::Ready(())
    }

    /// Waits until the child has exited and returns how.
    pub(super) async fn wait_ended(&mut self) -> ConnectionError {
        let status = self.child.wait().await;
        // Descendants it left behind are of no use.
        self.kill_group();
        exit_error(status)
    }

    /// Ready once the child has exited. Its remaining descendants are killed.
    pub(super) fn poll_ended(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        // Created again at each poll: the future keeps no state between polls.
        let _ = ready!(pin!(self.child.wait()).poll(cx));
        self.kill_group();
        Poll::Ready(())
    }

    /// Waits for the child to exit, terminates it, then kills it, even if
    /// `task` is no longer awaited. Its standard input must be closed already,
    /// which is the first request to exit.
    pub(super) async fn reap(mut self, task: CloseTask) {
        let ended = tokio::select! {
            ended = self.shut_down() => ended,
            () = task.wait_forced() => false,
        };
        // Kills the child, or the descendants it left behind.
        self.kill_group();
        if ended {
            task.finish();
        } else {
            // It was killed; reap it.
            let _ = self.child.wait().await;
        }
    }

    /// Returns whether the child exited without being killed.
    async fn shut_down(&mut self) -> bool {
        if timeout(self.shutdown_timeout, self.child.wait())
            .await
            .is_ok()
        {
            return true;
        }
        self.terminate_group();
        timeout(self.shutdown_timeout, self.child.wait())
            .await
            .is_ok()
    }

    #[cfg(unix)]
    fn terminate_group(&mut self) {
        self.signal_group(rustix::process::Signal::TERM);
    }

    #[cfg(unix)]
    fn kill_group(&mut self) {
        self.signal_group(rustix::process::Signal::KILL);
        self.group = None;
        self.guard = None;
    }

    #[cfg(unix)]
    fn signal_group(&self, signal: rustix::process::Signal) {
        let group = self.group.and_then(|group| i32::try_from(group).ok());
        if let Some(group) = group.and_then(rustix::process::Pid::from_raw) {
            // It may have exited already.
            let _ = rustix::process::kill_process_group(group, signal);
        }
    }

    #[cfg(not(unix))]
    fn terminate_group(&mut self) {}

    #[cfg(not(unix))]
    fn kill_group(&mut self) {
        let _ = self.child.start_kill();
        self.group = None;
    }
}

impl Drop for Reaper {
    fn drop(&mut self) {
        if self.group.is_some() {
            self.kill_group();
        }
    }
}

fn exit_error(status: io::Result<ExitStatus>) -> ConnectionError {
    match status {
        Ok(status) => {
            #[cfg(unix)]
            let signal = std::os::unix::process::ExitStatusExt::signal(&status);
            #[cfg(not(unix))]
            let signal = None;
            ConnectionErrorKind::Exited {
                code: status.code(),
                signal,
            }
            .into()
        }
        Err(error) => ConnectionErrorKind::Io(error.to_string()).into(),
    }
}
