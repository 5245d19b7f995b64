//! A map keyed by call, for the machine and its drivers.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

use super::CallId;

/// A map keyed by [`CallId`]. The machine holds only ids; a driver uses this map to
/// find the caller of each one. It is unordered, but without random hashing.
pub type CallMap<V> = HashMap<CallId, V, BuildHasherDefault<CallHasher>>;

/// Hashes our own consecutive ids. The peer does not choose them, so no defence against
/// collisions is needed.
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
        // Fibonacci hashing: the high bits, which the table uses to tell entries apart,
        // depend on all bits of the id.
        self.0 = id.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }
}
