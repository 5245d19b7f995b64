//! What is done to the fleet while clients use it.

use std::{io, sync::atomic::Ordering, time::Duration};

use tokio::{sync::watch, time::sleep};

use crate::{
    fleet::{Fleet, NODES},
    process::Process,
    random::Random,
};

/// How often things go wrong.
#[derive(Clone, Copy, Debug)]
pub struct FaultPlan {
    /// The mean time between two kills of a node.
    pub kill_every: Duration,
    /// The mean time between two pauses of a node.
    pub pause_every: Duration,
    /// The longest pause.
    pub longest_pause: Duration,
    /// The mean time between two restarts of Redis.
    pub redis_every: Duration,
}

impl FaultPlan {
    /// Disturbs the fleet until the sender says so, and leaves it running.
    pub(crate) async fn disturb(
        self,
        fleet: &Fleet,
        random: &Random,
        ended: &watch::Receiver<bool>,
    ) -> io::Result<()> {
        fleet.disturbance.is_on.store(true, Ordering::Relaxed);
        let (killed, paused, restarted) = tokio::join!(
            self.kill(fleet, random.fork(1), ended.clone()),
            self.pause(fleet, random.fork(2), ended.clone()),
            self.restart_redis(fleet, random.fork(3), ended.clone()),
        );
        fleet.disturbance.is_on.store(false, Ordering::Relaxed);
        killed.and(paused).and(restarted)
    }

    async fn kill(
        self,
        fleet: &Fleet,
        mut random: Random,
        mut ended: watch::Receiver<bool>,
    ) -> io::Result<()> {
        while wait(&mut random, self.kill_every, &mut ended).await {
            let node = node(&mut random);
            if fleet.kill_node(node).await? {
                fleet.counts.kills.fetch_add(1, Ordering::Relaxed);
                sleep(random.duration(Duration::ZERO, self.kill_every / 2)).await;
                fleet.start_node(node).await?;
            }
        }
        Ok(())
    }

    async fn pause(
        self,
        fleet: &Fleet,
        mut random: Random,
        mut ended: watch::Receiver<bool>,
    ) -> io::Result<()> {
        while wait(&mut random, self.pause_every, &mut ended).await {
            let node = node(&mut random);
            let stopped = {
                let slot = fleet.nodes[node].lock().await;
                slot.as_ref().inspect(|process| process.stop());
                slot.as_ref().and_then(Process::id)
            };
            if stopped.is_none() {
                continue;
            }
            fleet.counts.pauses.fetch_add(1, Ordering::Relaxed);
            sleep(random.duration(Duration::from_millis(50), self.longest_pause)).await;
            let slot = fleet.nodes[node].lock().await;
            // It may have been killed, and another one started.
            if let Some(process) = slot.as_ref().filter(|it| it.id() == stopped) {
                process.resume();
            }
        }
        Ok(())
    }

    async fn restart_redis(
        self,
        fleet: &Fleet,
        mut random: Random,
        mut ended: watch::Receiver<bool>,
    ) -> io::Result<()> {
        while wait(&mut random, self.redis_every, &mut ended).await {
            let mut redis = fleet.redis.lock().await;
            redis.kill().await?;
            sleep(random.duration(Duration::ZERO, Duration::from_millis(400))).await;
            redis.restart().await?;
            fleet.counts.redis_restarts.fetch_add(1, Ordering::Relaxed);
        }
        Ok(())
    }
}

fn node(random: &mut Random) -> usize {
    usize::try_from(random.below(NODES as u64)).unwrap_or_default()
}

/// Waits for about this long. Returns `false` if it has ended.
async fn wait(random: &mut Random, mean: Duration, ended: &mut watch::Receiver<bool>) -> bool {
    let delay = random.duration(mean / 2, mean * 3 / 2);
    tokio::select! {
        _ = ended.wait_for(|ended| *ended) => false,
        () = sleep(delay) => true,
    }
}
