//! `http call`: what calls cost a client, measured alike for all.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use super::{TEXT, Who, limit_client, ours_client, rmcp_client, serve};
use crate::{Failure, process::Process};

/// One that makes calls.
pub(super) trait Caller: Clone + Send + Sync + 'static {
    /// Has [`TEXT`] said again, and says how many bytes of it came back.
    fn call(&mut self) -> impl Future<Output = Result<usize, Failure>> + Send;
}

/// What to do.
pub(super) struct Load {
    pub(super) url: String,
    calls: usize,
    /// How many calls are under way at once.
    pub(super) width: usize,
    warmup: bool,
}

/// Connects, makes the calls, and prints what they took.
pub(super) fn run(who: Who, arguments: &[&str]) -> Result<(), Failure> {
    let load = Load::of(arguments)?;
    match who {
        Who::Ours => serve::runtime()?.block_on(ours_client::run(&load)),
        Who::Rmcp => serve::runtime()?.block_on(rmcp_client::as_shown(&load)),
        Who::RmcpTuned => load.best_runtime()?.block_on(rmcp_client::tuned(&load)),
        Who::Limit => load.best_runtime()?.block_on(limit_client::run(&load)),
    }
}

impl Load {
    fn of(arguments: &[&str]) -> Result<Self, Failure> {
        let (mut url, mut calls, mut width, mut warmup) = (None, None, None, true);
        let mut rest = arguments.iter();
        while let Some(&name) = rest.next() {
            if name == "--no-warmup" {
                warmup = false;
                continue;
            }
            let value = rest.next().ok_or_else(|| format!("{name} wants a value"))?;
            let number = || {
                value
                    .parse::<usize>()
                    .map_err(|_| format!("{name} {value}?"))
            };
            match name {
                "--url" => url = Some((*value).to_owned()),
                "--calls" => calls = Some(number()?),
                "--width" => width = Some(number()?),
                _ => return Err(format!("nothing is called {name}")),
            }
        }
        let (Some(url), Some(calls), Some(width)) = (url, calls, width) else {
            return Err("--url, --calls and --width are wanted".to_owned());
        };
        Ok(Self {
            url,
            calls,
            width: width.max(1),
            warmup,
        })
    }

    /// One thread is best for one call at a time; many gain by more.
    fn best_runtime(&self) -> Result<Runtime, Failure> {
        if self.width > 1 {
            return serve::runtime();
        }
        let mut builder = Builder::new_current_thread();
        builder
            .enable_all()
            .build()
            .map_err(|error| error.to_string())
    }

    /// Makes the calls on lanes, each with a caller of its own, and prints what
    /// they took.
    pub(super) async fn measure<C: Caller>(&self, callers: Vec<C>) -> Result<(), Failure> {
        if self.warmup {
            // One for each lane, so that all connections are there.
            self.make(&callers, (self.calls / 10).max(self.width))
                .await?;
        }
        let before = Process::own().cpu()?;
        let began = Instant::now();
        let mut times = self.make(&callers, self.calls).await?;
        let took = began.elapsed();
        let used = Process::own().cpu()?.saturating_sub(before);
        times.sort_unstable();
        let middle = times.get(times.len() / 2).copied().unwrap_or_default();
        let calls = self.calls as f64;
        let measured = json!({
            "rate": calls / took.as_secs_f64(),
            "p50_us": middle.as_secs_f64() * 1e6,
            "cpu_us": used.as_secs_f64() * 1e6 / calls,
            "peak_bytes": Process::own().peak()?,
        });
        println!("{measured}");
        Ok(())
    }

    /// How long each call took.
    async fn make<C: Caller>(&self, callers: &[C], calls: usize) -> Result<Vec<Duration>, Failure> {
        let left = Arc::new(AtomicUsize::new(calls));
        let lanes: Vec<_> = callers
            .iter()
            .map(|caller| tokio::spawn(lane(caller.clone(), Arc::clone(&left), calls)))
            .collect();
        let mut times = Vec::with_capacity(calls);
        for lane in lanes {
            times.extend(lane.await.map_err(|error| error.to_string())??);
        }
        Ok(times)
    }
}

/// Makes calls, one after the other, while some are left.
async fn lane<C: Caller>(
    mut caller: C,
    left: Arc<AtomicUsize>,
    calls: usize,
) -> Result<Vec<Duration>, Failure> {
    let mut times = Vec::with_capacity(calls.min(1024));
    let one_less = |left: usize| left.checked_sub(1);
    while left
        .fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less)
        .is_ok()
    {
        let began = Instant::now();
        let length = caller.call().await?;
        times.push(began.elapsed());
        if length != TEXT.len() {
            return Err(format!("{length} bytes came back, not {}", TEXT.len()));
        }
    }
    Ok(times)
}
