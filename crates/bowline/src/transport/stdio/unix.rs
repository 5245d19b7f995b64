//! The standard streams on Unix: moved out of reach of other code, and
//! non-blocking where possible.
//!
//! `O_NONBLOCK` is a flag of the open file description, which is shared with
//! every process that inherited it, such as a shell script that started us and
//! continues afterwards. Programs that do not expect the flag fail: `cat` exits
//! with an error, `eprintln!` panics. So a pipe is reopened where the system
//! can do that, as Linux can: the flag is then ours alone, and nobody sees it
//! even if we are killed. A socket cannot be reopened. There the flag is set,
//! and reset when the link closes. That is correct for processes that use the
//! stream after us; those that use it at the same time would mix their bytes
//! with ours anyway. Terminals and files, which are widely shared, keep their
//! flags: threads block on them.

use std::{
    fs::File,
    io::{self, IoSlice},
    os::{
        fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd},
        unix::{ffi::OsStrExt as _, net},
    },
    path::{Path, PathBuf},
    pin::Pin,
    task::{Context, Poll},
};

use rustix::{
    fs::{FileType, OFlags, Stat, fcntl_getfl, fcntl_setfl, fstat},
    io::fcntl_dupfd_cloexec,
    stdio::{dup2_stderr, dup2_stdin, dup2_stdout, stderr, stdin, stdout},
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{UnixStream, unix::pipe},
};

use super::thread::{ThreadReader, ThreadWriter};

/// The first descriptor that is not a standard stream.
const FIRST_PRIVATE: i32 = 3;
/// The size that pipes are enlarged to. Not the maximum: the total size of a
/// user's pipes is limited, and users over the limit get tiny ones.
#[cfg(target_os = "linux")]
const PIPE_BYTES: usize = 256 * 1024;

/// Takes both streams, and leaves harmless replacements in their place.
pub(super) fn take() -> io::Result<(Input, Output)> {
    let input = OwnedStream::duplicate(stdin())?;
    let output = OwnedStream::duplicate(stdout())?;
    let silence_stderr = output.is_same_pipe(&fstat(stderr())?);
    let streams = (input.into_input()?, output.into_output()?);
    redirect_standard_streams(silence_stderr)?;
    Ok(streams)
}

/// Redirects standard output to standard error and standard input to an empty
/// one. Child processes inherit this.
fn redirect_standard_streams(silence_stderr: bool) -> io::Result<()> {
    let null = File::options().read(true).write(true).open("/dev/null")?;
    if silence_stderr {
        dup2_stderr(&null)?;
    }
    dup2_stdout(stderr())?;
    dup2_stdin(&null)?;
    Ok(())
}

/// A close-on-exec copy of a standard stream.
struct OwnedStream {
    descriptor: OwnedFd,
    stat: Stat,
    /// Whether it was blocking. Checked before any flag is changed, as both
    /// streams may be the same socket.
    blocking: bool,
}

impl OwnedStream {
    fn duplicate(stream: BorrowedFd<'_>) -> io::Result<Self> {
        let descriptor = fcntl_dupfd_cloexec(stream, FIRST_PRIVATE)?;
        Ok(Self {
            stat: fstat(&descriptor)?,
            blocking: !fcntl_getfl(&descriptor)?.contains(OFlags::NONBLOCK),
            descriptor,
        })
    }

    fn kind(&self) -> FileType {
        FileType::from_raw_mode(self.stat.st_mode)
    }

    /// Returns whether both streams lead to the same pipe or socket.
    fn is_same_pipe(&self, other: &Stat) -> bool {
        let is_pipe = matches!(self.kind(), FileType::Fifo | FileType::Socket);
        // Some systems do not number their pipes.
        is_pipe
            && self.stat.st_ino != 0
            && (self.stat.st_dev, self.stat.st_ino) == (other.st_dev, other.st_ino)
    }

    fn into_input(self) -> io::Result<Input> {
        match self.kind() {
            FileType::Fifo => {
                let reopened = self.reopen(|path| pipe::OpenOptions::new().open_receiver(path));
                RestoreBlocking::pipe(self, reopened, pipe::Receiver::from_owned_fd)
                    .map(Input::Pipe)
            }
            FileType::Socket => self.into_socket().map(Input::Socket),
            _ => ThreadReader::start(File::from(self.descriptor)).map(Input::Other),
        }
    }

    fn into_output(self) -> io::Result<Output> {
        match self.kind() {
            FileType::Fifo => {
                let reopened = self.reopen(|path| pipe::OpenOptions::new().open_sender(path));
                RestoreBlocking::pipe(self, reopened, pipe::Sender::from_owned_fd).map(Output::Pipe)
            }
            FileType::Socket => self.into_socket().map(Output::Socket),
            _ => ThreadWriter::start(File::from(self.descriptor)).map(Output::Other),
        }
    }

    /// Reopens the pipe with a new open file description. Not always possible:
    /// `/proc` may be missing, or the pipe may belong to another user.
    fn reopen<P>(&self, open: impl FnOnce(&Path) -> io::Result<P>) -> Option<P> {
        if !cfg!(target_os = "linux") {
            return None;
        }
        let path = PathBuf::from(format!("/proc/self/fd/{}", self.descriptor.as_raw_fd()));
        // A reopened named pipe would not notice that its writers are gone, and
        // would never end.
        let name = path.read_link().ok()?;
        if !name.as_os_str().as_bytes().starts_with(b"pipe:") {
            return None;
        }
        open(&path).ok()
    }

    fn into_socket(self) -> io::Result<RestoreBlocking<UnixStream>> {
        let blocking = self.blocking;
        let socket = net::UnixStream::from(self.descriptor);
        socket.set_nonblocking(true)?;
        let inner = UnixStream::from_std(socket)?;
        Ok(RestoreBlocking { inner, blocking })
    }
}

/// A stream whose open file description may be shared. Dropping it restores the
/// blocking mode.
pub(super) struct RestoreBlocking<T: AsFd> {
    inner: T,
    /// Whether to make it blocking again.
    blocking: bool,
}

impl<T: AsFd> RestoreBlocking<T> {
    fn pipe(
        stream: OwnedStream,
        reopened: Option<T>,
        from_fd: impl FnOnce(OwnedFd) -> io::Result<T>,
    ) -> io::Result<Self> {
        enlarge_pipe(&stream.descriptor);
        let blocking = stream.blocking && reopened.is_none();
        let inner = match reopened {
            Some(inner) => inner,
            None => from_fd(stream.descriptor)?,
        };
        Ok(Self { inner, blocking })
    }
}

impl<T: AsFd> Drop for RestoreBlocking<T> {
    fn drop(&mut self) {
        if self.blocking {
            // Other processes may have set other flags since.
            let flags = fcntl_getfl(&self.inner);
            let _ = flags.and_then(|flags| fcntl_setfl(&self.inner, flags - OFlags::NONBLOCK));
        }
    }
}

/// Enlarges the pipe, so a large frame needs fewer writes. Failing to do so is
/// harmless.
#[cfg(target_os = "linux")]
fn enlarge_pipe(pipe: &OwnedFd) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};

    if fcntl_getpipe_size(pipe).is_ok_and(|size| size < PIPE_BYTES) {
        let _ = fcntl_setpipe_size(pipe, PIPE_BYTES);
    }
}

#[cfg(not(target_os = "linux"))]
fn enlarge_pipe(_pipe: &OwnedFd) {}

/// The standard input.
pub(super) enum Input {
    Pipe(RestoreBlocking<pipe::Receiver>),
    /// Node.js gives sockets to its children.
    Socket(RestoreBlocking<UnixStream>),
    Other(ThreadReader),
}

/// The standard output.
pub(super) enum Output {
    Pipe(RestoreBlocking<pipe::Sender>),
    Socket(RestoreBlocking<UnixStream>),
    Other(ThreadWriter),
}

impl AsyncRead for Input {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(&mut pipe.inner).poll_read(cx, buffer),
            Self::Socket(socket) => Pin::new(&mut socket.inner).poll_read(cx, buffer),
            Self::Other(thread) => Pin::new(thread).poll_read(cx, buffer),
        }
    }
}

impl Output {
    fn writer(self: Pin<&mut Self>) -> Pin<&mut (dyn AsyncWrite + Send + Unpin)> {
        match self.get_mut() {
            Self::Pipe(pipe) => Pin::new(&mut pipe.inner),
            Self::Socket(socket) => Pin::new(&mut socket.inner),
            Self::Other(thread) => Pin::new(thread),
        }
    }
}

impl AsyncWrite for Output {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        self.writer().poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        true
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.writer().poll_shutdown(cx)
    }
}
