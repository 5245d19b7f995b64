//! The core paths of ours, each so often as one says, for counting
//! instructions.

fn main() {}
