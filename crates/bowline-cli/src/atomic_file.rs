//! Writing files in one step, so nobody reads half of one.

use std::{
    fs,
    io::{self, Write as _},
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicU32, Ordering},
};

/// Who may read a file that did not exist before. One that exists keeps its permissions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    /// Only its owner: it holds keys, or reveals what the user does.
    Owner,
    /// Whoever the user's settings allow.
    Default,
}

/// Creates or replaces a file.
pub(crate) fn write(path: &Path, contents: &[u8], access: Access) -> io::Result<()> {
    let temporary_path = temporary_path(path);
    // Left behind by a command that was killed, or planted by others.
    let _ = fs::remove_file(&temporary_path);
    let written = write_temporary(&temporary_path, path, contents, access)
        .and_then(|()| fs::rename(&temporary_path, path));
    if written.is_err() {
        // Do not leave a temporary file that was not renamed.
        let _ = fs::remove_file(&temporary_path);
    }
    written
}

/// Returns a path in the same folder, which no other writer uses.
fn temporary_path(path: &Path) -> PathBuf {
    static WRITES: AtomicU32 = AtomicU32::new(0);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let (process, write) = (process::id(), WRITES.fetch_add(1, Ordering::Relaxed));
    path.with_file_name(format!(".{name}.{process}.{write}"))
}

fn write_temporary(
    temporary_path: &Path,
    path: &Path,
    contents: &[u8],
    access: Access,
) -> io::Result<()> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    if access == Access::Owner {
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    }
    let mut file = options.open(temporary_path)?;
    if let Ok(existing) = fs::symlink_metadata(path)
        && existing.is_file()
    {
        file.set_permissions(existing.permissions())?;
    }
    file.write_all(contents)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder of its own for a test.
    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("bowline-{name}-{}", process::id()));
        fs::create_dir_all(&folder).expect("the temporary folder is writable");
        folder
    }

    #[test]
    fn a_file_is_created_and_replaced_and_nothing_else_is_left() {
        let folder = folder("replaced");
        let path = folder.join("file.json");
        for contents in ["one", "two"] {
            write(&path, contents.as_bytes(), Access::Owner).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("readable"), contents);
        }
        write(&folder.join("none").join("a"), b"", Access::Default).expect_err("no folder");
        assert_eq!(fs::read_dir(&folder).expect("listed").count(), 1);
        fs::remove_dir_all(folder).expect("it exists");
    }

    #[cfg(unix)]
    #[test]
    fn a_private_file_is_created_private_and_a_shared_one_stays_shared() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = folder("private");
        let mode = |path: &Path| fs::metadata(path).expect("a file").permissions().mode() & 0o777;
        let private = folder.join("private");
        write(&private, b"", Access::Owner).expect("written");
        assert_eq!(mode(&private), 0o600);
        let shared = folder.join("shared");
        fs::write(&shared, "").expect("written");
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o664)).expect("permitted");
        write(&shared, b"", Access::Owner).expect("written");
        assert_eq!(mode(&shared), 0o664);
        fs::remove_dir_all(folder).expect("it exists");
    }
}
