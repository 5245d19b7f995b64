//! Showing what changed since servers were reviewed.

use bowline::lock::{Change, ChangeKind, ChangeStatus, ItemKind};
use serde_json::{Value, json};

use crate::{
    context::Context,
    failure::Failure,
    output::{Style, escape_control, escape_name},
};

/// The changes of one server.
#[derive(Debug)]
pub(crate) struct ServerChanges {
    pub(crate) server: String,
    /// Whether it was not locked before.
    pub(crate) is_new: bool,
    pub(crate) changes: Vec<Change>,
}

impl ServerChanges {
    /// Returns the worst change.
    pub(crate) fn kind(&self) -> ChangeKind {
        let kinds = self.changes.iter().map(|change| change.kind);
        kinds.max().unwrap_or(ChangeKind::Identical)
    }

    /// Returns whether there are tools that nobody has reviewed.
    pub(crate) fn has_new_tools(&self) -> bool {
        let mut changes = self.changes.iter();
        changes.any(|it| it.item == ItemKind::Tool && it.status == ChangeStatus::Added)
    }

    /// Returns how many items of each kind there are: `2 tools, 1 prompt`.
    fn counts(&self) -> String {
        let kinds = [
            ItemKind::Tool,
            ItemKind::Prompt,
            ItemKind::Resource,
            ItemKind::Template,
        ];
        let counts = kinds.iter().filter_map(|kind| {
            let items = self.changes.iter().filter(|change| change.item == *kind);
            match items.count() {
                0 => None,
                1 => Some(format!("1 {kind}")),
                count => Some(format!("{count} {kind}s")),
            }
        });
        let counts: Vec<_> = counts.collect();
        match counts.is_empty() {
            true => "nothing".to_owned(),
            false => counts.join(", "),
        }
    }
}

/// Prints the changes, one line for each item and one for each difference.
pub(crate) fn print_changes(cx: &Context, servers: &[ServerChanges]) -> Result<(), Failure> {
    if cx.json() {
        let servers: Vec<_> = servers.iter().map(to_json).collect();
        return cx.output.json(&json!({ "servers": servers }));
    }
    let paint = cx.output.paint();
    for server in servers {
        let name = paint.bold(escape_name(&server.server));
        if server.is_new {
            cx.output
                .line(format!("{name}: new, {}", server.counts()))?;
            continue;
        }
        if server.changes.is_empty() {
            cx.output.line(format!("{name}: unchanged"))?;
            continue;
        }
        cx.output.line(format!("{name}:"))?;
        for change in &server.changes {
            let style = match (change.status, change.kind) {
                (ChangeStatus::Removed, _) | (_, ChangeKind::Breaking) => Style::Error,
                (_, ChangeKind::TextOnly) => Style::Value,
                _ => Style::Success,
            };
            let summary = paint.text(style, format!("{:<10}", change.summary()));
            let item = match change.item {
                ItemKind::Server => "instructions".to_owned(),
                item => format!("{item} {}", escape_name(&change.name)),
            };
            cx.output.line(format!("  {summary}  {item}"))?;
            for difference in &change.differences {
                let (message, pointer) = (&difference.message, &difference.pointer);
                let pointer = paint.dim(escape_control(pointer));
                let message = escape_control(message);
                cx.output
                    .line(format!("              {message}  {pointer}"))?;
            }
        }
    }
    Ok(())
}

fn to_json(server: &ServerChanges) -> Value {
    let changes: Vec<_> = server.changes.iter().map(change_to_json).collect();
    json!({ "server": server.server, "changes": changes })
}

fn change_to_json(change: &Change) -> Value {
    let differences = change.differences.iter().map(|difference| {
        json!({
            "kind": kind_name(difference.kind),
            "pointer": difference.pointer,
            "message": difference.message,
        })
    });
    let differences: Vec<_> = differences.collect();
    json!({
        "item": change.item.to_string(),
        "name": change.name,
        "change": change.summary(),
        "differences": differences,
    })
}

fn kind_name(kind: ChangeKind) -> &'static str {
    match kind {
        ChangeKind::Identical => "identical",
        ChangeKind::TextOnly => "text only",
        ChangeKind::Compatible => "compatible",
        ChangeKind::Breaking => "breaking",
    }
}
