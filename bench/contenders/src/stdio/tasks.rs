//! Calls by tasks, for clients that are asynchronous.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use tokio::runtime::{Builder, Runtime};

use super::load::{Client, Load, check};
use crate::Failure;

/// A connection that tasks share.
pub(crate) trait Caller: Clone + Send + Sync + 'static {
    /// Calls the tool; the length of the text that came back.
    fn echo(&self, text: &Arc<str>) -> impl Future<Output = Result<Option<usize>, Failure>> + Send;

    /// Ends the connection.
    fn stop(self) -> impl Future<Output = ()>;
}

/// A connection and the runtime that it lives on.
pub(crate) struct Tasks<C> {
    runtime: Runtime,
    /// None when it was stopped.
    caller: Option<C>,
}

impl<C: Caller> Tasks<C> {
    /// Connects on that runtime.
    pub(crate) fn connect(
        runtime: Runtime,
        connecting: impl Future<Output = Result<C, Failure>>,
    ) -> Result<Self, Failure> {
        let caller = Some(runtime.block_on(connecting)?);
        Ok(Self { runtime, caller })
    }

    fn caller(&self) -> Result<&C, Failure> {
        self.caller
            .as_ref()
            .ok_or_else(|| "it was stopped".to_owned())
    }
}

impl<C: Caller> Client for Tasks<C> {
    fn run(&mut self, load: &mut Load) -> Result<(), Failure> {
        let caller = self.caller()?;
        match load.width {
            1 => self.runtime.block_on(one_by_one(caller, load)),
            _ => self.runtime.block_on(side_by_side(caller, load)),
        }
    }

    fn stop(&mut self) -> Result<(), Failure> {
        if let Some(caller) = self.caller.take() {
            self.runtime.block_on(caller.stop());
        }
        Ok(())
    }

    fn pause(&mut self, time: Duration) {
        // A sleep can be made only where a runtime is.
        self.runtime
            .block_on(async { tokio::time::sleep(time).await });
    }
}

/// What `#[tokio::main]` makes.
pub(crate) fn many_threads() -> Result<Runtime, Failure> {
    let runtime = Builder::new_multi_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())
}

/// Everything on the thread that waits.
pub(crate) fn one_thread() -> Result<Runtime, Failure> {
    let runtime = Builder::new_current_thread().enable_all().build();
    runtime.map_err(|error| error.to_string())
}

async fn one_by_one(caller: &impl Caller, load: &mut Load) -> Result<(), Failure> {
    for _ in 0..load.calls {
        let begun = Instant::now();
        check(caller.echo(&load.text).await?, &load.text)?;
        load.took(begun);
    }
    Ok(())
}

/// Each task makes its share, one by one.
async fn side_by_side(caller: &impl Caller, load: &Load) -> Result<(), Failure> {
    let tasks: Vec<_> = (0..load.width)
        .map(|index| {
            let (caller, text, calls) = (caller.clone(), Arc::clone(&load.text), load.share(index));
            tokio::spawn(async move {
                for _ in 0..calls {
                    check(caller.echo(&text).await?, &text)?;
                }
                Ok::<(), Failure>(())
            })
        })
        .collect();
    for task in tasks {
        task.await.map_err(|error| error.to_string())??;
    }
    Ok(())
}
