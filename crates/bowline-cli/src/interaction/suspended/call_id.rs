//! Names of suspended calls: easy to read, say and type.

use std::hash::{BuildHasher as _, RandomState};

const ADJECTIVES: [&str; 32] = [
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

/// Generates a random name.
pub(super) fn generate() -> String {
    let number = RandomState::new().hash_one(std::process::id());
    from_number(number)
}

fn from_number(number: u64) -> String {
    let pick = |words: [&'static str; 32], shift: u32| {
        let index = (number >> shift) % 32;
        usize::try_from(index)
            .ok()
            .and_then(|index| words.get(index))
            .copied()
    };
    let adjective = pick(ADJECTIVES, 0).unwrap_or_default();
    let animal = pick(ANIMALS, 5).unwrap_or_default();
    format!("{adjective}-{animal}-{}", 10 + (number >> 10) % 90)
}

/// Returns whether it may be the name of a suspended call, and so of a file.
pub(super) fn is_valid(id: &str) -> bool {
    let is_allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    !id.is_empty() && id.len() < 64 && id.chars().all(is_allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain() {
        assert_eq!(from_number(0), "brave-auk-10");
        assert_eq!(from_number(u64::MAX), "wise-wren-73");
        assert!(is_valid(&generate()));
        assert!(!is_valid("../../etc"));
    }
}
