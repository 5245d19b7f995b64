//! The addresses that a request may connect to.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses that a request may connect to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AddressScope {
    /// Public Internet addresses.
    Public,
    /// Public addresses and this machine.
    PublicAndLoopback,
    /// All addresses.
    Anywhere,
}

impl AddressScope {
    /// Returns whether a request with this scope may connect to this address.
    #[must_use]
    pub fn allows(self, address: IpAddr) -> bool {
        match self {
            Self::Anywhere => true,
            Self::PublicAndLoopback => is_public(address) || address.to_canonical().is_loopback(),
            Self::Public => is_public(address),
        }
    }
}

/// Returns whether an address is public.
fn is_public(address: IpAddr) -> bool {
    match address.to_canonical() {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = address.is_unspecified()
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        // Carrier-grade NAT.
        || (a == 100 && (64..128).contains(&b))
        // Special purposes, and 6to4 relays.
        || (a == 192 && b == 0 && c == 0)
        || (a == 192 && b == 88 && c == 99)
        // Benchmarks.
        || (a == 198 && (b == 18 || b == 19))
        // Reserved.
        || a >= 240;
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let tail = || {
        let [.., g, h] = segments;
        let ([a, b], [c, d]) = (g.to_be_bytes(), h.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match segments {
        // Translated to IPv4 (NAT64): the IPv4 address decides.
        [0x64, 0xff9b, 0, 0, 0, 0, _, _] => is_public_v4(tail()),
        [0x64, 0xff9b, ..] => false,
        [0x2002, high, low, ..] => {
            let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
            is_public_v4(Ipv4Addr::new(a, b, c, d))
        }
        // Teredo, benchmarks, identifiers, documentation.
        [0x2001, second, ..] if second < 0x0200 => false,
        [0x2001, 0x0db8, ..] | [0x3fff, 0..=0x0fff, ..] => false,
        // Global unicast; this excludes unspecified, loopback, link-local,
        // unique local and multicast addresses.
        [first, ..] => (0x2000..0x4000).contains(&first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_the_whole_internet() {
        for public in [
            "1.1.1.1",
            "93.184.215.14",
            "2606:4700::1111",
            "64:ff9b::808:808",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn addresses_that_are_somebodys_own() {
        for private in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.127.255.254",
            "127.0.0.1",
            "127.8.9.1",
            "169.254.169.254",
            "172.16.0.1",
            "192.0.0.192",
            "192.168.1.1",
            "192.0.2.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:169.254.169.254",
            "fe80::1",
            "fd00:ec2::254",
            "fc00::1",
            "ff02::1",
            "2001:db8::1",
            "2002:a00:1::",
            "64:ff9b::a9fe:a9fe",
            "64:ff9b:1::1",
            "2001::1",
            "100::1",
            "::127.0.0.1",
            "5f00::1",
        ] {
            assert!(!is_public(private.parse().unwrap()), "{private}");
        }
    }
}
