//! Opening a browser, without a shell.

use std::{
    io,
    process::{Command, Stdio},
};

/// Opens a URL with the system's default program.
///
/// The URL is a single argument of a program and begins with `http`: no shell
/// interprets it, and it cannot be taken for an option.
pub(super) fn open(url: &str) -> io::Result<()> {
    if !(url.starts_with("https://") || url.starts_with("http://")) {
        return Err(io::Error::other("not an http or https URL"));
    }
    let mut command = opener();
    command
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn()?;
    // Some openers run for as long as the browser does.
    std::thread::spawn(move || child.wait());
    Ok(())
}

#[cfg(target_os = "macos")]
fn opener() -> Command {
    Command::new("/usr/bin/open")
}

#[cfg(windows)]
fn opener() -> Command {
    let mut command = Command::new("rundll32");
    command.arg("url.dll,FileProtocolHandler");
    command
}

#[cfg(not(any(target_os = "macos", windows)))]
fn opener() -> Command {
    Command::new("xdg-open")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_web_pages_are_opened() {
        for url in [
            "file:///etc/passwd",
            "--help",
            "javascript:x",
            "ssh://x",
            "HTTP",
        ] {
            assert!(open(url).is_err(), "{url}");
        }
    }
}
