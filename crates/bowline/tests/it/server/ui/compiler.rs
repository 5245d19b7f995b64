//! The compiler, with the library as a user's program would have it.

use std::{
    env,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use super::{normalize::normalize, workspace};

/// The crates that the cases use.
const EXTERNS: [&str; 3] = ["bowline", "schemars", "serde"];

pub(super) struct Compiler {
    /// The crates' names and files.
    externs: Vec<(&'static str, PathBuf)>,
}

impl Compiler {
    /// Has cargo check the library, and takes the files from its messages.
    pub(super) fn with_checked_library() -> Self {
        // An example has the development dependencies. With the features of the
        // whole workspace, the lints step has checked all dependencies already.
        let output = Command::new(env!("CARGO"))
            .args(["check", "--quiet", "--workspace", "--all-features"])
            .args(["--example", "server", "--message-format", "json"])
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .expect("cargo starts");
        let messages = String::from_utf8_lossy(&output.stdout);
        let artifacts: Vec<Value> = messages
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok())
            .filter(|message: &Value| message["reason"] == "compiler-artifact")
            .collect();
        let externs = EXTERNS.map(|name| {
            let file = artifacts.iter().find_map(|it| checked_file(it, name));
            let errors = String::from_utf8_lossy(&output.stderr);
            (
                name,
                file.unwrap_or_else(|| panic!("{name} was not checked: {errors}")),
            )
        });
        Self {
            externs: externs.into(),
        }
    }

    /// Compiles a case, which must fail, and returns the compiler's messages.
    pub(super) fn messages(&self, case: &Path) -> Result<String, String> {
        // The compiler remembers the library's sources relative to this folder.
        let workspace = workspace();
        let name = case.strip_prefix(workspace).unwrap_or(case);
        let mut rustc = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()));
        rustc
            .args(["--edition", "2024", "--crate-type", "bin"])
            .args([
                "--crate-name",
                "case",
                "--emit",
                "metadata",
                "-A",
                "dead_code",
            ])
            .arg("--out-dir")
            .arg(env!("CARGO_TARGET_TMPDIR"))
            .arg(name)
            .current_dir(workspace);
        for (name, file) in &self.externs {
            let folder = file.parent().unwrap_or(file);
            rustc.arg("--extern");
            rustc.arg(format!("{name}={}", file.display()));
            rustc.arg("-L");
            rustc.arg(format!("dependency={}", folder.display()));
        }
        let output = rustc.output().map_err(|error| format!("rustc: {error}"))?;
        if output.status.success() {
            return Err(format!("{} compiles, and should not", name.display()));
        }
        Ok(normalize(&String::from_utf8_lossy(&output.stderr)))
    }
}

/// The file of a crate that was checked. Crates of procedural macros are built,
/// and have another file beside it.
fn checked_file(artifact: &Value, name: &str) -> Option<PathBuf> {
    let files = artifact["filenames"].as_array()?;
    match &files[..] {
        [file] if artifact["target"]["name"] == name => file
            .as_str()
            .filter(|file| file.ends_with(".rmeta"))
            .map(PathBuf::from),
        _ => None,
    }
}
