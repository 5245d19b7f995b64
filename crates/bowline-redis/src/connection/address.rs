//! Addresses, and opening connections to them.

use std::{fmt, io, path::PathBuf, time::Duration};

use redis::{
    ConnectionAddr, ErrorKind, IntoConnectionInfo as _, RedisConnectionInfo, RedisError,
    RedisResult,
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpStream,
};

use super::tls::Tls;

/// Where Redis is, and how to sign in there.
#[derive(Clone)]
pub(crate) struct Address {
    endpoint: Endpoint,
    credentials: RedisConnectionInfo,
    tls: Option<Tls>,
}

#[derive(Clone)]
enum Endpoint {
    Tcp(String, u16),
    Unix(PathBuf),
}

/// A connection that bytes travel on.
pub(super) trait ByteStream: AsyncRead + AsyncWrite + Send + Unpin + 'static {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin + 'static> ByteStream for T {}

impl Address {
    /// Parses a URL: `redis://`, `rediss://`, `valkey://`, `valkeys://`,
    /// `redis+unix://` or `unix://`.
    pub(crate) fn parse(
        url: &str,
        tls: impl FnOnce() -> Result<Tls, String>,
    ) -> Result<Self, String> {
        if url.ends_with("#insecure") {
            return Err("`#insecure` is not supported: certificates are always checked".into());
        }
        let (is_tls, plain) = match url.split_once("://") {
            Some(("rediss" | "valkeys", rest)) => (true, format!("redis://{rest}")),
            _ => (false, url.to_owned()),
        };
        let example = "write it like redis://user:password@host:6379/0";
        // Without the cause, which may contain the password.
        let info = plain.into_connection_info();
        let info =
            info.map_err(|_| format!("it is not the address of a Redis server: {example}"))?;
        let endpoint = match info.addr() {
            ConnectionAddr::Tcp(host, port) => Endpoint::Tcp(host.clone(), *port),
            ConnectionAddr::Unix(path) => Endpoint::Unix(path.clone()),
            _ => {
                return Err(format!(
                    "it is not the address of a Redis server: {example}"
                ));
            }
        };
        Ok(Self {
            endpoint,
            credentials: info
                .redis_settings()
                .clone()
                .set_lib_name("bowline-redis", env!("CARGO_PKG_VERSION")),
            tls: is_tls.then(tls).transpose()?,
        })
    }

    /// Returns the address of another node of the same cluster.
    pub(super) fn of_node(&self, host: String, port: u16) -> Self {
        Self {
            endpoint: Endpoint::Tcp(host, port),
            ..self.clone()
        }
    }

    pub(super) fn credentials(&self) -> &RedisConnectionInfo {
        &self.credentials
    }

    /// Opens a connection. The name is resolved each time: after a failover it may
    /// stand for another node.
    pub(super) async fn dial(&self, timeout: Duration) -> RedisResult<Box<dyn ByteStream>> {
        let dialling = async {
            let stream = match &self.endpoint {
                Endpoint::Tcp(host, port) => {
                    let stream = TcpStream::connect((host.as_str(), *port)).await?;
                    stream.set_nodelay(true)?;
                    match &self.tls {
                        Some(tls) => tls.connect(host, stream).await?,
                        None => Box::new(stream) as Box<dyn ByteStream>,
                    }
                }
                #[cfg(unix)]
                Endpoint::Unix(path) => Box::new(tokio::net::UnixStream::connect(path).await?),
                #[cfg(not(unix))]
                Endpoint::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
            };
            Ok::<_, io::Error>(stream)
        };
        match tokio::time::timeout(timeout, dialling).await {
            Ok(stream) => stream.map_err(|error| match error.kind() {
                // TLS failed, which another attempt does not change.
                io::ErrorKind::InvalidData => RedisError::from((
                    ErrorKind::InvalidClientConfig,
                    "TLS failed",
                    error.to_string(),
                )),
                _ => error.into(),
            }),
            Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
        }
    }
}

/// Shows where it is, without user and password.
impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.endpoint {
            Endpoint::Tcp(host, port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Endpoint::Tcp(host, port) => write!(f, "{host}:{port}"),
            Endpoint::Unix(path) => write!(f, "{}", path.display()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(url: &str) -> Result<String, String> {
        Address::parse(url, || Tls::new(None, None)).map(|address| address.to_string())
    }

    #[test]
    fn addresses_are_shown_without_secrets() {
        for (url, shown) in [
            ("redis://ada:secret@db.example:7000/2", "db.example:7000"),
            ("valkey://db.example", "db.example:6379"),
            ("redis+unix:///run/redis.sock", "/run/redis.sock"),
            ("redis://[::1]:7000", "[::1]:7000"),
        ] {
            assert_eq!(parse(url).as_deref(), Ok(shown), "{url}");
        }
    }

    #[test]
    fn wrong_addresses_are_refused_without_showing_them() {
        for url in [
            "http://ada:secret@db.example",
            "ada:secret@db.example",
            "rediss://db/#insecure",
        ] {
            let error = parse(url).expect_err(url);
            assert!(!error.contains("secret"), "{error}");
        }
    }
}
