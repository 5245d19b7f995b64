//! Names for parked calls: easy to read, to say and to type.

use std::hash::{BuildHasher as _, RandomState};

const MANNERS: [&str; 32] = [
    "brave", "calm", "clever", "cosy", "dapper", "early", "fair", "fleet", "gentle", "glad",
    "happy", "humble", "jolly", "keen", "kind", "lively", "lucky", "merry", "mild", "neat",
    "noble", "patient", "plucky", "proud", "quick", "quiet", "ready", "sleepy", "steady", "sunny",
    "swift", "wise",
];
const ANIMALS: [&str; 32] = [
    "auk", "badger", "beaver", "crane", "curlew", "dolphin", "eider", "falcon", "finch", "fox",
    "gannet", "grebe", "gull", "hare", "heron", "ibis", "lark", "lynx", "marten", "mole", "newt",
    "otter", "owl", "petrel", "plover", "puffin", "robin", "seal", "stork", "swan", "tern", "wren",
];

/// A name that differs from run to run.
pub(super) fn new() -> String {
    let number = RandomState::new().hash_one(std::process::id());
    of(number)
}

fn of(number: u64) -> String {
    let pick = |words: [&'static str; 32], shift: u32| {
        let at = (number >> shift) % 32;
        usize::try_from(at)
            .ok()
            .and_then(|at| words.get(at))
            .copied()
    };
    let manner = pick(MANNERS, 0).unwrap_or_default();
    let animal = pick(ANIMALS, 5).unwrap_or_default();
    format!("{manner}-{animal}-{}", 10 + (number >> 10) % 90)
}

/// Whether it may be the name of a parked call, and so of a file.
pub(super) fn is_one(text: &str) -> bool {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !text.is_empty() && text.len() < 64 && text.chars().all(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        assert_eq!(of(0), "brave-auk-10");
        assert_eq!(of(u64::MAX), "wise-wren-73");
        assert!(is_one(&new()));
        assert!(!is_one("../../etc"));
    }
}
