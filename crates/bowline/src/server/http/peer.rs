//! The peer address of a request.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use http::request::Parts;

/// The address a request comes from, as determined by a layer in front of the
/// service. Put it into the request's extensions; then
/// [`HttpOptions::client_limits`](super::HttpOptions::client_limits) apply per
/// address.
///
/// The standalone server sets it by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerAddr(pub IpAddr);

/// Determines the address a request comes from.
///
/// By default it is the peer address of the connection, or the [`PeerAddr`] set
/// by a layer. Behind a reverse proxy that is the proxy's address for every
/// client. In that case, specify where the proxy writes the client's address.
/// No header is trusted by default: anyone can send one, so name only a header
/// your proxy always sets itself.
///
/// ```
/// use bowline::server::http::{HttpOptions, PeerSource};
///
/// let options = HttpOptions {
///     peer_source: PeerSource::from_request(|parts| {
///         let value = parts.headers.get("x-real-ip")?;
///         value.to_str().ok()?.parse().ok()
///     }),
///     ..HttpOptions::default()
/// };
/// ```
#[derive(Clone, Default)]
pub struct PeerSource(Option<PeerFn>);

type PeerFn = Arc<dyn Fn(&Parts) -> Option<IpAddr> + Send + Sync>;

impl PeerSource {
    /// Reads the address from the request. If it returns `None`, the peer
    /// address of the connection is used, which is in the request's extensions
    /// as a [`PeerAddr`] if known.
    pub fn from_request(read: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(read)))
    }

    /// Returns whether a custom source is set.
    pub(super) fn is_custom(&self) -> bool {
        self.0.is_some()
    }

    /// Returns the address read from the request.
    pub(super) fn read(&self, parts: &Parts) -> Option<IpAddr> {
        let custom = self.0.as_ref().and_then(|read| read(parts));
        custom.or_else(|| parts.extensions.get::<PeerAddr>().map(|it| it.0))
    }
}

impl fmt::Debug for PeerSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.0 {
            Some(_) => "PeerSource(request)",
            None => "PeerSource(connection)",
        })
    }
}

/// Returns the unit that counts as one address. An IPv6 host owns a whole
/// network.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => network_prefix(address, 4).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// Returns the /48 network of an IPv6 address: its owner has 65,536 /64
/// networks.
pub(super) fn large_network(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V6(address) => Some(network_prefix(address, 3).into()),
        IpAddr::V4(_) => None,
    }
}

fn network_prefix(address: Ipv6Addr, length: usize) -> Ipv6Addr {
    let mut segments = address.segments();
    segments[length..].fill(0);
    segments.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_network_of_version_6_is_one_address() {
        let of = |text: &str| network(text.parse().expect("an address"));
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), of("2001:db8:1:2::1"));
        assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.2"), of("192.0.2.1"));
        let large = |text: &str| large_network(of(text));
        assert_eq!(large("2001:db8:1:2::1"), large("2001:db8:1:3::1"));
        assert_ne!(large("2001:db8:1:2::1"), large("2001:db8:2:2::1"));
        assert_eq!(large("::ffff:192.0.2.1"), None);
    }
}
