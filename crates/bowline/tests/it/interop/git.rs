//! `mcp-server-git`, in both eras: a repository of the test's.

use std::{fs, process::Command};

use bowline::proto::{Reason, revision::Revision};
use serde_json::json;

use super::{
    folder::Folder,
    rig::{Checked, Fault, Peer, builder, python, within},
};

/// A repository with one commit.
fn repository() -> Result<Folder, Fault> {
    let folder = Folder::new()?;
    fs::write(folder.join("log.txt"), "day one\n")?;
    for arguments in [
        &["init", "--quiet", "--initial-branch=main"][..],
        &["config", "user.name", "Nobody"],
        &["config", "user.email", "nobody@example.com"],
        &["config", "commit.gpgsign", "false"],
        &["add", "log.txt"],
        &["commit", "--quiet", "--message=First"],
    ] {
        let status = Command::new("git")
            .current_dir(folder.path())
            .args(arguments)
            .status()?;
        assert!(status.success(), "git {arguments:?}: {status}");
    }
    Ok(folder)
}

async fn open(folder: &Folder, revision: Revision) -> Result<Peer, Fault> {
    let process = python("mcp-server-git")?
        .arg("--repository")
        .arg(folder.path());
    let peer = Peer::open(builder().revisions([revision]), process).await?;
    assert_eq!(peer.revision(), Some(revision));
    assert_eq!(peer.tool_names().await?.len(), 12);
    assert_eq!(peer.resources().list().await?, []);
    assert_eq!(peer.prompts().list().await?, []);
    Ok(peer)
}

#[tokio::test]
async fn a_repository_is_worked_on_by_handshake() -> Checked {
    within(work_on_a_repository(Revision::V2025_11_25)).await
}

#[tokio::test]
async fn a_repository_is_worked_on_without_a_handshake() -> Checked {
    within(work_on_a_repository(Revision::V2026_07_28)).await
}

async fn work_on_a_repository(revision: Revision) -> Checked {
    let folder = repository()?;
    let peer = open(&folder, revision).await?;
    let repo = folder.text();
    fs::write(folder.join("log.txt"), "day one\nday two\n")?;
    let here = json!({"repo_path": repo});
    let status = peer.text("git_status", &here).await?;
    assert!(status.contains("modified:   log.txt"), "{status}");
    let diff = peer.text("git_diff_unstaged", &here).await?;
    assert!(diff.contains("+day two"), "{diff}");
    let added = json!({"repo_path": repo, "files": ["log.txt"]});
    peer.text("git_add", &added).await?;
    peer.text("git_reset", &here).await?;
    peer.text("git_add", &added).await?;
    let diff = peer.text("git_diff_staged", &here).await?;
    assert!(diff.contains("+day two"), "{diff}");
    let message = json!({"repo_path": repo, "message": "Second"});
    peer.text("git_commit", message).await?;
    let log = peer
        .text("git_log", json!({"repo_path": repo, "max_count": 5}))
        .await?;
    assert!(log.contains("First") && log.contains("Second"), "{log}");
    let shown = json!({"repo_path": repo, "revision": "HEAD"});
    assert!(peer.text("git_show", shown).await?.contains("+day two"));
    let branch = json!({"repo_path": repo, "branch_name": "side"});
    peer.text("git_create_branch", &branch).await?;
    peer.text("git_checkout", &branch).await?;
    let branches = json!({"repo_path": repo, "branch_type": "local"});
    let branches = peer.text("git_branch", branches).await?;
    assert!(branches.contains("* side"), "{branches}");
    let against = json!({"repo_path": repo, "target": "HEAD~1"});
    assert!(peer.text("git_diff", against).await?.contains("+day two"));
    refusals(&peer).await?;
    peer.close().await
}

async fn refusals(peer: &Peer) -> Checked {
    let elsewhere = Folder::new()?;
    let outside = json!({"repo_path": elsewhere.text()});
    let text = peer.failure("git_status", outside).await?;
    assert!(text.contains("outside"), "{text}");
    let missing = peer.failure("git_status", json!({})).await?;
    assert!(missing.contains("repo_path"), "{missing}");
    let unknown = peer.tools().call("git_tie", json!({})).await;
    let reason = unknown.err().map(|error| error.reason());
    assert_eq!(reason, Some(Reason::ToolNotFound));
    Ok(())
}

#[tokio::test]
async fn a_server_that_ends_at_once_says_why() -> Checked {
    within(async {
        let folder = Folder::new()?;
        let nowhere = folder.join("nowhere");
        let process = python("mcp-server-git")?.arg("--repository").arg(&nowhere);
        let Err(error) = Peer::open(builder(), process).await else {
            return Err("there is no such repository".into());
        };
        let text = format!("{error:#}");
        assert!(text.contains("exited with code 1"), "{text}");
        assert!(text.contains("does not exist"), "its last words: {text}");
        Ok(())
    })
    .await
}
