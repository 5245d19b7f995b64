//! What ends a command from outside: Ctrl-C, and what service managers send.
//!
//! Both end it in the same good order: what is under way is cancelled, and
//! servers are left, before the exit code says which it was.

use crate::failure::{Failure, FailureKind};

/// What was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signal {
    /// The user pressed Ctrl-C.
    Interrupt,
    /// The system, or another program, wants this one to end.
    Terminate,
}

impl From<Signal> for Failure {
    fn from(signal: Signal) -> Self {
        match signal {
            Signal::Interrupt => Self::new(FailureKind::Interrupted, "interrupted"),
            Signal::Terminate => Self::new(FailureKind::Terminated, "told to end"),
        }
    }
}

/// Waits for the next of them.
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
    // That it cannot be listened for is as good as its silence.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
    Signal::Interrupt
}
