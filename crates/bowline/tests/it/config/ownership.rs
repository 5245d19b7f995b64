//! Whose files of projects are read.

use std::{
    fs,
    os::unix::fs::{PermissionsExt as _, symlink},
    path::{Path, PathBuf},
    sync::atomic::{AtomicUsize, Ordering},
};

use bowline::config::{
    ConfigScope, Endpoint, Environment, Loader, Os, ProblemKind, ServersFile, well_known,
};

const SERVERS: &str = r#"{"mcpServers": {"it": {"command": "./serve"}}}"#;

/// A folder to work in, which goes away with this.
struct Work(PathBuf);

impl Work {
    fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("owned-{}-{count}", std::process::id());
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir_all(folder.join("project/deep")).expect("folders can be made");
        let work = Self(folder.canonicalize().expect("it is there"));
        for part in ["", "project", "project/deep"] {
            work.allow(part, 0o755);
        }
        work
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn write(&self, name: &str, mode: u32) {
        fs::write(self.path(name), SERVERS).expect("it can be written");
        self.allow(name, mode);
    }

    fn allow(&self, name: &str, mode: u32) {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(self.path(name), permissions).expect("it is ours");
    }

    /// What is read of `.mcp.json` in a folder, by someone who works in
    /// `project/deep`.
    fn read(&self, folder: &str) -> ServersFile {
        let cwd = self.path("project/deep");
        let path = self.path(folder).join(".mcp.json");
        let sources = well_known("/nowhere".as_ref(), &cwd, Os::Linux);
        let source = sources.iter().find(|source| source.path == path);
        let source = source.expect("it is looked for");
        assert_eq!(source.scope, ConfigScope::Project);
        Loader::new(Environment::new()).load_source(source)
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        // What cannot be removed lies below the build's own folder.
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[track_caller]
fn check_refused(file: &ServersFile, why: &str) {
    assert_eq!(file.servers, []);
    match &file.problems[..] {
        [problem] => match &problem.kind {
            ProblemKind::NotOwned(found) => assert!(found.contains(why), "{found}"),
            other => panic!("{other:?}"),
        },
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_file_that_others_can_write_is_not_read() {
    let work = Work::new();
    work.write("project/.mcp.json", 0o644);
    assert_eq!(work.read("project").servers.len(), 1);
    work.allow("project/.mcp.json", 0o666);
    check_refused(&work.read("project"), "other users can write it (mode 666)");
}

#[test]
fn a_folder_that_others_can_write_is_no_place_for_one() {
    let work = Work::new();
    work.write("project/.mcp.json", 0o644);
    work.allow("project", 0o777);
    check_refused(&work.read("project"), "other users can write the folder");
    work.allow("project", 0o755);
    work.allow("", 0o777);
    check_refused(&work.read("project"), "other users can write the folder");
    // There, nobody replaces what is not theirs.
    work.allow("", 0o1777);
    assert_eq!(work.read("project").servers.len(), 1);
}

#[test]
fn a_link_is_judged_by_where_it_leads() {
    let work = Work::new();
    fs::create_dir(work.path("open")).expect("it can be made");
    work.write("open/elsewhere.json", 0o644);
    symlink(
        work.path("open/elsewhere.json"),
        work.path("project/.mcp.json"),
    )
    .expect("a link");
    assert_eq!(work.read("project").servers.len(), 1);
    work.allow("open/elsewhere.json", 0o666);
    check_refused(&work.read("project"), "other users can write it");
    work.allow("open/elsewhere.json", 0o644);
    work.allow("open", 0o777);
    check_refused(&work.read("project"), "other users can write the folder");
}

#[test]
fn what_a_project_brings_runs_in_its_folder() {
    let work = Work::new();
    work.write("project/.mcp.json", 0o644);
    let file = work.read("project");
    let Endpoint::Stdio(server) = &file.servers[0].endpoint else {
        panic!("it is started by a command");
    };
    assert_eq!(server.cwd, Some(work.path("project")), "wherever one works");
}

#[test]
fn every_link_of_a_chain_is_looked_at() {
    let work = Work::new();
    for folder in ["open", "safe"] {
        fs::create_dir(work.path(folder)).expect("it can be made");
        work.allow(folder, 0o755);
    }
    work.write("safe/servers.json", 0o644);
    symlink("../safe/servers.json", work.path("open/second")).expect("a link");
    symlink("../open/second", work.path("project/.mcp.json")).expect("a link");
    assert_eq!(work.read("project").servers.len(), 1);
    // Whoever can write there can make it lead elsewhere.
    work.allow("open", 0o777);
    check_refused(&work.read("project"), "other users can write the folder");
    work.allow("open", 0o755);
    assert_eq!(work.read("project").servers.len(), 1);
}

#[test]
fn links_that_lead_in_a_circle_come_to_an_end() {
    let work = Work::new();
    symlink(".mcp.json", work.path("project/.mcp.json")).expect("a link");
    let file = work.read("project");
    assert_eq!(
        (file.servers.len(), file.problems.len()),
        (0, 1),
        "{file:?}"
    );
}

#[test]
fn a_place_for_a_new_file_is_looked_at() {
    let work = Work::new();
    let cwd = work.path("project/deep");
    let sources = well_known("/nowhere".as_ref(), &cwd, Os::Linux);
    let source = sources
        .iter()
        .find(|source| source.path == cwd.join("bowline.json"))
        .expect("it is looked for");
    assert_eq!(source.check_ownership(), Ok(()));
    work.allow("project/deep", 0o777);
    assert!(source.check_ownership().is_err());
    assert_eq!(
        work.read("project").problems,
        [],
        "what is not there is no problem"
    );
}
