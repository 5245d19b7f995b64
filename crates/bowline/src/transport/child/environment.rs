//! The environment variables that a child process inherits.

use std::ffi::{OsStr, OsString};

/// The variables of this process that a child inherits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InheritedEnv {
    /// Variables that programs need to run and that hold no secrets.
    Safe,
    All,
    None,
}

/// User, shell and search path, as the official SDKs pass on; also language and
/// time zone, the folders for temporary and user files, and the trusted
/// certificates.
#[cfg(not(windows))]
const SAFE_VARIABLES: &[&str] = &[
    "HOME",
    "LANG",
    "LANGUAGE",
    "LOGNAME",
    "PATH",
    "SHELL",
    "SSL_CERT_DIR",
    "SSL_CERT_FILE",
    "TERM",
    "TMPDIR",
    "TZ",
    "USER",
];

/// As above; some programs do not start without these.
#[cfg(windows)]
const SAFE_VARIABLES: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOMEDRIVE",
    "HOMEPATH",
    "LOCALAPPDATA",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMDATA",
    "PROGRAMFILES",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TMP",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

/// Prefixes of variables for languages and folders.
#[cfg(not(windows))]
const SAFE_PREFIXES: &[&str] = &["LC_", "XDG_"];
#[cfg(windows)]
const SAFE_PREFIXES: &[&str] = &[];

/// Proxies, for networks that can only be left through one.
const PROXIES: &[&str] = &["ALL_PROXY", "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY"];

/// Returns the variables of this process that are passed on by default.
pub(super) fn safe_variables() -> impl Iterator<Item = (OsString, OsString)> {
    std::env::vars_os().filter(|(name, value)| is_safe(name, value))
}

fn is_safe(name: &OsStr, value: &OsStr) -> bool {
    let (Some(name), value) = (name.to_str(), value.to_string_lossy()) else {
        return false;
    };
    // An exported shell function, which the child's shell would run.
    if value.starts_with("()") {
        return false;
    }
    if PROXIES.iter().any(|proxy| name.eq_ignore_ascii_case(proxy)) {
        // A password may precede the host.
        return !value.contains('@');
    }
    let matches_name = |listed: &&str| match cfg!(windows) {
        true => name.eq_ignore_ascii_case(listed),
        false => name == *listed,
    };
    SAFE_VARIABLES.iter().any(matches_name)
        || SAFE_PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(expected: bool, variables: &[(&str, &str)]) {
        for (name, value) in variables {
            let found = is_safe(OsStr::new(name), OsStr::new(value));
            assert_eq!(found, expected, "{name}={value}");
        }
    }

    #[test]
    fn what_programs_need_is_passed_on() {
        check(
            true,
            &[("PATH", "/bin"), ("HTTPS_PROXY", "http://proxy:3128")],
        );
        check(true, &[("no_proxy", "localhost")]);
        #[cfg(unix)]
        check(
            true,
            &[("LC_ALL", "C"), ("XDG_CACHE_HOME", "/c"), ("HOME", "/h")],
        );
    }

    #[test]
    fn secrets_and_functions_of_shells_are_not() {
        check(
            false,
            &[
                ("MCP_GIT_HUB_TOKEN", "s3cr3t"),
                ("AWS_SECRET_ACCESS_KEY", "s3cr3t"),
                ("SSH_AUTH_SOCK", "/tmp/agent"),
                ("HTTPS_PROXY", "http://me:s3cr3t@proxy:3128"),
                ("PATH", "() { :; }; echo"),
            ],
        );
    }
}
