//! Running other programs.

use std::process::Command;

use crate::Failure;

/// Runs a command and waits until it exits. Fails if it cannot be started or
/// does not succeed; `hint` says what to do then.
pub fn run(mut command: Command, hint: &str) -> Result<(), Failure> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command
        .status()
        .map_err(|error| format!("cannot start `{name}`: {error} ({hint})"))?;
    if status.success() {
        Ok(())
    } else {
        Err(format!("`{name}` failed: {status} ({hint})"))
    }
}

/// The same command with a lower priority, where there is `nice`.
pub fn with_lower_priority(command: &Command) -> Command {
    let mut nice = if cfg!(unix) {
        let mut nice = Command::new("nice");
        nice.arg(command.get_program());
        nice
    } else {
        Command::new(command.get_program())
    };
    nice.args(command.get_args());
    if let Some(folder) = command.get_current_dir() {
        nice.current_dir(folder);
    }
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    nice
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lower_priority_changes_nothing_else() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $GREETING; pwd; nice"]);
        command.env("GREETING", "hello").current_dir("/");
        let run = |mut command: Command| {
            let output = command.output().expect("it runs");
            let text = String::from_utf8(output.stdout).expect("it is text");
            let (rest, niceness) = text.trim_end().rsplit_once('\n').expect("three lines");
            (rest.to_owned(), niceness.parse::<i32>().expect("a number"))
        };
        let (with, niceness) = run(with_lower_priority(&command));
        let (without, usual) = run(command);
        assert_eq!((&*with, &*without), ("hello\n/", "hello\n/"));
        assert!(niceness > usual, "{niceness}, {usual}");
    }
}
