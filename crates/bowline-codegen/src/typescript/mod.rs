//! TypeScript: a module for each server, over the client of the official SDK.
//!
//! A module has a class with a method for each tool. `bowline-runtime.ts`, which they
//! share, works with `@modelcontextprotocol/sdk` 1.x and
//! `@modelcontextprotocol/client` 2.x.
//!
//! ```
//! use bowline::{
//!     RawJson,
//!     lock::{Lock, LockedServer},
//!     model::Tool,
//! };
//!
//! let mut tool = Tool::new("get_weather");
//! let schema = r#"{"type": "object", "properties": {"city": {"type": "string"}}}"#;
//! tool.input_schema = RawJson::from_string(schema.to_owned()).ok();
//! let mut lock = Lock::default();
//! let server = LockedServer::default().with_tools([&tool])?;
//! lock.servers.insert("weather".to_owned(), server);
//!
//! let files = bowline_codegen::typescript::generate(&lock)?;
//! let paths: Vec<_> = files.iter().map(|file| file.path.as_str()).collect();
//! assert_eq!(paths, ["bowline-runtime.ts", "weather.ts"]);
//! assert!(files[1].contents.contains("args: GetWeatherArguments = {},"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod method;
mod module;
mod names;
mod prompts;
mod resources;
mod template;
mod tools;
mod types;

use bowline::lock::Lock;

use crate::{
    GeneratedFile,
    error::GenerateError,
    names::{Scope, file_name},
};

/// The name of the file that the modules share, without its extension.
const RUNTIME: &str = "bowline-runtime";

/// Generates `bowline-runtime.ts` and a module for each server.
///
/// # Errors
///
/// Returns an error if two servers, two tools of one server, or two of its prompts
/// become the same identifier.
pub fn generate(lock: &Lock) -> Result<Vec<GeneratedFile>, GenerateError> {
    let mut files = vec![GeneratedFile {
        path: format!("{RUNTIME}.ts"),
        contents: include_str!("bowline-runtime.ts").to_owned(),
    }];
    let mut scope = Scope::new("servers");
    for (name, server) in &lock.servers {
        let file = file_name(name, &[RUNTIME]);
        scope.take(name, &file)?;
        files.push(GeneratedFile {
            path: format!("{file}.ts"),
            contents: module::module(name, server)?,
        });
    }
    Ok(files)
}
