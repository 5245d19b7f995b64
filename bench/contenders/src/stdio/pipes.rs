//! The standard streams of a server, as pipes.

use std::{fs::File, io, os::fd::AsFd};

use rustix::{
    pipe::{fcntl_getpipe_size, fcntl_setpipe_size},
    stdio::{stdin, stdout},
};
use tokio::net::unix::pipe::{OpenOptions, Receiver, Sender};

/// How large they are made: as large as ours makes them.
const PIPE_BYTES: usize = 256 * 1024;

/// Makes both larger, where that is allowed.
pub(crate) fn enlarge() {
    for stream in [stdin(), stdout()] {
        if fcntl_getpipe_size(stream).is_ok_and(|size| size < PIPE_BYTES) {
            let _ = fcntl_setpipe_size(stream, PIPE_BYTES);
        }
    }
}

/// Both, to block on, and without the buffers of the standard library.
pub(crate) fn blocking() -> io::Result<(File, File)> {
    let file = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().map(File::from);
    Ok((file(&stdin())?, file(&stdout())?))
}

/// Both, without blocking. Opened anew, so that nobody else sees the flag.
pub(crate) fn non_blocking() -> io::Result<(Receiver, Sender)> {
    let options = OpenOptions::new();
    let input = options.open_receiver("/proc/self/fd/0")?;
    let output = options.open_sender("/proc/self/fd/1")?;
    Ok((input, output))
}
