//! Signals that end a command: Ctrl-C and SIGTERM.
//!
//! Both end it cleanly: calls in flight are cancelled and servers are stopped,
//! then the exit code tells which signal it was.

use crate::failure::{Failure, FailureKind};

/// A signal that ends the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The user pressed Ctrl-C.
    Interrupt,
    /// The system, or another program, asked this process to end.
    Terminate,
}

impl From<Signal> for Failure {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Interrupt => Self::new(FailureKind::Interrupted, "interrupted"),
            Signal::Terminate => Self::new(FailureKind::Terminated, "terminated by a signal"),
        }
    }
}

/// Waits for the next signal.
pub(crate) async fn received() -> Signal {
    #[cfg(unix)]
    {
        use tokio::signal::unix::{SignalKind, signal};
        if let Ok(mut terminate) = signal(SignalKind::terminate()) {
            return tokio::select! {
                _ = tokio::signal::ctrl_c() => Signal::Interrupt,
                _ = terminate.recv() => Signal::Terminate,
            };
        }
    }
    // If the signal cannot be listened for, it never arrives.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    Signal::Interrupt
}
