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

/// The same command with a lower priority, where there are priorities, for work that
/// must not slow down what runs beside it.
pub fn with_low_priority(command: Command) -> Command {
    if !cfg!(unix) {
        return command;
    }
    let mut nice = Command::new("nice");
    nice.args(["-n", "10"]).arg(command.get_program());
    nice.args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => nice.env(name, value),
            None => nice.env_remove(name),
        };
    }
    if let Some(folder) = command.get_current_dir() {
        nice.current_dir(folder);
    }
    nice
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn a_lower_priority_changes_nothing_else() {
        let mut command = Command::new("sh");
        command.args(["-c", "echo $(nice) $NAME ${PATH-none} $PWD"]);
        command.env("NAME", "value").current_dir("/");
        let usual = command.output().expect("it starts").stdout;
        let low = with_low_priority(command).output();
        let low = low.expect("it starts").stdout;
        let usual = String::from_utf8(usual).expect("text");
        let (priority, rest) = usual.split_once(' ').expect("two words");
        let priority: i32 = priority.parse().expect("a number");
        // 19 is the lowest.
        let expected = format!("{} {rest}", (priority + 10).min(19));
        assert_eq!(String::from_utf8(low).expect("text"), expected);
    }
}
