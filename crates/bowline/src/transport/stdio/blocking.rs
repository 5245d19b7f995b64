//! The standard streams where nothing better is known than to block on them.

use std::io;

use super::thread::{ThreadReader, ThreadWriter};

/// The standard input.
pub(super) type Input = ThreadReader;
/// The standard output.
pub(super) type Output = ThreadWriter;

/// Takes both. They stay in place: others can still print to them.
pub(super) fn take() -> io::Result<(Input, Output)> {
    Ok((
        ThreadReader::start(io::stdin())?,
        ThreadWriter::start(io::stdout())?,
    ))
}
