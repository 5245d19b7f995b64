//! Tokens in files, and processes that share them.

use std::{fs, os::unix::fs::PermissionsExt as _, path::PathBuf, process::Stdio};

use bowline::auth::{FileStore, OAuth};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::Command,
};

use super::Setup;
use crate::{http_client::rig::within, process::example};

/// A folder that is gone at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("bowline-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        let _ = fs::remove_dir_all(&folder);
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Setup {
    fn keeping_in(mut self, folder: &Folder) -> Self {
        let store = FileStore::open(&folder.0).expect("a folder");
        self.oauth = OAuth::new("refresher")
            .user_agent(self.user.clone())
            .store(store);
        self
    }
}

fn refresher(setup: &Setup, folder: &Folder, verb: &str) -> Command {
    let mut command = Command::new(example("refresher"));
    command
        .args([
            setup.shop.url().as_ref(),
            folder.0.as_os_str(),
            verb.as_ref(),
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true);
    command
}

#[tokio::test]
async fn files_are_their_owners_alone() {
    let folder = Folder::new("owner");
    let setup = Setup::new().await.keeping_in(&folder);
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("signed in");
    let mode = |path: &std::path::Path| {
        let metadata = fs::metadata(path).expect("it is there");
        metadata.permissions().mode() & 0o777
    };
    assert_eq!(mode(&folder.0), 0o700);
    let mut kept = 0;
    for entry in fs::read_dir(&folder.0).expect("a folder") {
        let path = entry.expect("an entry").path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        assert!(!name.ends_with(".new"), "nothing is left over");
        kept += 1;
    }
    assert!(kept >= 3);
    fs::set_permissions(&folder.0, fs::Permissions::from_mode(0o755)).expect("it is ours");
    assert!(FileStore::open(&folder.0).is_err(), "others can look in");
}

#[tokio::test]
async fn what_is_damaged_costs_a_sign_in_and_no_more() {
    let folder = Folder::new("damaged");
    let setup = Setup::new().await.keeping_in(&folder);
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("signed in");
    for entry in fs::read_dir(&folder.0).expect("a folder") {
        fs::write(entry.expect("an entry").path(), "{").expect("it is ours");
    }
    let setup = setup.keeping_in(&folder);
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("signed in");
    assert_eq!(setup.user.visits(), 2);
}

#[tokio::test]
async fn two_processes_renew_the_same_tokens_and_lose_none() {
    let folder = Folder::new("two");
    let setup = Setup::new().await.keeping_in(&folder);
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("signed in");
    let mut both = [1, 2].map(|_| {
        refresher(&setup, &folder, "100")
            .spawn()
            .expect("it starts")
    });
    for child in &mut both {
        let status = within(child.wait()).await.expect("it ends");
        assert!(status.success(), "{status}");
    }
    assert_eq!(setup.guard.books().reused, 0, "no token was used twice");
    let renewals = setup.guard.grants("refresh_token").len();
    assert!(renewals >= 100, "{renewals}");
    let setup = setup.keeping_in(&folder);
    setup.connected().await;
    assert_eq!(setup.user.visits(), 1, "nobody had to sign in again");
}

#[tokio::test]
async fn one_who_dies_with_the_lock_holds_up_nobody() {
    let folder = Folder::new("dead");
    let setup = Setup::new().await.keeping_in(&folder);
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("signed in");
    // It waits for an answer that never comes, with the lock in its hands.
    let (_feed, hold) = tokio::sync::mpsc::unbounded_channel();
    setup.guard.books().hold = Some(hold);
    let mut holder = refresher(&setup, &folder, "1").spawn().expect("it starts");
    let mut lines = BufReader::new(holder.stdout.take().expect("a pipe")).lines();
    assert_eq!(
        within(lines.next_line()).await.expect("a line").as_deref(),
        Some("ready")
    );
    setup.guard.rig.until("POST", 3).await;
    let waiting = tokio::spawn({
        let (oauth, url) = (setup.oauth.clone(), setup.shop.url());
        async move { oauth.refresh(&url).await }
    });
    holder.kill().await.expect("it is ours");
    // What the dead one had in its hands is lost, and the server knows.
    let error = within(waiting).await.expect("no panic").unwrap_err();
    assert!(format!("{error:#}").contains("invalid_grant"), "{error}");
    within(setup.oauth.sign_in(&setup.shop.url()))
        .await
        .expect("signed in again");
    assert_eq!(setup.user.visits(), 2);
}
