//! Proxies that cut and delay connections: in front of the nodes, and of Redis.

use std::{
    io,
    net::SocketAddr,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, AtomicU16, AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, split},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    task::JoinHandle,
    time::sleep,
};

use crate::random::Random;

/// The longest delay of a connection.
const MAX_DELAY: Duration = Duration::from_millis(200);

/// What all proxies share: whether they disturb, and how often they did.
#[derive(Debug, Default)]
pub(crate) struct Disturbance {
    pub(crate) is_on: AtomicBool,
    pub(crate) cuts: AtomicU64,
    pub(crate) delays: AtomicU64,
    pub(crate) redis_cuts: AtomicU64,
}

/// The ports of the nodes.
pub(crate) type Ports = Arc<[AtomicU16]>;

/// A proxy, which ends when it is dropped.
pub(crate) struct Proxy(JoinHandle<()>);

impl Drop for Proxy {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// What happens to a connection.
#[derive(Clone, Copy, Default)]
struct Fate {
    delay: Option<Duration>,
    /// After how many bytes of the request the connection is cut.
    cut_request: Option<u64>,
    /// The same for the response.
    cut_response: Option<u64>,
}

impl Fate {
    fn of_client(random: &mut Random) -> Self {
        let mut fate = Self::default();
        match random.below(100) {
            0..6 => fate.delay = Some(random.duration(Duration::ZERO, MAX_DELAY)),
            6..8 => fate.cut_request = Some(random.below(2000)),
            // The request arrives, and its response does not, or not all of it.
            8..11 => fate.cut_response = Some(0),
            11..12 => fate.cut_response = Some(random.below(2000)),
            _ => {}
        }
        fate
    }

    fn of_node(random: &mut Random) -> Self {
        let mut fate = Self::default();
        match random.percent(50) {
            true => fate.cut_request = Some(20_000 + random.below(4_000_000)),
            false => fate.cut_response = Some(2_000 + random.below(400_000)),
        }
        fate
    }
}

/// Starts a proxy that leads each connection to a node at random. Returns its address.
pub(crate) async fn in_front_of_nodes(
    ports: Ports,
    random: Random,
    disturbance: Arc<Disturbance>,
) -> io::Result<(Proxy, SocketAddr)> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    let random = Mutex::new(random);
    let accepting = tokio::spawn(async move {
        while let Ok((client, _)) = listener.accept().await {
            let mut random = {
                let mut random = random.lock().unwrap_or_else(PoisonError::into_inner);
                Random::new(random.next())
            };
            let (ports, disturbance) = (Arc::clone(&ports), Arc::clone(&disturbance));
            tokio::spawn(async move {
                let fate = match disturbance.is_on.load(Ordering::Relaxed) {
                    true => Fate::of_client(&mut random),
                    false => Fate::default(),
                };
                if let Some(delay) = fate.delay {
                    disturbance.delays.fetch_add(1, Ordering::Relaxed);
                    sleep(delay).await;
                }
                if let Some(node) = connect(&ports, &mut random).await {
                    let _ = client.set_nodelay(true);
                    if pass(client, node, fate).await {
                        disturbance.cuts.fetch_add(1, Ordering::Relaxed);
                    }
                }
            });
        }
    });
    Ok((Proxy(accepting), address))
}

/// Connects to a node at random. Tries some more if one cannot be reached.
async fn connect(ports: &[AtomicU16], random: &mut Random) -> Option<TcpStream> {
    for _ in 0..4 {
        let port = random.pick(ports).load(Ordering::Relaxed);
        if let Ok(stream) = TcpStream::connect(("127.0.0.1", port)).await {
            let _ = stream.set_nodelay(true);
            return Some(stream);
        }
    }
    None
}

/// Starts a proxy for the connections of a node to Redis.
pub(crate) fn in_front_of_redis(
    socket: &Path,
    redis: PathBuf,
    mut random: Random,
    disturbance: Arc<Disturbance>,
) -> io::Result<Proxy> {
    let listener = UnixListener::bind(socket)?;
    let accepting = tokio::spawn(async move {
        while let Ok((node, _)) = listener.accept().await {
            let fate = match disturbance.is_on.load(Ordering::Relaxed) {
                true => Fate::of_node(&mut random),
                false => Fate::default(),
            };
            let (redis, disturbance) = (redis.clone(), Arc::clone(&disturbance));
            tokio::spawn(async move {
                if let Ok(redis) = UnixStream::connect(&redis).await
                    && pass(node, redis, fate).await
                {
                    disturbance.redis_cuts.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    Ok(Proxy(accepting))
}

/// Passes bytes on until one side closes. Returns whether the connection was cut.
async fn pass<C, S>(client: C, server: S, fate: Fate) -> bool
where
    C: AsyncRead + AsyncWrite,
    S: AsyncRead + AsyncWrite,
{
    let (client_reads, client_writes) = split(client);
    let (server_reads, server_writes) = split(server);
    tokio::select! {
        is_cut = copy(client_reads, server_writes, fate.cut_request) => is_cut,
        is_cut = copy(server_reads, client_writes, fate.cut_response) => is_cut,
    }
}

/// Copies up to a limit. Returns whether it was reached.
async fn copy<R, W>(mut from: R, mut to: W, limit: Option<u64>) -> bool
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut buffer = vec![0; 16_384];
    let mut left = limit.unwrap_or(u64::MAX);
    loop {
        let Ok(length @ 1..) = from.read(&mut buffer).await else {
            return false;
        };
        let passed = length.min(usize::try_from(left).unwrap_or(usize::MAX));
        left -= passed as u64;
        if to.write_all(&buffer[..passed]).await.is_err() {
            return false;
        }
        if passed < length {
            return true;
        }
    }
}
