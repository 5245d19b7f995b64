//! Rule: the modules of a crate use each other in one direction only.
//!
//! In a cycle, no module can be understood, tested or replaced without all the
//! others. In `bowline-proto`, the client and the server are two programs that
//! meet on the wire, so what they share belongs below both. Unit tests may use
//! any module.

use std::collections::BTreeMap;

use super::{
    Source, Violation,
    source::{after_closing, is_name_byte},
};

/// The modules of a crate, and which other modules each may use.
pub struct Layers {
    /// The folder of the crate's sources, with a slash at the end.
    src: &'static str,
    /// The lowest first: a module may use only modules that are listed before it.
    modules: &'static [(&'static str, &'static [&'static str])],
}

/// The crates that are checked.
pub const CRATES: &[Layers] = &[PROTO, FACADE, REDIS];

/// `client | server | auth → http → revision → model → jsonrpc`, never back.
const PROTO: Layers = Layers {
    src: "crates/bowline-proto/src/",
    modules: &[
        ("time", &[]),
        ("telemetry", &[]),
        ("jsonrpc", &["time"]),
        ("error", &["jsonrpc"]),
        ("outcome", &["jsonrpc"]),
        ("model", &["jsonrpc"]),
        ("revision", &["model", "jsonrpc"]),
        ("http", &["revision", "model", "jsonrpc", "time"]),
        ("task", &["model", "jsonrpc"]),
        ("auth", &["http"]),
        ("client", BELOW_THE_MACHINES),
        ("server", BELOW_THE_MACHINES),
    ],
};
const BELOW_THE_MACHINES: &[&str] = &[
    "task",
    "http",
    "revision",
    "model",
    "telemetry",
    "outcome",
    "error",
    "jsonrpc",
    "time",
];

/// `transport ← client ← {cache, pool, registry, config}`, `transport ← server`
/// and `jose ← auth`. The client uses none of the modules built on it, and client
/// and server do not use each other. Two modules are above a neighbour: a
/// registry returns cached clients, and a configured server may sign in.
const FACADE: Layers = Layers {
    src: "crates/bowline/src/",
    modules: &[
        ("canonical", &[]),
        ("form_check", &[]),
        ("observation_queue", &[]),
        ("sync", &[]),
        ("tracing_events", &[]),
        ("guides", &[]),
        ("transport", &["sync"]),
        ("catch_panic", &["transport"]),
        ("fetch", &["sync", "transport"]),
        ("jose", &["canonical"]),
        ("lock", &["canonical"]),
        ("auth", &["fetch", "jose", "sync", "transport"]),
        (
            "client",
            &[
                "catch_panic",
                "form_check",
                "lock",
                "observation_queue",
                "sync",
                "tracing_events",
                "transport",
            ],
        ),
        ("typed", &["client"]),
        ("cache", &["canonical", "client", "sync"]),
        ("pool", &["client", "sync", "transport"]),
        ("registry", &["cache", "client", "sync", "transport"]),
        ("config", &["auth", "client", "transport"]),
        (
            "server",
            &[
                "canonical",
                "catch_panic",
                "fetch",
                "form_check",
                "jose",
                "observation_queue",
                "sync",
                "tracing_events",
                "transport",
            ],
        ),
        (
            "testing",
            &[
                "auth",
                "client",
                "form_check",
                "server",
                "sync",
                "transport",
            ],
        ),
    ],
};

/// `connection ← notices ← store ← stores`: a store knows the connection, not the others.
const REDIS: Layers = Layers {
    src: "crates/bowline-redis/src/",
    modules: &[
        ("error", &[]),
        ("keys", &[]),
        ("limits", &[]),
        ("script", &[]),
        ("connection", &["keys", "script"]),
        ("notices", &["connection"]),
        ("inspection", &["connection", "error"]),
        (
            "store",
            &["connection", "keys", "limits", "notices", "script"],
        ),
        ("stores", &["connection", "limits", "notices", "store"]),
        (
            "builder",
            &[
                "connection",
                "error",
                "inspection",
                "keys",
                "limits",
                "stores",
            ],
        ),
    ],
};

impl Layers {
    /// The path of the crate's `lib.rs`.
    pub fn root_path(&self) -> String {
        format!("{}lib.rs", self.src)
    }

    /// The modules that `module` may use, or `None` if the table lacks it.
    fn allowed(&self, module: &str) -> Option<&'static [&'static str]> {
        let row = self.modules.iter().find(|(name, _)| *name == module);
        row.map(|(_, allowed)| *allowed)
    }

    /// The top-level module that a file belongs to, and how many modules deep
    /// the file is.
    fn module_of<'a>(&self, path: &'a str) -> Option<(&'a str, usize)> {
        let inside = path.strip_prefix(self.src)?.strip_suffix(".rs")?;
        let inside = inside.strip_suffix("/mod").unwrap_or(inside);
        let module = inside.split('/').next()?;
        (inside != "lib").then(|| (module, inside.split('/').count()))
    }
}

/// The declarations of a `lib.rs`: its modules, and the names it re-exports
/// from them.
pub struct CrateRoot {
    layers: &'static Layers,
    modules: Vec<(usize, String)>,
    exports: BTreeMap<String, String>,
}

impl CrateRoot {
    /// Reads the source of a `lib.rs`.
    pub fn parse(layers: &'static Layers, text: &str) -> Self {
        let path = layers.root_path();
        let source = Source::new(&path, text);
        let mut modules = Vec::new();
        for offset in source.find("mod") {
            let declared = source.code[offset + "mod".len()..].trim_start();
            if !source.is_test(offset) {
                modules.push((source.line(offset), leading_name(declared).to_owned()));
            }
        }
        let mut exports = BTreeMap::new();
        for offset in source.find("use") {
            let tree = &source.code[offset + "use".len()..];
            let tree = tree.split(';').next().unwrap_or_default();
            parse_exports(layers, tree, &mut exports);
        }
        Self {
            layers,
            modules,
            exports,
        }
    }

    /// Checks that the table lists every module and nothing else.
    pub fn check(&self) -> Vec<Violation> {
        let violation = |line, message| Violation {
            path: self.layers.root_path(),
            line,
            message,
            remedy: "update the table in xtask/src/tidy/layering.rs",
        };
        let unlisted = self
            .modules
            .iter()
            .filter(|(_, module)| self.layers.allowed(module).is_none())
            .map(|(line, module)| {
                violation(*line, format!("no layer is defined for module `{module}`"))
            });
        let listed = self.layers.modules.iter().map(|(module, _)| *module);
        let stale = listed
            .filter(|listed| !self.modules.iter().any(|(_, module)| module == listed))
            .map(|module| {
                let message = format!("a layer is defined for `{module}`, which does not exist");
                violation(1, message)
            });
        unlisted.chain(stale).collect()
    }

    /// Checks that a file uses only modules below its own.
    pub fn check_file(&self, source: &Source<'_>) -> Vec<Violation> {
        let Some((module, depth)) = self.layers.module_of(source.path) else {
            return Vec::new();
        };
        let Some(allowed) = self.layers.allowed(module) else {
            return Vec::new();
        };
        let mut violations = Vec::new();
        for (offset, name) in root_names(&source.code, depth) {
            let used = self.exports.get(name).map_or(name, String::as_str);
            let is_module = self.layers.allowed(used).is_some();
            if is_module && used != module && !allowed.contains(&used) && !source.is_test(offset) {
                violations.push(Violation {
                    path: source.path.into(),
                    line: source.line(offset),
                    message: format!("`{module}` uses `{used}`, which is not below it"),
                    remedy: "move what both need to a lower module; the layers are in xtask/src/tidy/layering.rs",
                });
            }
        }
        violations
    }
}

/// The names that code imports from the crate's root, each with its offset.
fn root_names(code: &str, depth: usize) -> Vec<(usize, &str)> {
    let up = "super::".repeat(depth);
    let mut names = Vec::new();
    for start in ["crate::", up.as_str()] {
        for (offset, _) in code.match_indices(start) {
            let before = code[..offset].bytes().next_back();
            // A `super::` inside a longer chain was found at the start of the chain.
            if before.is_some_and(is_name_byte) || code[..offset].ends_with("super::") {
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
    let end = after_closing(code, offset);
    let mut at = offset + 1;
    while at < end {
        match code.as_bytes()[at] {
            b'{' => at = after_closing(code, at),
            byte if is_name_byte(byte) => {
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
            b'{' => at = after_closing(code, at),
            _ => at += 1,
        }
    }
    end
}

fn leading_name(code: &str) -> &str {
    let length = code.bytes().take_while(|&byte| is_name_byte(byte)).count();
    &code[..length]
}

/// Records which module each name of `module::{A, b::C as D}` comes from.
fn parse_exports(layers: &Layers, tree: &str, exports: &mut BTreeMap<String, String>) {
    let tree = tree.trim_start();
    let tree = tree
        .trim_start_matches("crate::")
        .trim_start_matches("self::");
    let module = leading_name(tree);
    if layers.allowed(module).is_none() {
        return;
    }
    for branch in tree[module.len()..].split(['{', '}', ',']) {
        let last = branch.rsplit("::").next().unwrap_or_default();
        let name = last.rsplit(" as ").next().unwrap_or_default().trim();
        if !name.is_empty() {
            exports.insert(name.into(), module.into());
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
        let path = format!("{}{path}", PROTO.src);
        let root = CrateRoot::parse(&PROTO, LIB);
        let found = root.check_file(&Source::new(&path, text));
        let found: Vec<&str> = found
            .iter()
            .filter_map(|violation| violation.message.strip_suffix(", which is not below it"))
            .collect();
        assert_eq!(found, messages, "{text}");
    }

    #[test]
    fn lower_modules_may_be_used() {
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
    fn higher_modules_may_not() {
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
    fn neighbouring_modules_may_not() {
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
    fn a_re_export_counts_as_its_module() {
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
    fn tests_comments_and_submodules_are_not_checked() {
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
    fn no_table_allows_a_cycle() {
        for layers in CRATES {
            for (position, (module, allowed)) in layers.modules.iter().enumerate() {
                let below = &layers.modules[..position];
                for used in *allowed {
                    let is_below = below.iter().any(|(name, _)| name == used);
                    assert!(is_below, "{}: `{module}` above `{used}`", layers.src);
                }
            }
        }
    }

    #[test]
    fn the_table_lists_the_modules_that_exist() {
        let all: String = PROTO
            .modules
            .iter()
            .map(|(module, _)| format!("mod {module};\n"))
            .collect();
        assert_eq!(CrateRoot::parse(&PROTO, &all).check(), []);
        let unlisted = CrateRoot::parse(&PROTO, &format!("{all}mod utils;")).check();
        assert_eq!(unlisted.len(), 1);
        assert_eq!(unlisted[0].line, PROTO.modules.len() + 1);
        let missing = CrateRoot::parse(&PROTO, &all.replace("mod telemetry;", "")).check();
        assert_eq!(missing.len(), 1);
        assert!(missing[0].message.contains("`telemetry`"), "{}", missing[0]);
    }
}
