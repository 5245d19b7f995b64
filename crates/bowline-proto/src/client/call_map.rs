//! A map by call, for the machine and for whoever drives it.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use super::CallId;

/// A map by call: the machine holds only ids, and a driver finds those who wait
/// by them. It has no order, and no randomness either.
pub type CallMap<V> = HashMap<CallId, V, BuildHasherDefault<CallHasher>>;

/// Spreads our own consecutive ids. They are not chosen by the peer, so that
/// there is nothing to defend against.
#[derive(Clone, Copy, Debug, Default)]
pub struct CallHasher(u64);

impl Hasher for CallHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(self.0 ^ u64::from(*byte));
        }
    }

    fn write_u64(&mut self, id: u64) {
        // Fibonacci hashing: the high bits, which the table uses to tell
        // entries apart, depend on all bits of the id.
        self.0 = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
