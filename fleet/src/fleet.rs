//! Three nodes, their Redis, the effects process and the proxies.

use std::{
    ffi::OsString,
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU16, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex, mpsc},
    task::JoinHandle,
};

use crate::{
    effects::{self, Effect, LogLine},
    process::Process,
    proxy::{self, Disturbance, Ports, Proxy},
    random::Random,
    redis::Redis,
};

/// The number of nodes.
pub(crate) const NODES: usize = 3;

/// What a fleet is like.
#[derive(Clone, Debug)]
pub struct FleetOptions {
    /// This program, which also is the nodes and the effects process.
    pub program: OsString,
    /// A folder that does not exist yet. It is removed afterwards.
    pub folder: PathBuf,
    /// The lease of conversations, tasks and sessions.
    pub lease: Duration,
    /// Whether Redis writes to disk.
    pub is_durable: bool,
    /// Whether journals are not respected, to show that this is noticed.
    pub is_unguarded: bool,
    /// The seed of all random decisions.
    pub seed: u64,
}

/// How often something was done to the fleet.
#[derive(Debug, Default)]
pub(crate) struct FaultCounts {
    pub(crate) kills: AtomicU64,
    pub(crate) pauses: AtomicU64,
    pub(crate) redis_restarts: AtomicU64,
}

pub(crate) struct Fleet {
    options: FleetOptions,
    pub(crate) address: SocketAddr,
    effects_address: SocketAddr,
    pub(crate) nodes: [Mutex<Option<Process>>; NODES],
    ports: Ports,
    pub(crate) redis: Mutex<Redis>,
    pub(crate) disturbance: Arc<Disturbance>,
    pub(crate) counts: FaultCounts,
    pub(crate) held: Mutex<mpsc::UnboundedReceiver<Effect>>,
    effects: JoinHandle<()>,
    _proxies: Vec<Proxy>,
}

impl Fleet {
    pub(crate) async fn start(options: FleetOptions) -> io::Result<Self> {
        std::fs::create_dir_all(&options.folder)?;
        let redis = Redis::start(&options.program, &options.folder, options.is_durable).await?;
        let (effects, effects_address, held) = start_effects(&options).await?;
        let (random, disturbance) = (Random::new(options.seed), Arc::<Disturbance>::default());
        let ports: Ports = (0..NODES).map(|_| AtomicU16::new(0)).collect();
        let front =
            proxy::in_front_of_nodes(Arc::clone(&ports), random.fork(1), Arc::clone(&disturbance));
        let (front, address) = front.await?;
        let mut proxies = vec![front];
        for node in 0..NODES {
            proxies.push(proxy::in_front_of_redis(
                &redis_socket(&options.folder, node),
                Redis::socket(&options.folder),
                random.fork(100 + node as u64),
                Arc::clone(&disturbance),
            )?);
        }
        let fleet = Self {
            options,
            address,
            effects_address,
            nodes: Default::default(),
            ports,
            redis: Mutex::new(redis),
            disturbance,
            counts: FaultCounts::default(),
            held: Mutex::new(held),
            effects,
            _proxies: proxies,
        };
        for node in 0..NODES {
            fleet.start_node(node).await?;
        }
        Ok(fleet)
    }

    /// The address of one node.
    pub(crate) fn node_address(&self, node: usize) -> SocketAddr {
        ([127, 0, 0, 1], self.ports[node].load(Ordering::Relaxed)).into()
    }

    /// The name of a node in the log.
    pub(crate) fn node_name(node: usize) -> String {
        format!("node-{node}")
    }

    /// Starts a node that does not run.
    pub(crate) async fn start_node(&self, node: usize) -> io::Result<()> {
        let mut slot = self.nodes[node].lock().await;
        let mut process = self.spawn_node(node)?;
        let port = process.line().await?.parse().map_err(io::Error::other)?;
        self.ports[node].store(port, Ordering::Relaxed);
        *slot = Some(process);
        Ok(())
    }

    /// Kills a node. Returns whether it was running.
    pub(crate) async fn kill_node(&self, node: usize) -> io::Result<bool> {
        let mut slot = self.nodes[node].lock().await;
        match slot.take() {
            Some(mut process) => process.kill().await.map(|_| true),
            None => Ok(false),
        }
    }

    fn spawn_node(&self, node: usize) -> io::Result<Process> {
        let options = &self.options;
        let redis = redis_socket(&options.folder, node);
        let mut words: Vec<OsString> = vec![options.program.clone(), "node".into()];
        let mut add = |name: &str, value: String| {
            words.extend([OsString::from(format!("--{name}")), value.into()]);
        };
        add("redis", format!("redis+unix://{}", redis.display()));
        add("effects", self.effects_address.to_string());
        add("port", self.ports[node].load(Ordering::Relaxed).to_string());
        add("name", Self::node_name(node));
        add("secret", "what all nodes of this fleet know".to_owned());
        add("lease", options.lease.as_millis().to_string());
        if options.is_unguarded {
            words.push("--unguarded".into());
        }
        Process::start(&options.program, words)
    }

    /// Ends everything, and returns what happened.
    pub(crate) async fn end(self) -> io::Result<Vec<LogLine>> {
        for node in 0..NODES {
            self.kill_node(node).await?;
        }
        self.redis.lock().await.kill().await?;
        self.effects.abort();
        let log = effects::read_log(&log_path(&self.options.folder));
        let _ = std::fs::remove_dir_all(&self.options.folder);
        log
    }
}

fn log_path(folder: &Path) -> PathBuf {
    folder.join("effects.jsonl")
}

fn redis_socket(folder: &Path, node: usize) -> PathBuf {
    folder.join(format!("redis-for-{node}"))
}

/// Starts the effects process. Returns what keeps it alive, its address, and the effects
/// that it holds.
async fn start_effects(
    options: &FleetOptions,
) -> io::Result<(JoinHandle<()>, SocketAddr, mpsc::UnboundedReceiver<Effect>)> {
    let log = log_path(&options.folder);
    let words = vec![
        options.program.clone(),
        "effects".into(),
        "--log".into(),
        log.into(),
    ];
    let mut process = Process::start(&options.program, words)?;
    let address = process.line().await?.parse().map_err(io::Error::other)?;
    let (sender, held) = mpsc::unbounded_channel();
    let reading = tokio::spawn(async move {
        while let Ok(line) = process.line().await {
            if let Ok(effect) = serde_json::from_str(&line) {
                let _ = sender.send(effect);
            }
        }
    });
    Ok((reading, address, held))
}
