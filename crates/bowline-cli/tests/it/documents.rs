//! Every command line in the README and the guides is run.
//!
//! Blocks of `console` are transcripts: what is typed, and what comes of it.
//! They are run as those of `tests/cmd` are, each document in a home and a
//! folder of its own, and `TRYCMD=overwrite` writes them anew. Blocks of `sh`
//! are lines to copy. A block or a line of a kind that nobody runs is a fault.

use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    time::Duration,
};

use crate::{
    peers::{node, top},
    rig::{self, BOWLINE, Rig},
    web::{Answer, serve},
};

/// What the server from npm is in documents, where a test takes the pinned one.
const EVERYTHING: &str = "npx -y @modelcontextprotocol/server-everything";

/// A block of code in a document.
struct Block {
    kind: String,
    lines: Vec<String>,
}

fn documents() -> Vec<PathBuf> {
    let guides = fs::read_dir(top().join("docs").join("guides")).expect("there are guides");
    let guides = guides.map(|entry| entry.expect("it can be read").path());
    let mut all: Vec<PathBuf> = guides
        .filter(|path| path.extension().is_some_and(|it| it == "md"))
        .collect();
    all.push(top().join("README.md"));
    all.sort();
    all
}

fn blocks(document: &Path) -> Vec<Block> {
    let text = fs::read_to_string(document).expect("it can be read");
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for line in text.lines() {
        match (line.trim_start().strip_prefix("```"), &mut open) {
            (Some(kind), None) => {
                let kind = kind.to_owned();
                open = Some(Block {
                    kind,
                    lines: Vec::new(),
                });
            }
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (None, Some(block)) => block.lines.push(line.to_owned()),
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "{}: a block has no end", document.display());
    blocks
}

fn has(document: &Path, kind: &str) -> bool {
    blocks(document).iter().any(|block| block.kind == kind)
}

#[test]
fn blocks_are_of_kinds_that_are_run_or_are_no_commands() {
    for document in documents() {
        for Block { kind, .. } in blocks(&document) {
            let language = kind.split(',').next().unwrap_or_default();
            let known = match language {
                "rust" => !kind.contains("ignore"),
                "json" | "toml" | "text" | "console" | "sh" => language == kind,
                _ => false,
            };
            let document = document.display();
            assert!(known, "{document}: nobody runs a block of `{kind}`");
        }
    }
}

/// Figures of the suite that the README gives are those that were found last.
#[test]
fn the_readme_does_not_boast() {
    let read = |name: &str| fs::read_to_string(top().join(name)).expect("it can be read");
    let (readme, results) = (read("README.md"), read("conformance/RESULTS.md"));
    let is_number = |word: &str| word.parse::<u32>().is_ok();
    let words: Vec<&str> = readme
        .split(|letter: char| !letter.is_alphanumeric())
        .collect();
    let figures = words
        .windows(3)
        .filter(|it| is_number(it[0]) && it[1] == "of" && is_number(it[2]));
    let figures: Vec<String> = figures.map(|it| it.join(" ")).collect();
    assert!(figures.len() >= 4, "{figures:?}");
    for figure in figures {
        assert!(results.contains(&figure), "{figure} is not in the results");
    }
}

/// The guide's code is compiled with a client for the server that is built in.
#[test]
fn the_lock_of_the_guide_to_typed_clients_is_up_to_date() {
    let lock = top().join("docs").join("guides").join("typed-clients.lock");
    let lock = lock.to_string_lossy();
    let checked = Rig::empty().run(&["lock", "--check", "--file", &lock]);
    assert_eq!(checked.code, Some(0), "{checked:?}");
}

/// Ends a command by a signal as soon as it has said something.
#[cfg(unix)]
fn ended_by(rig: &Rig, signal: &str, words: &[&str]) -> Option<i32> {
    use std::io::Read as _;
    let mut child = rig.command(words).spawn().expect("it starts");
    let mut said = child.stderr.take().expect("it is piped");
    said.read_exact(&mut [0]).expect("it says something");
    let kill = Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(kill.expect("it starts").success());
    child.wait().expect("it ends").code()
}

/// Every row of the guide's table of exit codes can be seen.
#[cfg(unix)]
#[test]
fn exit_codes_are_what_the_guide_says() {
    let guide = top().join("docs").join("guides").join("the-command.md");
    let guide = fs::read_to_string(guide).expect("it can be read");
    let rows = guide.lines().filter_map(|line| {
        let first = line.strip_prefix("| ")?.split(" |").next()?;
        first.parse::<i32>().ok()
    });
    let rows: Vec<i32> = rows.collect();
    let rig = Rig::empty();
    let run = |words: &[&str]| rig.run(words).code;
    let watch = ["watch", "demo"];
    let unread = || {
        let mut child = rig.command(&["watch", "demo", "clock://now"]).spawn();
        let child = child.as_mut().expect("it starts");
        drop(child.stdout.take());
        child.wait().expect("it ends").code()
    };
    let stranger = serve(|_| Answer::refuse("401 Unauthorized", ""));
    for row in &rows {
        let seen = match row {
            0 => run(&["ping", "demo"]),
            1 => run(&["ping", "nobody"]),
            3 => run(&["ping", &stranger]),
            4 => run(&["ping", "--", "no-such-command"]),
            5 => run(&["call", "demo.fail"]),
            124 => run(&["call", "demo.slow", "--timeout", "0.2"]),
            130 => ended_by(&rig, "-INT", &watch),
            141 => unread(),
            143 => ended_by(&rig, "-TERM", &watch),
            _ => panic!("nobody knows how to come to the exit code {row}"),
        };
        assert_eq!(seen, Some(*row));
    }
    assert!(rows.len() > 5, "{rows:?}");
}

#[test]
fn transcripts_in_documents_are_true() {
    let with_transcripts: Vec<PathBuf> = (documents().into_iter())
        .filter(|document| has(document, "console"))
        .collect();
    for expected in ["README.md", "the-command.md"] {
        let there = with_transcripts.iter().any(|path| path.ends_with(expected));
        assert!(there, "{expected} has transcripts");
    }
    for document in with_transcripts {
        check_transcripts(&document);
    }
}

fn check_transcripts(document: &Path) {
    let rig = Rig::empty();
    let copy = rig
        .work()
        .join(document.file_name().expect("it has a name"));
    fs::copy(document, &copy).expect("it can be copied");
    // The folder in which the runner lets the commands run.
    fs::create_dir(copy.with_extension("in")).expect("it can be made");
    let cases = trycmd::TestCases::new();
    cases
        .register_bin("bowline", Path::new(BOWLINE))
        .timeout(Duration::from_secs(60));
    for (name, value) in rig::environment(&rig.home()) {
        cases.env(name, value);
    }
    cases.env("PATH", path_with_bowline());
    cases.case(&copy).run();
    if std::env::var("TRYCMD").is_ok_and(|wanted| wanted == "overwrite") {
        fs::copy(&copy, document).expect("it can be written");
    }
}

/// A server may be the command itself, as people have it installed.
fn path_with_bowline() -> String {
    let folder = Path::new(BOWLINE).parent().expect("it lies in a folder");
    let others = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_owned()].into_iter();
    let folders = folders.chain(std::env::split_paths(&others));
    let path = std::env::join_paths(folders).expect("they are folders");
    path.into_string().expect("the paths are text")
}

#[test]
fn lines_to_copy_work() {
    let count = check_lines(|line| !line.contains(EVERYTHING));
    assert!(count >= 2, "only {count} lines were found");
}

/// The tests that need the server from npm: `cargo xtask test --core` leaves out
/// modules of this name.
mod peers {
    use super::{EVERYTHING, check_lines};

    #[test]
    fn lines_to_copy_work() {
        let count = check_lines(|line| line.contains(EVERYTHING));
        assert!(count >= 1, "only {count} lines were found");
    }
}

/// Checks the lines that are wanted, and gives their number.
fn check_lines(is_wanted: impl Fn(&str) -> bool) -> usize {
    let mut count = 0;
    for document in documents() {
        let blocks = blocks(&document).into_iter();
        for line in blocks.filter(|it| it.kind == "sh").flat_map(|it| it.lines) {
            let line = without_remark(&line);
            if !line.is_empty() && is_wanted(line) {
                check_line(&document.display().to_string(), line);
                count += 1;
            }
        }
    }
    count
}

fn without_remark(line: &str) -> &str {
    let end = match line.starts_with('#') {
        true => 0,
        false => line.find(" #").unwrap_or(line.len()),
    };
    line[..end].trim()
}

#[track_caller]
fn check_line(document: &str, line: &str) {
    assert!(
        !line.contains(['\'', '"', '\\', '|', '>', '&', ';', '$']),
        "{document}: `{line}` would need a shell",
    );
    let line = match line.contains(EVERYTHING) {
        true => line.replace(EVERYTHING, &node("mcp-server-everything")),
        false => line.to_owned(),
    };
    let words: Vec<&str> = line.split_whitespace().collect();
    match &words[..] {
        ["cargo", "run", "-p", "bowline-cli", "--", rest @ ..] => {
            let ran = Rig::empty().run(rest);
            assert_eq!(ran.code, Some(0), "{document}: {line}: {ran:?}");
        }
        ["cargo", "run", rest @ ..] if rest.contains(&"--example") => {
            let told = cargo(&[&["run", "--offline", "--quiet"], profile(), rest].concat());
            assert!(!told.trim().is_empty(), "{document}: {line} says nothing");
        }
        // To run them would be to run this test again.
        ["cargo", "xtask", verb] => {
            let verbs = cargo(&["xtask", "help"]);
            let mut verbs = verbs.lines().filter_map(|it| it.split_whitespace().next());
            assert!(verbs.any(|known| known == *verb), "{document}: {line}");
        }
        _ => panic!("{document}: nobody runs `{line}`"),
    }
}

/// The profile that this test was built with, so that nothing is built twice.
fn profile() -> &'static [&'static str] {
    match cfg!(debug_assertions) {
        true => &[],
        false => &["--release"],
    }
}

/// What cargo says on standard output, when all goes well.
#[track_caller]
fn cargo(words: &[&str]) -> String {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let mut command = Command::new(cargo);
    let child = command
        .args(words)
        .current_dir(top())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("cargo starts");
    let output = child.wait_with_output().expect("it ends");
    let remarks = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo {words:?}: {remarks}");
    String::from_utf8(output.stdout).expect("it is text")
}
