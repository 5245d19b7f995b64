//! Reading the configuration files of other programs.
//!
//! Programs that use MCP servers list them in JSON files of similar formats:
//! `{"mcpServers": {name: {"command": …}}}` in Claude Desktop, Claude Code, Cursor and
//! Windsurf, and `{"servers": {…}, "inputs": […]}` in VS Code. Codex has
//! `[mcp_servers.name]` in TOML, which the feature `config-toml` adds. A [`Loader`]
//! reads them all, with comments and trailing commas, and returns the usable servers
//! and the [problems](Problem) of the others. One invalid entry does not affect the
//! others.
//!
//! # Entries
//!
//! A local server has `command`, and may have `args`, `env`, `cwd` and `envFile`. A
//! remote server has `url` (or `serverUrl`, or `httpUrl`), and may have `headers`. Both
//! may have `type`, `disabled`, and these keys specific to Bowline:
//!
//! | Key | Meaning |
//! |---|---|
//! | `projects` | the projects that the server belongs to, as a list |
//! | `preset` | `"standard"` or `"interactive"` timeouts |
//! | `timeouts` | `opening_ms`, `probe_ms`, `resource_ms`, `tool_ms`, `other_ms`, `input_ms`, overriding the preset |
//! | `backoff` | `min_ms` and `max_ms`, the delays between attempts to connect |
//! | `max_frame` | the maximum message size in both directions: bytes, or a string such as `"64MiB"`; 16 MiB by default |
//! | `revisions` | the protocol revisions to offer, as a list |
//! | `roots` | the folders, or `file` URIs, where the server may work, as a list |
//!
//! The interactive preset is too short for servers that do a lot of work at startup;
//! give those a longer `opening_ms`.
//!
//! # Trust
//!
//! A [`ConfigSource`] records whether a file belongs to the user or to a project. The
//! author of a project also wrote the commands in its file. [`well_known()`] returns
//! the user's files first, so a project cannot take over a name that the user has
//! assigned; [`Loader::load_source`] does not read a project's file that another user
//! owns or can write; and [`ServerEntry::raw`] is what the program should show the
//! user, and remember, before it runs such a command for the first time.
//!
//! # Names
//!
//! A file may define a server only once: if two entries have the same name, neither is
//! used, and a section that appears twice is not used at all. The exception is Claude
//! Code's section for one folder, below `projects` in the user's own file: its servers
//! take precedence over servers of the same name. A name is a single line of visible
//! characters and does not begin with a dash. A file has at most 1,000 servers.
//!
//! # References
//!
//! In `command`, `args`, `env`, `cwd`, `envFile`, `url` and `headers`:
//!
//! | Written | Means |
//! |---|---|
//! | `${NAME}`, `${env:NAME}` | the variable |
//! | `${NAME:-value}` | the variable, or the value if it is unset or empty |
//! | `${input:id}` | the user's answer; see [`Loader::inputs`] |
//! | `${workspaceFolder}`, `${workspaceFolderBasename}` | see [`Loader::workspace`] |
//! | `${userHome}`, and `~/` at the start of a command, argument or path | see [`Loader::home`] |
//! | `${pathSeparator}`, `${/}` | `/`, or `\` on Windows |
//!
//! # Variables of a server
//!
//! A variable in `env` or `envFile` gets the first of these values:
//! `MCP_<SERVER>_<NAME>` from the environment, `MCP_<NAME>` from the environment, the
//! value in `env`, the value in `envFile`. The server's name is written in upper case,
//! with `_` for all characters other than letters and digits. A variable
//! `MCP_<SERVER>_<NAME>` is passed on as `NAME` even if the entry does not list it.
//!
//! A variable that matches several servers belongs only to the one with the longest
//! name: `MCP_GIT_HUB_TOKEN` to `git-hub`, not to `git`. [`Loader::load_all`] considers
//! the names in all of the user's files. If two names are equal in upper case, as
//! `git-hub` and `git.hub` are, neither server gets such variables, and a
//! [problem](Problem) reports it. Servers in a project's file get none of these
//! variables: by choosing its names, a project could get values meant for other
//! servers.

#[cfg(feature = "config-toml")]
mod codex;
mod document;
mod entry_reader;
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
mod twelve_factor;
mod unique_keys;
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
