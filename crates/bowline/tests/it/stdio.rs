//! A program that is a server on its own standard streams.

use std::{
    fs,
    future::poll_fn,
    io::pipe,
    os::{
        fd::{AsFd, OwnedFd},
        unix::net::UnixStream as StdUnixStream,
    },
    path::{Path, PathBuf},
    process::{self, ExitStatus, Stdio},
    sync::{Arc, Mutex},
};

use bowline::transport::{
    ChildProcess, ConnectionErrorKind, DialOptions, Link, LinkEvent, OutgoingFrame, StderrPolicy,
    Transport as _,
};
use rustix::fs::{OFlags, fcntl_getfl};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _},
    net::UnixStream,
    process::{Child, Command},
};

use crate::process::{example, within};

/// What the streams are.
#[derive(Clone, Copy, Debug, PartialEq)]
enum StdioKind {
    Pipes,
    /// As Node.js does it.
    Sockets,
    /// As a super-server does it.
    OneSocket,
}

const STDIO_KINDS: [StdioKind; 3] = [StdioKind::Pipes, StdioKind::Sockets, StdioKind::OneSocket];

/// The program and our ends of its streams.
struct Echo {
    child: Child,
    input: Box<dyn AsyncWrite + Send + Unpin>,
    output: Box<dyn AsyncRead + Send + Unpin>,
    /// Its ends, as a script that started it would still have them.
    shared: [OwnedFd; 2],
}

/// What was written and how it ended.
struct Said {
    output: Vec<u8>,
    errors: String,
    status: ExitStatus,
}

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(example("stdio_echo"));
    command.args(arguments).kill_on_drop(true);
    command
}

fn start(kind: StdioKind, arguments: &[&str]) -> Echo {
    let mut command = program(arguments);
    let (ours, theirs) = ends(kind);
    let shared = theirs
        .each_ref()
        .map(|end| end.try_clone().expect("a copy"));
    let [stdin, stdout] = theirs;
    let child = command
        .stdin(stdin)
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    Echo {
        child,
        input: ours.0,
        output: ours.1,
        shared,
    }
}

type Ours = (
    Box<dyn AsyncWrite + Send + Unpin>,
    Box<dyn AsyncRead + Send + Unpin>,
);

/// Our ends, and the program's input and output.
fn ends(kind: StdioKind) -> (Ours, [OwnedFd; 2]) {
    use tokio::net::unix::pipe::{Receiver, Sender};
    match kind {
        StdioKind::Pipes => {
            let (stdin, input) = pipe().expect("a pipe");
            let (output, stdout) = pipe().expect("a pipe");
            let input = Sender::from_owned_fd(input.into()).expect("a pipe");
            let output = Receiver::from_owned_fd(output.into()).expect("a pipe");
            let theirs = [stdin.into(), stdout.into()];
            ((Box::new(input), Box::new(output)), theirs)
        }
        StdioKind::Sockets => {
            let (input, stdin) = socket();
            let (output, stdout) = socket();
            ((Box::new(input), Box::new(output)), [stdin, stdout])
        }
        StdioKind::OneSocket => {
            let (ours, theirs) = socket();
            let (output, input) = ours.into_split();
            let stdout = theirs.try_clone().expect("a copy");
            ((Box::new(input), Box::new(output)), [theirs, stdout])
        }
    }
}

fn socket() -> (UnixStream, OwnedFd) {
    let (ours, theirs) = StdUnixStream::pair().expect("sockets");
    ours.set_nonblocking(true).expect("a flag");
    let ours = UnixStream::from_std(ours).expect("there is a runtime");
    (ours, theirs.into())
}

impl Echo {
    /// Writes all of this, ends the input, and reads to the end.
    async fn talk(mut self, text: &[u8]) -> Said {
        // It alone holds its ends now, so that its end is the streams' end.
        drop(self.shared);
        let (mut input, mut output) = (self.input, self.output);
        let write = async move {
            input.write_all(text).await.expect("it reads");
            input.shutdown().await.expect("it has read");
            drop(input);
        };
        let mut read = Vec::new();
        let both = async { tokio::join!(write, output.read_to_end(&mut read)) };
        within("the conversation", both).await.1.expect("it writes");
        let (errors, status) = end(&mut self.child).await;
        Said {
            output: read,
            errors,
            status,
        }
    }

    /// Sends a line and reads one.
    async fn ask(&mut self, line: &str) -> String {
        let line = format!("{line}\n");
        let asked = self.input.write_all(line.as_bytes());
        within("the question", asked).await.expect("it reads");
        let mut answer = Vec::new();
        while answer.last() != Some(&b'\n') {
            let byte = within("the answer", self.output.read_u8()).await;
            answer.push(byte.expect("it writes"));
        }
        String::from_utf8(answer).expect("a line of text")
    }

    /// Whether its ends block, for those who share them.
    fn blocks(&self) -> [bool; 2] {
        self.shared.each_ref().map(|end| {
            let flags = fcntl_getfl(end.as_fd()).expect("it is open");
            !flags.contains(OFlags::NONBLOCK)
        })
    }
}

/// Waits for the program's end.
async fn end(child: &mut Child) -> (String, ExitStatus) {
    let mut errors = String::new();
    if let Some(mut stderr) = child.stderr.take() {
        let read = stderr.read_to_string(&mut errors);
        within("the messages", read).await.expect("they are text");
    }
    let status = within("the end", child.wait()).await;
    (errors, status.expect("it ends"))
}

/// Everything comes back, and the program ends well.
async fn check(kind: StdioKind, arguments: &[&str], text: &[u8], expected: &[u8]) {
    let said = start(kind, arguments).talk(text).await;
    let context = format!("{kind:?} {arguments:?}: {}", said.errors);
    assert!(
        said.output == expected,
        "{} instead of {} bytes; {context}",
        said.output.len(),
        expected.len()
    );
    assert_eq!(said.status.code(), Some(0), "{context}");
    assert_eq!(said.errors, "", "{context}");
}

fn small_frames() -> Vec<u8> {
    let lines = (0..10_000).map(|number| format!("{{\"number\":{number}}}\n"));
    lines.collect::<String>().into_bytes()
}

fn large_frames() -> Vec<u8> {
    let lines = (0..6u8).map(|number| {
        let mut line = vec![b'a' + number; 1_000_000 + usize::from(number)];
        line.push(b'\n');
        line
    });
    lines.collect::<Vec<_>>().concat()
}

#[tokio::test]
async fn small_frames_come_back_in_order() {
    for kind in STDIO_KINDS {
        for runtime in ["current", "multi"] {
            let text = small_frames();
            check(kind, &["echo", runtime], &text, &text).await;
        }
    }
}

#[tokio::test]
async fn large_frames_come_back_whole() {
    for kind in STDIO_KINDS {
        for runtime in ["current", "multi"] {
            let text = large_frames();
            check(kind, &["echo", runtime], &text, &text).await;
        }
    }
}

#[tokio::test]
async fn what_was_asked_before_the_end_is_answered_after_it() {
    for kind in STDIO_KINDS {
        let text = [small_frames(), large_frames()].concat();
        check(kind, &["late"], &text, &text).await;
    }
}

#[tokio::test]
async fn a_last_line_without_a_line_end_counts() {
    check(StdioKind::Pipes, &["echo"], b"a\n\nb", b"a\nb\n").await;
    check(StdioKind::Pipes, &["echo"], b"", b"").await;
}

#[tokio::test]
async fn closing_writes_what_is_queued() {
    for kind in STDIO_KINDS {
        let mut echo = start(kind, &["close", "multi"]);
        let text = [&[b'x'; 2_000_000][..], b"\n"].concat();
        let asked = echo.input.write_all(&text);
        within("the question", asked).await.expect("it reads");
        drop(echo.shared);
        let mut answer = Vec::new();
        let read = echo.output.read_to_end(&mut answer);
        within("the end of its output", read)
            .await
            .expect("it closes");
        assert!(answer == text, "{kind:?}: {} bytes", answer.len());
        // It stays although its streams are closed.
        echo.child.kill().await.expect("it is still there");
    }
}

#[tokio::test]
async fn the_program_ends_when_nobody_reads_it() {
    for kind in [StdioKind::Pipes, StdioKind::Sockets] {
        let mut echo = start(kind, &["echo"]);
        assert_eq!(echo.ask("a").await, "a\n");
        drop((echo.output, echo.shared));
        // Its input stays open: that its output is broken must be enough.
        within("a write", echo.input.write_all(b"b\n")).await.ok();
        let (errors, status) = end(&mut echo.child).await;
        assert_eq!(status.code(), Some(0), "{kind:?}: {errors}");
    }
}

#[tokio::test]
async fn those_who_share_the_streams_find_them_as_they_were() {
    for kind in STDIO_KINDS {
        let mut echo = start(kind, &["echo"]);
        assert_eq!(echo.ask("a").await, "a\n");
        // Sockets cannot do without the flag meanwhile.
        let alone = kind == StdioKind::Pipes && cfg!(target_os = "linux");
        assert_eq!(echo.blocks(), [alone; 2], "{kind:?}, during");
        within("the last write", echo.input.shutdown())
            .await
            .expect("it has read");
        drop(std::mem::replace(
            &mut echo.input,
            Box::new(tokio::io::sink()),
        ));
        let (errors, _) = end(&mut echo.child).await;
        assert_eq!(echo.blocks(), [true; 2], "{kind:?}, after: {errors}");
    }
}

/// A link to the program, and what it prints on its standard error.
async fn dialled() -> (Box<dyn Link>, Arc<Mutex<Vec<String>>>) {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&lines);
    let mut transport =
        ChildProcess::new(example("stdio_echo"))
            .arg("echo")
            .stderr(StderrPolicy::lines(move |line| {
                heard.lock().expect("no panic").push(line.to_owned());
            }));
    let dialled = transport.dial(DialOptions::default());
    let link = within("dialling", dialled).await.expect("it starts");
    (link, lines)
}

async fn ask(link: &mut Box<dyn Link>, text: &'static str) -> String {
    let frame = text.into();
    link.send(OutgoingFrame { id: None, frame })
        .expect("it is taken");
    let answer = poll_fn(|cx| {
        let _ = link.poll_flush(cx);
        link.poll_event(cx)
    });
    match within(text, answer).await {
        LinkEvent::Frame(frame) => String::from_utf8(frame.to_vec()).expect("text"),
        other => panic!("{text}: {other:?}"),
    }
}

#[tokio::test]
async fn what_is_printed_goes_to_the_standard_error() {
    let (mut link, lines) = dialled().await;
    for text in ["a", "print", "b", "start", "c"] {
        // A program that is started finds no input, or it would not end.
        assert_eq!(ask(&mut link, text).await, text);
    }
    // The last line comes after its answer, or before.
    let heard = async {
        while lines.lock().expect("no panic").len() < 2 {
            tokio::task::yield_now().await;
        }
    };
    within("what was printed", heard).await;
    assert_eq!(*lines.lock().expect("no panic"), ["printed", "started"]);
    link.close();
}

#[tokio::test]
async fn the_streams_are_taken_once() {
    let (mut link, _) = dialled().await;
    assert_eq!(ask(&mut link, "take").await, "Some(AlreadyExists)");
    link.close();
}

#[tokio::test]
async fn a_frame_over_the_limit_ends_the_program() {
    let (mut link, _) = dialled().await;
    let frame = vec![b'x'; 5 * 1024 * 1024].into();
    link.send(OutgoingFrame { id: None, frame })
        .expect("it is taken");
    let event = poll_fn(|cx| {
        let _ = link.poll_flush(cx);
        link.poll_event(cx)
    });
    let LinkEvent::Down(cause) = within("the end", event).await else {
        panic!("it cannot have been answered");
    };
    let exited = ConnectionErrorKind::Exited {
        code: Some(1),
        signal: None,
    };
    assert_eq!(*cause.kind(), exited);
    assert!(cause.to_string().contains("too large a frame"), "{cause}");
    link.close();
}

#[tokio::test]
async fn errors_that_would_go_among_the_frames_go_nowhere() {
    let path = example("stdio_echo");
    let mut command = Command::new("sh");
    let child = command
        .args(["-c", "exec \"$0\" echo 2>&1"])
        .arg(path)
        .kill_on_drop(true)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn();
    let mut child = child.expect("it starts");
    let mut input = child.stdin.take().expect("it is a pipe");
    let said = input.write_all(b"a\nprint\nstart\nb\n");
    within("the conversation", said).await.expect("it reads");
    drop(input);
    let said = within("the end", child.wait_with_output()).await;
    let said = said.expect("it ends");
    assert_eq!(said.stdout, b"a\nprint\nstart\nb\n");
    assert!(said.status.success(), "{}", said.status);
}

/// A folder of its own, which is gone after the test.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("stdio-{name}-{}", process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// What the program writes to a file when its input is `input`.
async fn check_file(folder: &Folder, input: impl Into<Stdio>, expected: &[u8]) {
    let path = folder.0.join("output");
    let output = fs::File::create(&path).expect("a file");
    let mut command = program(&["echo"]);
    let child = command.stdin(input).stdout(output).spawn();
    drop(command);
    let mut child = child.expect("it starts");
    let status = within("the end", child.wait()).await.expect("it ends");
    let written = fs::read(&path).expect("it was written");
    assert!(written == expected, "{} bytes", written.len());
    assert_eq!(status.code(), Some(0));
}

#[tokio::test]
async fn files_are_streams_too() {
    let folder = Folder::new("files");
    for text in [small_frames(), large_frames(), Vec::new()] {
        let path = folder.0.join("input");
        fs::write(&path, &text).expect("it is written");
        let input = fs::File::open(&path).expect("it is there");
        check_file(&folder, input, &text).await;
    }
    check_file(&folder, Stdio::null(), b"").await;
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_named_pipe_ends_although_its_writers_were_gone_before() {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::io::Write as _;

    let folder = Folder::new("fifo");
    let path = folder.0.join("fifo");
    mknodat(CWD, &path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a named pipe");
    let both = fs::File::options().read(true).write(true).open(&path);
    let mut both = both.expect("this does not wait for another one");
    let input = fs::File::open(&path).expect("there is a writer");
    both.write_all(b"a\nb\n").expect("there is room");
    drop(both);
    check_file(&folder, input, b"a\nb\n").await;
}
