//! A proxy in front of a server, which cuts connections on command.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
    task::JoinHandle,
};

/// Passes everything on, until it is told to cut.
pub(crate) struct Proxy {
    socket: PathBuf,
    cuts: Arc<Cuts>,
    accepting: JoinHandle<()>,
}

#[derive(Default)]
struct Cuts {
    /// How many requests are lost, with their connection.
    requests: AtomicU32,
    /// How many answers are lost, with their connection.
    answers: AtomicU32,
}

impl Proxy {
    /// Starts a proxy for the server with this socket.
    pub(crate) fn start(server: &Path) -> Self {
        let socket = server.with_file_name("proxy");
        let listener = UnixListener::bind(&socket).expect("a socket");
        let (cuts, server) = (Arc::new(Cuts::default()), server.to_owned());
        let shared = Arc::clone(&cuts);
        let accepting = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                if let Ok(upstream) = UnixStream::connect(&server).await {
                    tokio::spawn(pass(client, upstream, Arc::clone(&shared)));
                }
            }
        });
        Self {
            socket,
            cuts,
            accepting,
        }
    }

    pub(crate) fn url(&self) -> String {
        format!("redis+unix://{}", self.socket.display())
    }

    /// Loses the next request, which never reaches the server.
    pub(crate) fn cut_request(&self) {
        self.cuts.requests.store(1, Ordering::SeqCst);
    }

    /// Loses the next answer: the server has done what it was asked.
    pub(crate) fn cut_answer(&self) {
        self.cuts.answers.store(1, Ordering::SeqCst);
    }

    /// Whether a cut was asked for that has not happened.
    pub(crate) fn is_armed(&self) -> bool {
        let armed = |count: &AtomicU32| count.load(Ordering::SeqCst) > 0;
        armed(&self.cuts.requests) || armed(&self.cuts.answers)
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

fn take(count: &AtomicU32) -> bool {
    let taken = count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| {
        left.checked_sub(1)
    });
    taken.is_ok()
}

/// Passes bytes on, until one side closes or the connection is cut.
async fn pass(mut client: UnixStream, mut server: UnixStream, cuts: Arc<Cuts>) {
    let (mut up, mut down) = (vec![0; 65_536], vec![0; 65_536]);
    loop {
        let passed = tokio::select! {
            read = client.read(&mut up) => match read {
                Ok(length) if length > 0 && !take(&cuts.requests) => {
                    server.write_all(&up[..length]).await
                }
                _ => return,
            },
            read = server.read(&mut down) => match read {
                Ok(length) if length > 0 && !take(&cuts.answers) => {
                    client.write_all(&down[..length]).await
                }
                _ => return,
            },
        };
        if passed.is_err() {
            return;
        }
    }
}
