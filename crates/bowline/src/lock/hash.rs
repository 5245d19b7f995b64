//! The hash of a definition: the same for all spellings of the same JSON.

use std::fmt::Write as _;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use crate::canonical::canonicalize;

/// Returns the SHA-256 of the canonical JSON of a value.
pub(super) fn hash_of(value: &impl Serialize) -> String {
    // Values that are read from JSON serialize.
    let json = serde_json::to_vec(value).unwrap_or_default();
    let digest = Sha256::digest(canonicalize(&json));
    let mut hash = String::from("sha256:");
    for byte in digest {
        // Writing to a string cannot fail.
        let _ = write!(hash, "{byte:02x}");
    }
    hash
}
