//! A folder of a test's own, gone when the test is.

use std::{
    fs, io,
    path::{Path, PathBuf},
    process,
    sync::atomic::{AtomicUsize, Ordering},
};

/// An empty folder that is removed with all its content when dropped.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> io::Result<Self> {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("interop-{}-{count}", process::id());
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(&path)?;
        Ok(Self(path.canonicalize()?))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// The path of something in it, as text.
    pub(crate) fn join(&self, name: &str) -> String {
        self.0.join(name).to_string_lossy().into_owned()
    }

    /// Its path, as text.
    pub(crate) fn text(&self) -> String {
        self.0.to_string_lossy().into_owned()
    }

    /// Its address.
    pub(crate) fn uri(&self) -> String {
        format!("file://{}", self.0.to_string_lossy())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // What cannot be removed is below `target`, and so is no loss.
        let _ = fs::remove_dir_all(&self.0);
    }
}
