//! Rule: inside bowline-proto, rooms use each other in one direction only.
//!
//! `client | server | auth → http → revision → model → jsonrpc`, never back. With a
//! cycle, no room can be understood, tested or replaced without all others.
//! The client and the server are two programs that meet on the wire; what they
//! share belongs below both. Unit tests may use what they like.

use std::collections::BTreeMap;

use super::{
    Source, Violation,
    source::{closing, is_name},
};

const SRC: &str = "crates/bowline-proto/src/";
pub const ROOT: &str = "crates/bowline-proto/src/lib.rs";

/// Each room and those that it may use.
const ROOMS: &[(&str, &[&str])] = &[
    ("time", &[]),
    ("jsonrpc", &["time"]),
    ("error", &["jsonrpc"]),
    ("telemetry", &["error", "time"]),
    ("model", &["jsonrpc"]),
    ("revision", &["model", "jsonrpc"]),
    ("http", &["revision", "model", "jsonrpc", "time"]),
    ("auth", &["http"]),
    ("client", BELOW_THE_MACHINES),
    ("server", BELOW_THE_MACHINES),
];
const BELOW_THE_MACHINES: &[&str] = &[
    "http",
    "revision",
    "model",
    "telemetry",
    "error",
    "jsonrpc",
    "time",
];

/// What the crate's root declares: its rooms, and the names it re-exports from them.
pub struct Root {
    rooms: Vec<(usize, String)>,
    exports: BTreeMap<String, String>,
}

impl Root {
    pub fn read(text: &str) -> Self {
        let source = Source::new(ROOT, text);
        let mut rooms = Vec::new();
        for offset in source.find("mod") {
            let declared = source.code[offset + "mod".len()..].trim_start();
            if !source.is_test(offset) {
                rooms.push((source.line(offset), leading_name(declared).to_owned()));
            }
        }
        let mut exports = BTreeMap::new();
        for offset in source.find("use") {
            let tree = &source.code[offset + "use".len()..];
            read_exports(tree.split(';').next().unwrap_or_default(), &mut exports);
        }
        Self { rooms, exports }
    }

    /// Every room has a place in the table.
    pub fn check(&self) -> Vec<Violation> {
        self.rooms
            .iter()
            .filter(|(_, room)| allowed(room).is_none())
            .map(|(line, room)| Violation {
                path: ROOT.into(),
                line: *line,
                message: format!("module `{room}` has no place among the layers"),
                remedy: "add it to the table in xtask/src/tidy/layering.rs",
            })
            .collect()
    }

    /// No file reaches into a room above its own, or beside it.
    pub fn check_file(&self, source: &Source<'_>) -> Vec<Violation> {
        let Some((room, depth)) = place(source.path) else {
            return Vec::new();
        };
        let Some(allowed) = allowed(room) else {
            return Vec::new();
        };
        let mut violations = Vec::new();
        for (offset, name) in root_names(&source.code, depth) {
            let used = self.exports.get(name).map_or(name, String::as_str);
            let known = ROOMS.iter().any(|(room, _)| *room == used);
            if known && used != room && !allowed.contains(&used) && !source.is_test(offset) {
                violations.push(Violation {
                    path: source.path.into(),
                    line: source.line(offset),
                    message: format!("`{room}` uses `{used}`"),
                    remedy: "move what both need to a lower room; see ARCHITECTURE.md",
                });
            }
        }
        violations
    }
}

fn allowed(room: &str) -> Option<&'static [&'static str]> {
    ROOMS
        .iter()
        .find(|(name, _)| *name == room)
        .map(|(_, allowed)| *allowed)
}

/// The room that a file belongs to, and how many modules deep the file is.
fn place(path: &str) -> Option<(&str, usize)> {
    let inside = path.strip_prefix(SRC)?.strip_suffix(".rs")?;
    let inside = inside.strip_suffix("/mod").unwrap_or(inside);
    let room = inside.split('/').next()?;
    (inside != "lib").then(|| (room, inside.split('/').count()))
}

/// The names that code takes from the crate's root, each with its offset.
fn root_names(code: &str, depth: usize) -> Vec<(usize, &str)> {
    let up = "super::".repeat(depth);
    let mut names = Vec::new();
    for start in ["crate::", up.as_str()] {
        for (offset, _) in code.match_indices(start) {
            let before = code[..offset].bytes().next_back();
            // A `super::` in the middle of a longer chain was counted from its start.
            if before.is_some_and(is_name) || code[..offset].ends_with("super::") {
                continue;
            }
            let mut after = offset + start.len();
            while code[after..].starts_with("super::") {
                after += "super::".len();
            }
            branches(code, after, &mut names);
        }
    }
    names
}

/// The first names of a path, or of each branch of a group such as `{a, b::c}`.
fn branches<'a>(code: &'a str, offset: usize, names: &mut Vec<(usize, &'a str)>) {
    if !code[offset..].starts_with('{') {
        names.push((offset, leading_name(&code[offset..])));
        return;
    }
    let end = closing(code, offset);
    let mut at = offset + 1;
    while at < end {
        match code.as_bytes()[at] {
            b'{' => at = closing(code, at),
            byte if is_name(byte) => {
                let name = leading_name(&code[at..]);
                names.push((at, name));
                at += name.len();
                at = next_branch(code, at, end);
            }
            _ => at += 1,
        }
    }
}

/// The offset of the next comma at this level, or the end.
fn next_branch(code: &str, mut at: usize, end: usize) -> usize {
    while at < end {
        match code.as_bytes()[at] {
            b',' => return at,
            b'{' => at = closing(code, at),
            _ => at += 1,
        }
    }
    end
}

fn leading_name(code: &str) -> &str {
    let length = code.bytes().take_while(|&byte| is_name(byte)).count();
    &code[..length]
}

/// Notes which room each name of `room::{A, b::C as D}` comes from.
fn read_exports(tree: &str, exports: &mut BTreeMap<String, String>) {
    let tree = tree.trim_start();
    let tree = tree
        .trim_start_matches("crate::")
        .trim_start_matches("self::");
    let room = leading_name(tree);
    if allowed(room).is_none() {
        return;
    }
    for branch in tree[room.len()..].split(['{', '}', ',']) {
        let last = branch.rsplit("::").next().unwrap_or_default();
        let name = last.rsplit(" as ").next().unwrap_or_default().trim();
        if !name.is_empty() {
            exports.insert(name.into(), room.into());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIB: &str = "pub mod client; mod time;\npub use time::Instant;\n\
        pub use client::{Client, config::Config as Settings};";

    #[track_caller]
    fn check_use(path: &str, text: &str, messages: &[&str]) {
        let path = format!("{SRC}{path}");
        let found = Root::read(LIB).check_file(&Source::new(&path, text));
        let found: Vec<&str> = found.iter().map(|v| v.message.as_str()).collect();
        assert_eq!(found, messages, "{text}");
    }

    #[test]
    fn down_is_fine() {
        check_use(
            "client/mod.rs",
            "use crate::{Instant, model::Tool, revision::Rules};",
            &[],
        );
        check_use(
            "http/sse.rs",
            "use crate::{Instant, jsonrpc::{RawJson, code}};",
            &[],
        );
        check_use(
            "model/tool.rs",
            "use crate::{jsonrpc::RawJson, model::Icon};",
            &[],
        );
        check_use(
            "model/tool.rs",
            "use super::Icon; use super::super::jsonrpc::RawJson;",
            &[],
        );
    }

    #[test]
    fn up_is_not() {
        check_use(
            "model/tool.rs",
            "use crate::revision::Rules;",
            &["`model` uses `revision`"],
        );
        check_use(
            "jsonrpc/id.rs",
            "fn f(x: crate::model::Tool)",
            &["`jsonrpc` uses `model`"],
        );
        check_use(
            "revision/mod.rs",
            "use crate::{\n    model::{self, client},\n    http,\n};",
            &["`revision` uses `http`"],
        );
        check_use(
            "model/mod.rs",
            "use super::http::Header;",
            &["`model` uses `http`"],
        );
        check_use(
            "model/tool.rs",
            "use super::super::http;",
            &["`model` uses `http`"],
        );
        check_use(
            "model/mod.rs",
            "$crate::client::X",
            &["`model` uses `client`"],
        );
    }

    #[test]
    fn sideways_is_not() {
        check_use(
            "client/mod.rs",
            "use crate::server::Server;",
            &["`client` uses `server`"],
        );
        check_use(
            "server/mod.rs",
            "use crate::client::Client;",
            &["`server` uses `client`"],
        );
    }

    #[test]
    fn a_re_export_counts_as_its_room() {
        check_use(
            "server/a.rs",
            "use crate::Client;",
            &["`server` uses `client`"],
        );
        check_use(
            "server/a.rs",
            "use crate::Settings;",
            &["`server` uses `client`"],
        );
        check_use(
            "model/a.rs",
            "use crate::Instant;",
            &["`model` uses `time`"],
        );
    }

    #[test]
    fn tests_comments_and_submodules_are_free() {
        check_use(
            "client/a.rs",
            "#[cfg(test)]\nmod tests { use crate::server::S; }",
            &[],
        );
        check_use("client/a.rs", "/// See [`crate::server`].\nfn f() {}", &[]);
        check_use("server/mod.rs", "use crate::jsonrpc::client;", &[]);
        check_use("client/a.rs", "use super::server;", &[]);
    }

    #[test]
    fn every_room_has_a_place() {
        assert_eq!(Root::read(LIB).check(), []);
        let found = Root::read("pub mod model;\nmod utils;").check();
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].line, 2);
    }
}
