//! Counting what a program does, with valgrind's callgrind.
//!
//! Instructions and allocations are the same from run to run, whatever else
//! the machine does. To leave out what a program does once, it runs twice: with
//! N calls, and with 2 N. The difference is what N calls cost.

use std::{
    collections::HashMap,
    fs,
    ops::Sub,
    path::{Path, PathBuf},
    process::Command,
    sync::atomic::{AtomicUsize, Ordering},
};

use crate::Failure;

/// What a program did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Count {
    pub(crate) instructions: u64,
    pub(crate) allocations: u64,
}

impl Sub for Count {
    type Output = Self;

    fn sub(self, less: Self) -> Self {
        Self {
            instructions: self.instructions.saturating_sub(less.instructions),
            allocations: self.allocations.saturating_sub(less.allocations),
        }
    }
}

impl Count {
    /// What one of so many costs.
    pub(crate) fn each(self, times: usize) -> (f64, f64) {
        let times = times.max(1) as f64;
        (
            self.instructions as f64 / times,
            self.allocations as f64 / times,
        )
    }
}

/// A file for what callgrind finds, removed in the end.
pub(crate) struct Found(PathBuf);

impl Found {
    /// A new one.
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("bowline-bench-{}-{number}.callgrind", std::process::id());
        Self(std::env::temp_dir().join(name))
    }

    /// What to put before a command line.
    pub(crate) fn prefix(&self) -> [String; 4] {
        [
            "valgrind".to_owned(),
            "--tool=callgrind".to_owned(),
            "-q".to_owned(),
            format!("--callgrind-out-file={}", self.0.display()),
        ]
    }

    /// Reads it, once the program has ended.
    pub(crate) fn count(&self) -> Result<Count, Failure> {
        read(&self.0)
    }
}

impl Drop for Found {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// Whether valgrind is there.
pub(crate) fn present() -> Result<(), Failure> {
    match Command::new("valgrind").arg("--version").output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err("valgrind is missing; `apt-get install valgrind` gets it".to_owned()),
    }
}

/// Counts what the difference between N and 2 N of something costs, each.
pub(crate) fn each(
    times: usize,
    run: impl Fn(&Found, usize) -> Result<(), Failure>,
) -> Result<(f64, f64), Failure> {
    let count = |times| {
        let found = Found::new();
        run(&found, times)?;
        found.count()
    };
    Ok((count(2 * times)? - count(times)?).each(times))
}

/// Runs a program under callgrind to its end.
pub(crate) fn run(found: &Found, command: &Command) -> Result<(), Failure> {
    let [valgrind, options @ ..] = found.prefix();
    let mut wrapped = Command::new(valgrind);
    wrapped
        .args(options)
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => wrapped.env(name, value),
            None => wrapped.env_remove(name),
        };
    }
    let output = wrapped
        .output()
        .map_err(|error| format!("{wrapped:?}: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!(
            "{wrapped:?}: {}\n{}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        )),
    }
}

fn read(path: &Path) -> Result<Count, Failure> {
    let text = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&String::from_utf8_lossy(&text))
        .ok_or_else(|| format!("{}: not what callgrind writes", path.display()))
}

/// The functions that ask the system for memory.
const ALLOCATORS: [&str; 5] = [
    "malloc",
    "calloc",
    "realloc",
    "posix_memalign",
    "aligned_alloc",
];

/// A name follows its number where it comes first: `cfn=(7) malloc`, then
/// `cfn=(7)`. How often it was called is in the next line that says `calls=`.
fn parse(text: &str) -> Option<Count> {
    let mut names: HashMap<&str, &str> = HashMap::new();
    let (mut instructions, mut allocations) = (None, 0);
    let mut called = "";
    for line in text.lines() {
        if let Some(total) = line.strip_prefix("totals: ") {
            instructions = total.split(' ').next()?.parse().ok();
        } else if let Some(calls) = line.strip_prefix("calls=") {
            if names
                .get(called)
                .is_some_and(|name| ALLOCATORS.contains(name))
            {
                allocations += calls.split(' ').next()?.parse::<u64>().ok()?;
            }
        } else if let Some((is_called, name)) = function(line) {
            let (number, name) = name.split_once(')')?;
            if let Some(name) = name.strip_prefix(' ') {
                names.insert(number, name);
            }
            if is_called {
                called = number;
            }
        }
    }
    Some(Count {
        instructions: instructions?,
        allocations,
    })
}

fn function(line: &str) -> Option<(bool, &str)> {
    let callee = line.strip_prefix("cfn=(").map(|name| (true, name));
    callee.or_else(|| line.strip_prefix("fn=(").map(|name| (false, name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_callgrind_writes_is_understood() {
        let text = "fn=(1) main\n0 5\ncfn=(2) malloc\ncalls=3 0\n0 90\ncfn=(3) work\ncalls=1 0\n\
                    fn=(3)\ncfn=(2)\ncalls=4 0\n0 10\ncfn=(4) realloc\ncalls=1 0\n\n\
                    fn=(2)\n0 80\n\ntotals: 12345\n";
        let count = Count {
            instructions: 12345,
            allocations: 8,
        };
        assert_eq!(parse(text), Some(count));
        assert_eq!(parse("nothing"), None);
    }
}
