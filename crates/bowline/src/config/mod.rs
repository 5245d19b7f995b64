//! Reading the configurations that people already have.
//!
//! Programs that use servers keep them in JSON files, which look much alike:
//! `{"mcpServers": {name: {"command": …}}}` in Claude Desktop, Claude Code,
//! Cursor and Windsurf, and `{"servers": {…}, "inputs": […]}` in VS Code. Codex
//! has `[mcp_servers.name]` in TOML, which the feature `config-toml` adds. A
//! [`Loader`] reads them all, with comments and trailing commas, and gives back
//! the servers that can be used and the [problems](Problem) of those that
//! cannot. One bad entry does not stop the others.
//!
//! # Entries
//!
//! A server that is started has `command`, and may have `args`, `env`, `cwd`
//! and `envFile`. One that runs elsewhere has `url` (or `serverUrl`, or
//! `httpUrl`), and may have `headers`. Both may have `type`, `disabled`, and
//! these of Bowline's own:
//!
//! | Key | Meaning |
//! |---|---|
//! | `projects` | a list of the projects that the server belongs to |
//! | `preset` | `"standard"` or `"interactive"` timeouts |
//! | `timeouts` | `opening_ms`, `probe_ms`, `resource_ms`, `tool_ms`, `other_ms`, `input_ms`, over the preset |
//! | `backoff` | `min_ms` and `max_ms`, the waits between attempts to connect |
//! | `max_frame` | the largest message in either direction: bytes, or a text such as `"64MiB"`; 16 MiB unless it is said |
//! | `revisions` | a list of the revisions of the protocol to speak |
//! | `roots` | a list of folders, or `file` URIs, where the server may work |
//!
//! The interactive preset does not suit servers that prepare something at
//! start-up; give those a longer `opening_ms`.
//!
//! # Whose files they are
//!
//! A [`Source`] says whether a file belongs to the user or to a project.
//! Whoever wrote a project wrote the commands in it. [`well_known()`] names the
//! user's files first, so that a project cannot take over a name that the user
//! has given; [`Loader::load_source`] does not read a project's file that
//! somebody else owns or can write; and [`ServerEntry::written`] is what to
//! show the user, and to remember, before such a command is run for the first
//! time. That is for the program to do.
//!
//! # Names
//!
//! A file names a server once: of two entries of one name, none is used, nor is
//! anything of a part that stands twice. Only what Claude Code keeps for one
//! folder, below `projects` in the user's own file, comes before a server of the
//! same name there. A name stands on one line, can be seen, and does not begin
//! with a dash. A file has at most 1,000 servers.
//!
//! # References
//!
//! In `command`, `args`, `env`, `cwd`, `envFile`, `url` and `headers`:
//!
//! | Written | Means |
//! |---|---|
//! | `${NAME}`, `${env:NAME}` | the variable |
//! | `${NAME:-value}` | the variable, or the value where it is unset or empty |
//! | `${input:id}` | an answer of the user; see [`Loader::inputs`] |
//! | `${workspaceFolder}`, `${workspaceFolderBasename}` | see [`Loader::workspace`] |
//! | `${userHome}`, and `~/` at the start of a command, argument or path | see [`Loader::home`] |
//! | `${pathSeparator}`, `${/}` | `/`, or `\` on Windows |
//!
//! # Variables of a server
//!
//! A variable in `env` or `envFile` gets the first of these that there is:
//! `MCP_<SERVER>_<NAME>` of the environment, `MCP_<NAME>` of the environment,
//! what is written in `env`, what is written in `envFile`. The server's name is
//! written in capitals, with `_` for all but letters and digits. A variable
//! `MCP_<SERVER>_<NAME>` is passed on as `NAME` even if it is not listed.
//!
//! A variable that fits several servers is meant for the one with the longest
//! name, and for no other: `MCP_GIT_HUB_TOKEN` for `git-hub`, and not for `git`.
//! [`Loader::load_all`] compares the names of all of the user's files. If two
//! names look the same in capitals, as `git-hub` and `git.hub` do, none of the
//! two gets such variables, and that is among the [problems](Problem). Servers
//! of a project's file get none of these variables: they would get what was
//! meant for others, by their names.

#[cfg(feature = "config-toml")]
mod codex;
mod document;
mod entry;
mod entry_writer;
mod env_file;
mod environment;
mod expand;
mod fields;
mod file;
mod input;
mod jsonc;
mod loader;
mod name;
mod overrides;
mod ownership;
mod paths;
mod problem;
mod raw_entry;
mod report;
mod sections;
mod server;
mod settings;
mod shell_words;
mod size;
mod strict;
mod twelve_factor;
mod well_known;

pub use self::{
    document::ConfigDocument,
    environment::Environment,
    file::ServersFile,
    input::InputVariable,
    loader::Loader,
    problem::{Position, Problem, ProblemKind, Severity},
    raw_entry::RawEntry,
    server::{ClientCredentials, Endpoint, RemoteKind, RemoteServer, ServerEntry, StdioServer},
    settings::ConnectionSettings,
    size::parse_size,
    well_known::{App, ConfigScope, ConfigSource, Os, well_known},
};
