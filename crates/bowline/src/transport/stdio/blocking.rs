//! Standard streams on systems where they can only be used by blocking.

use std::io;

use super::thread::{ThreadReader, ThreadWriter};

/// The standard input.
pub(super) type Input = ThreadReader;
/// The standard output.
pub(super) type Output = ThreadWriter;

/// Takes both streams. They stay in place: other code can still print to them.
pub(super) fn take() -> io::Result<(Input, Output)> {
    Ok((
        ThreadReader::start(io::stdin())?,
        ThreadWriter::start(io::stdout())?,
    ))
}
