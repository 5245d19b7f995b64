//! Lookup of items by name.

use std::{
    collections::HashMap,
    hash::{BuildHasherDefault, Hasher},
};

/// Indices, by name.
pub(crate) type NameIndex = HashMap<Box<str>, usize, BuildHasherDefault<NameHasher>>;

/// FNV-1a, for names chosen by the author. A client can ask for any name, but
/// cannot insert names that collide, so there is nothing to defend against.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NameHasher(u64);

impl Default for NameHasher {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Hasher for NameHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_fnv_1a() {
        let hash = |bytes: &[u8]| {
            let mut hasher = NameHasher::default();
            hasher.write(bytes);
            hasher.finish()
        };
        assert_eq!(hash(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(hash(b"a"), 0xaf63_dc4c_8601_ec8c);
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
    }
}
