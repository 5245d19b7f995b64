//! Settings of the stores, and connecting.

use std::{fmt, sync::Arc, time::Duration};

use crate::{
    ConnectError, RedisStores, StoreLimits,
    connection::{Address, Connection, Tls},
    inspection::Inspection,
    keys::Keys,
};

/// The maximum length of a prefix.
const MAX_PREFIX_LEN: usize = 64;

/// Settings of [`RedisStores`].
///
/// ```no_run
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// use std::time::Duration;
///
/// use bowline_redis::RedisStores;
///
/// let stores = RedisStores::builder("rediss://user:password@redis.example:6380")
///     .prefix("travel-production")
///     .timeout(Duration::from_secs(1))
///     .connect()
///     .await?;
/// # drop(stores);
/// # Ok(()) }
/// ```
#[must_use = "a builder does nothing until it connects"]
pub struct RedisStoresBuilder {
    url: String,
    prefix: String,
    timeout: Duration,
    limits: StoreLimits,
    root_certificates: Option<Vec<u8>>,
    client_certificate: Option<(Vec<u8>, Vec<u8>)>,
    allows_eviction: bool,
}

impl RedisStores {
    /// Connects to the server at this address: `redis://user:password@host:6379/0`,
    /// `rediss://` with TLS, or `redis+unix:///path/to/socket`.
    ///
    /// # Errors
    ///
    /// Returns an error as [`RedisStoresBuilder::connect`] does.
    pub async fn connect(url: &str) -> Result<Self, ConnectError> {
        Self::builder(url).connect().await
    }

    /// Returns a builder, for other settings than the defaults.
    pub fn builder(url: &str) -> RedisStoresBuilder {
        RedisStoresBuilder::new(url)
    }
}

impl RedisStoresBuilder {
    fn new(url: &str) -> Self {
        Self {
            url: url.to_owned(),
            prefix: "bowline".to_owned(),
            timeout: Duration::from_secs(2),
            limits: StoreLimits::default(),
            root_certificates: None,
            client_certificate: None,
            allows_eviction: false,
        }
    }

    /// Sets the prefix of all keys. The default is `bowline`. Servers that share a
    /// database must have different ones; nodes of one server must have the same.
    pub fn prefix(mut self, prefix: &str) -> Self {
        self.prefix = prefix.to_owned();
        self
    }

    /// Sets how long an operation may take, attempts to reconnect included. The default
    /// is two seconds. It should be less than a third of
    /// [`Server::lease_timeout`](bowline::server::Server::lease_timeout), or a node can
    /// be considered dead because Redis is slow.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets how much is stored.
    pub fn limits(mut self, limits: StoreLimits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets the certificate authorities that are trusted with `rediss://`, in PEM format.
    /// The default is those of the system.
    pub fn root_certificates(mut self, pem: &[u8]) -> Self {
        self.root_certificates = Some(pem.to_vec());
        self
    }

    /// Sets the certificate that is presented with `rediss://`, and its private key, both
    /// in PEM format.
    pub fn client_certificate(mut self, certificates: &[u8], private_key: &[u8]) -> Self {
        self.client_certificate = Some((certificates.to_vec(), private_key.to_vec()));
        self
    }

    /// Accepts a server that drops data if its memory is full. Then the promise that
    /// nothing happens twice does not hold.
    pub fn allow_eviction(mut self) -> Self {
        self.allows_eviction = true;
        self
    }

    /// Connects, and checks the server.
    ///
    /// # Errors
    ///
    /// Returns an error if a setting is wrong, if the server cannot be reached, if it is
    /// a replica, older than 6.2, or drops data if its memory is full.
    pub async fn connect(self) -> Result<RedisStores, ConnectError> {
        let is_allowed = |byte: u8| byte.is_ascii_graphic() && byte != b'{' && byte != b'}';
        let prefix = &self.prefix;
        if !(1..=MAX_PREFIX_LEN).contains(&prefix.len()) || !prefix.bytes().all(is_allowed) {
            let why = "it must have 1 to 64 visible ASCII characters, without braces";
            return Err(ConnectError::setting("prefix", why));
        }
        if self.timeout.is_zero() {
            return Err(ConnectError::setting("timeout", "it is zero"));
        }
        let certificate = self.client_certificate.as_ref();
        let certificate = certificate.map(|(certificates, key)| (&**certificates, &**key));
        let address = Address::parse(&self.url, || {
            Tls::new(self.root_certificates.as_deref(), certificate)
        });
        let address = address.map_err(|why| ConnectError::setting("address", &why))?;
        let name = address.to_string();
        let connection = Connection::new(address, self.timeout, Keys::new(prefix));
        let warnings = match Inspection::of(&connection, self.allows_eviction).await {
            Ok(found) => found.into_warnings()?,
            Err(error) => return Err(error.into()),
        };
        for warning in &warnings {
            warn(&name, warning);
        }
        connection.start().await?;
        let (connection, warnings) = (Arc::new(connection), warnings.into());
        Ok(RedisStores::new(&connection, &self.limits, warnings))
    }
}

#[cfg(feature = "tracing")]
fn warn(address: &str, warning: &str) {
    tracing::warn!(target: "bowline::redis", address, "{warning}");
}

#[cfg(not(feature = "tracing"))]
fn warn(_address: &str, _warning: &str) {}

/// Shows neither the address, which may contain a password, nor keys.
impl fmt::Debug for RedisStoresBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RedisStoresBuilder")
            .field("prefix", &self.prefix)
            .field("timeout", &self.timeout)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
