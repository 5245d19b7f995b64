//! Opening a page in the user's browser, without a shell.

use std::{env, ffi::OsString, io, process::Stdio, time::Duration};

use tokio::{process::Command, time};

/// How long a browser has to report that it cannot be started.
const START_TIMEOUT: Duration = Duration::from_secs(2);

/// Opens a page in the user's browser: with a command of the variable `BROWSER` if it is
/// set, else with the system's default program.
///
/// `BROWSER` is a list of commands, separated by `:` (by `;` on Windows). They are tried
/// in order until one works. `%s` in a command is the URL; if it has none, the URL is its
/// last argument.
///
/// The URL is a single argument of a program and begins with `http`: no shell interprets
/// it, and it cannot be taken for an option.
///
/// # Errors
///
/// Returns an error if the URL is not an `http` or `https` URL, if no browser is
/// configured and there is no display, or if no browser could be started.
pub async fn open_browser(url: &str) -> io::Result<()> {
    open(url, |name| env::var_os(name)).await
}

async fn open(url: &str, variable: impl Fn(&str) -> Option<OsString>) -> io::Result<()> {
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        let message = "not an http or https URL";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, message));
    }
    let commands = commands(url, variable);
    if commands.is_empty() {
        let message = "no browser found; set BROWSER to the command of one";
        return Err(io::Error::new(io::ErrorKind::NotFound, message));
    }
    for words in commands {
        if start(&words).await {
            return Ok(());
        }
    }
    Err(io::Error::other("no browser could be started"))
}

/// Starts a program, and returns whether it did not fail immediately. Some run as long as
/// the page is open.
async fn start(words: &[String]) -> bool {
    let Some((program, args)) = words.split_first() else {
        return false;
    };
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // Ctrl-C must not close the browser.
    #[cfg(unix)]
    command.process_group(0);
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    match time::timeout(START_TIMEOUT, child.wait()).await {
        Ok(exit) => exit.is_ok_and(|status| status.success()),
        Err(_) => true,
    }
}

/// Returns the commands to try: the user's choice, or the system's.
fn commands(url: &str, variable: impl Fn(&str) -> Option<OsString>) -> Vec<Vec<String>> {
    let set = |name| variable(name).filter(|value| !value.is_empty());
    if let Some(chosen) = set("BROWSER") {
        return parse_commands(&chosen.to_string_lossy(), url);
    }
    let words = |words: &[&str]| vec![words.iter().map(|word| (*word).to_owned()).collect()];
    if cfg!(windows) {
        return words(&["rundll32", "url.dll,FileProtocolHandler", url]);
    }
    if cfg!(target_os = "macos") {
        return words(&["/usr/bin/open", url]);
    }
    // Without a display, the opener may take over the terminal.
    match set("DISPLAY").or_else(|| set("WAYLAND_DISPLAY")) {
        Some(_) => words(&["xdg-open", url]),
        None => Vec::new(),
    }
}

/// Parses the value of `BROWSER`.
fn parse_commands(text: &str, url: &str) -> Vec<Vec<String>> {
    let separator = if cfg!(windows) { ';' } else { ':' };
    let command = |command: &str| {
        let mut words: Vec<String> = command.split_whitespace().map(str::to_owned).collect();
        if words.iter().any(|word| word.contains("%s")) {
            for word in &mut words {
                *word = word.replace("%s", url);
            }
        } else {
            words.push(url.to_owned());
        }
        words
    };
    let commands = text.split(separator);
    let commands = commands.filter(|command| !command.trim().is_empty());
    commands.map(command).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Opens a page in an environment with one variable.
    async fn open_with(name: &str, value: &str, url: &str) -> io::Result<()> {
        open(url, |asked| (asked == name).then(|| value.into())).await
    }

    #[tokio::test]
    async fn only_web_pages_are_opened() {
        for url in [
            "file:///etc/passwd",
            "--help",
            "javascript:x",
            "ssh://x",
            "HTTP",
        ] {
            // The command would succeed.
            let error = open_with("BROWSER", "true", url).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::InvalidInput, "{url}");
        }
    }

    #[tokio::test]
    #[cfg(unix)]
    async fn the_first_command_that_works_opens_the_page() {
        let url = "https://a.example/";
        for (commands, works) in [
            ("true", true),
            ("false", false),
            ("no-such-browser:false:true", true),
            ("no-such-browser", false),
        ] {
            let opened = open_with("BROWSER", commands, url).await;
            assert_eq!(opened.is_ok(), works, "{commands}: {opened:?}");
        }
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn without_a_choice_the_display_decides() {
        let url = "https://a.example/";
        let with =
            |name: &str, value: &str| commands(url, |asked| (asked == name).then(|| value.into()));
        for name in ["DISPLAY", "WAYLAND_DISPLAY"] {
            assert_eq!(with(name, ":0"), [["xdg-open", url]]);
            assert!(with(name, "").is_empty());
        }
        assert!(with("BROWSER", "").is_empty(), "an empty choice is none");
        assert_eq!(with("BROWSER", "w3m"), [["w3m", url]]);
    }

    #[test]
    #[cfg(unix)]
    fn the_variable_names_commands() {
        let url = "https://a.example/?x=$(y)";
        let commands = parse_commands("firefox -P me:w3m %s --quiet:", url);
        let words: Vec<String> = commands.iter().map(|words| words.join("|")).collect();
        let expected = [format!("firefox|-P|me|{url}"), format!("w3m|{url}|--quiet")];
        assert_eq!(words, expected);
    }
}
