//! `@modelcontextprotocol/server-filesystem`: files in a folder of the test's.

use std::fs;

use bowline::proto::{model::Root, revision::Revision};
use serde_json::json;

use super::{
    folder::Folder,
    rig::{Checked, Fault, Peer, builder, node, within},
};

async fn filesystem(folder: &Folder) -> Result<Peer, Fault> {
    let process = node("mcp-server-filesystem")?.arg(folder.path());
    Peer::open(builder(), process).await
}

#[tokio::test]
async fn files_are_written_edited_and_read() -> Checked {
    within(async {
        let folder = Folder::new()?;
        let peer = filesystem(&folder).await?;
        assert_eq!(peer.revision(), Some(Revision::V2025_11_25));
        assert_eq!(peer.tool_names().await?.len(), 14);
        let path = folder.join("rope.txt");
        let content = "hemp\nnylon\nsteel\n";
        let written = json!({"path": path, "content": content});
        peer.text("write_file", written).await?;
        assert_eq!(fs::read_to_string(&path)?, content);
        for tool in ["read_file", "read_text_file"] {
            assert_eq!(peer.text(tool, json!({"path": path})).await?, content);
        }
        let head = json!({"path": path, "head": 1});
        assert_eq!(peer.text("read_text_file", head).await?, "hemp");
        let edits = json!([{"oldText": "nylon", "newText": "silk"}]);
        let trial = json!({"path": path, "edits": edits, "dryRun": true});
        assert!(peer.text("edit_file", trial).await?.contains("+silk"));
        assert_eq!(fs::read_to_string(&path)?, content, "only a trial");
        peer.text("edit_file", json!({"path": path, "edits": edits}))
            .await?;
        assert!(fs::read_to_string(&path)?.contains("silk"));
        let info = peer.text("get_file_info", json!({"path": path})).await?;
        assert!(info.contains("isFile: true"), "{info}");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn folders_are_made_listed_and_searched() -> Checked {
    within(async {
        let folder = Folder::new()?;
        let peer = filesystem(&folder).await?;
        let deep = folder.join("locker/deep");
        peer.text("create_directory", json!({"path": deep})).await?;
        fs::write(folder.join("locker/deep/line.txt"), "12 m")?;
        fs::write(folder.join("dot.png"), [0x89, b'P', b'N', b'G'])?;
        let here = folder.text();
        let listing = peer.value("list_directory", json!({"path": here})).await?;
        assert_eq!(listing["content"], "[FILE] dot.png\n[DIR] locker");
        let sized = json!({"path": here, "sortBy": "size"});
        let sizes = peer.text("list_directory_with_sizes", sized).await?;
        assert!(sizes.contains("1 files, 1 directories"), "{sizes}");
        let tree = peer.text("directory_tree", json!({"path": here})).await?;
        assert!(tree.contains("line.txt"), "{tree}");
        let wanted = json!({"path": here, "pattern": "**/*.txt"});
        let found = peer.text("search_files", wanted).await?;
        assert_eq!(found, folder.join("locker/deep/line.txt"));
        let moved = json!({
            "source": folder.join("locker/deep/line.txt"),
            "destination": folder.join("line.txt"),
        });
        peer.text("move_file", moved).await?;
        let media = json!({"path": folder.join("dot.png")});
        let picture = peer.tools().call("read_media_file", media).await?;
        assert_eq!(picture.content[0].kind(), "image");
        let paths = json!({"paths": [folder.join("line.txt"), folder.join("none")]});
        let several = peer.text("read_multiple_files", paths).await?;
        assert!(
            several.contains("12 m") && several.contains("Error"),
            "{several}"
        );
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn what_lies_outside_is_refused() -> Checked {
    within(async {
        let folder = Folder::new()?;
        let outside = Folder::new()?;
        let peer = filesystem(&folder).await?;
        let path = outside.join("secret.txt");
        fs::write(&path, "secret")?;
        let text = peer
            .failure("read_text_file", json!({"path": path}))
            .await?;
        assert!(text.contains("Access denied"), "{text}");
        let text = peer.failure("read_text_file", json!({"path": 7})).await?;
        assert!(text.contains("-32602"), "{text}");
        peer.close().await
    })
    .await
}

#[tokio::test]
async fn roots_say_where_it_may_work() -> Checked {
    within(async {
        let [first, second] = [Folder::new()?, Folder::new()?];
        let builder = builder().roots([Root::new(first.uri())]);
        let peer = Peer::open(builder, node("mcp-server-filesystem")?).await?;
        allowed(&peer, &first).await?;
        peer.set_roots([Root::new(second.uri())]);
        allowed(&peer, &second).await?;
        let written = json!({"path": second.join("a"), "content": "b"});
        peer.text("write_file", written).await?;
        assert_eq!(peer.frames.received("roots/list").len(), 2);
        peer.close().await
    })
    .await
}

/// Asks until the server has learned of the roots, which it does in its time.
async fn allowed(peer: &Peer, folder: &Folder) -> Checked {
    loop {
        let text = peer.text("list_allowed_directories", json!({})).await?;
        if text.contains(&folder.text()) {
            return Ok(());
        }
    }
}
