//! Where a request comes from, as far as that is known.

use std::{
    fmt,
    net::{IpAddr, Ipv6Addr},
    sync::Arc,
};

use http::request::Parts;

/// The address that a request comes from, as a layer in front of the service
/// found out. Put it into the request's extensions; then the limits of
/// [`HttpOptions::per_client`](super::HttpOptions::per_client) hold for each
/// address by itself.
///
/// Where the service holds the socket, it knows without being told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerAddr(pub IpAddr);

/// How the address is found that a request comes from.
///
/// By default it is the other end of the connection, or what a layer said with
/// a [`PeerAddr`]. Behind a reverse proxy that is the proxy, for everybody. Then
/// say where the proxy writes the client's address. No header is believed unless
/// you say so: everybody can send one, so name only one that your proxy always
/// sets itself.
///
/// ```
/// use bowline::server::http::{HttpOptions, PeerSource};
///
/// let options = HttpOptions {
///     peer: PeerSource::from_request(|parts| {
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
    /// Reads the address out of the request. Where it gives none, the other end
    /// of the connection is what counts, which is in the request's extensions as
    /// a [`PeerAddr`] if it is known.
    pub fn from_request(read: impl Fn(&Parts) -> Option<IpAddr> + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(read)))
    }

    /// Whether requests are asked for it.
    pub(super) fn is_custom(&self) -> bool {
        self.0.is_some()
    }

    /// The address, where the request says so.
    pub(super) fn read(&self, segments_of_address: &Parts) -> Option<IpAddr> {
        let custom = self.0.as_ref().and_then(|read| read(segments_of_address));
        custom.or_else(|| {
            segments_of_address
                .extensions
                .get::<PeerAddr>()
                .map(|it| it.0)
        })
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

/// What counts as one address. Whoever has an address of version 6 has a whole
/// network of them.
pub(super) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => network_prefix(address, 4).into(),
        address @ IpAddr::V4(_) => address,
    }
}

/// The network of 48 bits that such an address of version 6 is a part of:
/// whoever has one of these has 65,536 of the others.
pub(super) fn large_network(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V6(address) => Some(network_prefix(address, 3).into()),
        IpAddr::V4(_) => None,
    }
}

fn network_prefix(address: Ipv6Addr, segments: usize) -> Ipv6Addr {
    let mut segments_of_address = address.segments();
    segments_of_address
        .iter_mut()
        .skip(segments)
        .for_each(|part| *part = 0);
    segments_of_address.into()
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
