//! `bowline gen`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use bowline::lock::Lock;
use bowline_codegen::{GenerateError, GeneratedFile};
use clap::{Args, ValueEnum};
use serde_json::json;

use crate::{
    context::Context,
    failure::Failure,
    locked::{DEFAULT_FILE, LockFile, collect, print_changes},
    target::Target,
};

/// Generate a typed client, or documentation, for servers
///
/// Reads bowline.lock, so it needs no servers and always writes the same for the same
/// lock. Without a lock file, or with --live, it asks the servers.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  bowline lock github files            first record what the servers offer
  bowline gen rust --out src/servers   a Rust module for each locked server
  bowline gen ts github --out src/mcp  TypeScript for one of them
  bowline gen docs --out docs/servers  documentation in Markdown
  bowline gen rust --out src/servers --check  exit with 5 if the files are not up to date
  bowline gen rust github --live       print what it would be, from the server itself")]
pub(crate) struct Generate {
    /// What to generate
    #[arg(value_enum, value_name = "LANGUAGE")]
    language: Language,
    /// The servers; defaults to all that are locked
    #[arg(value_name = "SERVER")]
    servers: Vec<String>,
    /// The folder for the files; without it they are printed
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The lock file
    #[arg(long, value_name = "FILE", default_value = DEFAULT_FILE)]
    lock: PathBuf,
    /// Ask the servers what they offer now, instead of reading the lock file
    #[arg(long)]
    live: bool,
    /// Write nothing, and fail if files would change
    #[arg(long, requires = "out")]
    check: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Language {
    /// Rust modules that use the crate `bowline`
    Rust,
    /// TypeScript modules for the official SDK's client
    #[value(name = "ts", alias = "typescript")]
    TypeScript,
    /// Documentation in Markdown
    Docs,
}

impl Generate {
    pub(crate) async fn run(self, cx: &Context) -> Result<(), Failure> {
        let file = LockFile::load(&self.lock)?;
        let is_live = self.live || !file.exists;
        let lock = match is_live {
            true => self.ask_servers(cx, &file).await?,
            false => self.select(&file)?,
        };
        if is_live && file.exists && self.check {
            report_changes(cx, &file, &lock)?;
        }
        let files = self.generate(&lock)?;
        match (&self.out, self.check) {
            (Some(folder), true) => check_files(cx, folder, &files),
            (Some(folder), false) => write_files(cx, folder, &files),
            (None, _) => print_files(cx, &files),
        }
    }

    fn generate(&self, lock: &Lock) -> Result<Vec<GeneratedFile>, Failure> {
        let files = match self.language {
            Language::Rust => bowline_codegen::rust::generate(lock),
            Language::TypeScript => bowline_codegen::typescript::generate(lock),
            Language::Docs => bowline_codegen::docs::generate(lock),
        };
        files.map_err(|error: GenerateError| Failure::usage(error.to_string()))
    }

    /// Returns the selected servers of the lock.
    fn select(&self, file: &LockFile) -> Result<Lock, Failure> {
        if self.servers.is_empty() {
            return Ok(file.lock.clone());
        }
        let mut selected = Lock::default();
        for name in &self.servers {
            let server = file.server(name)?.clone();
            selected.servers.insert(name.clone(), server);
        }
        Ok(selected)
    }

    /// Asks servers what they offer. What was observed about them is kept.
    async fn ask_servers(&self, cx: &Context, file: &LockFile) -> Result<Lock, Failure> {
        let names = match self.servers.is_empty() {
            true => file.lock.servers.keys().cloned().collect(),
            false => self.servers.clone(),
        };
        if names.is_empty() {
            return Err(Failure::usage("no server given, and no lock file to read")
                .hint("create one with `bowline lock SERVER…`, or name a server"));
        }
        let targets = Target::resolve_all(&names, cx)?;
        let mut lock = Lock::default();
        for (target, server) in targets.iter().zip(collect(cx, &targets).await?) {
            let name = target.name();
            lock.servers
                .insert(name.to_owned(), file.update(name, server));
        }
        Ok(lock)
    }
}

/// Prints what has changed since the servers were locked.
fn report_changes(cx: &Context, file: &LockFile, current: &Lock) -> Result<(), Failure> {
    let mut changes = file.changes(&current.servers);
    changes.retain(|server| !server.is_new);
    match cx.json() {
        true => Ok(()),
        false => print_changes(cx, &changes),
    }
}

fn check_files(cx: &Context, folder: &Path, files: &[GeneratedFile]) -> Result<(), Failure> {
    let is_outdated =
        |file: &&GeneratedFile| read(&folder.join(&file.path)).as_deref() != Some(&file.contents);
    let outdated: Vec<_> = files.iter().filter(is_outdated).collect();
    if cx.json() {
        let paths: Vec<_> = outdated.iter().map(|file| &file.path).collect();
        cx.output.json(&json!({ "outdated": paths }))?;
    }
    match &outdated[..] {
        [] => Ok(()),
        [first, ..] => {
            let (count, path) = (outdated.len(), folder.join(&first.path));
            let what = match count {
                1 => format!("{} is not up to date", path.display()),
                _ => format!("{count} files are not up to date, {} first", path.display()),
            };
            Err(Failure::failed(what).hint("run the same command without --check"))
        }
    }
}

fn read(path: &Path) -> Option<String> {
    fs::read_to_string(path).ok()
}

fn write_files(cx: &Context, folder: &Path, files: &[GeneratedFile]) -> Result<(), Failure> {
    for file in files {
        let path = folder.join(&file.path);
        let failure = |error| Failure::usage(format!("{}: {error}", path.display()));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failure)?;
        }
        // A file that stays the same keeps its time, so nothing is built again.
        if read(&path).as_deref() != Some(&file.contents) {
            fs::write(&path, &file.contents).map_err(failure)?;
            cx.output.note(format!("wrote {}", path.display()));
        }
    }
    Ok(())
}

fn print_files(cx: &Context, files: &[GeneratedFile]) -> Result<(), Failure> {
    if cx.json() {
        let files = files.iter().map(|file| {
            let (path, contents) = (&file.path, &file.contents);
            json!({ "path": path, "contents": contents })
        });
        let files: Vec<_> = files.collect();
        return cx.output.json(&json!({ "files": files }));
    }
    // What is the same for all servers is nothing that one reads.
    let common = ["mod.rs", "bowline-runtime.ts", "index.md"];
    let files = files
        .iter()
        .filter(|file| !common.contains(&file.path.as_str()));
    let contents: Vec<_> = files.map(|file| file.contents.as_str()).collect();
    cx.output.line(contents.join("\n").trim_end())
}
