//! Files that generators must reproduce. `GOLDEN=overwrite` renews them.

use std::{
    env, fs,
    path::{Path, PathBuf},
};

use bowline_codegen::GeneratedFile;

/// Compares generated files with those in `tests/golden`.
#[track_caller]
pub(crate) fn assert_golden(folder: &str, files: &[GeneratedFile]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/golden")
        .join(folder);
    let overwrites = env::var_os("GOLDEN").is_some_and(|it| it == "overwrite");
    for file in files {
        let path: PathBuf = folder.join(&file.path);
        if overwrites {
            fs::write(&path, &file.contents).expect("the folder is writable");
        }
        let expected = fs::read_to_string(&path).unwrap_or_default();
        assert!(
            file.contents == expected,
            "{} differs; see the change with GOLDEN=overwrite and git diff",
            path.display()
        );
    }
}
