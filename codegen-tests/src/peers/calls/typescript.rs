//! The same calls through generated TypeScript and generated Rust: the servers are real,
//! and the client of the TypeScript is that of the official SDK.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use bowline::{Client, lock::Lock};
use serde_json::{Map, Value, json};

use super::{builders, entries, new_folder, peers, stdio::process};
use crate::{
    offers,
    peers::source::{STRICT, assert_succeeds, write},
    round_trip::are_equal,
    servers,
};

/// The servers that are called: in TypeScript, in Python and in Go.
const SERVERS: [&str; 7] = [
    "everything",
    "filesystem",
    "grafana",
    "hubspot",
    "memory",
    "sequential-thinking",
    "time",
];

#[tokio::test]
async fn typescript_returns_what_rust_returns() {
    let program = compile();
    let expected = call_from_rust().await;
    assert_eq!(expected.len(), SERVERS.len());
    for version in ["1", "2"] {
        let returned = call_from_typescript(&program, version);
        for name in SERVERS {
            let (ours, theirs) = (&expected[name], &returned[name]);
            assert!(
                are_equal(ours, theirs),
                "{name} returned {theirs} with SDK {version}.x, but {ours} in Rust"
            );
        }
    }
}

/// Compiles the modules of the servers and the program that uses them, and returns its
/// path.
fn compile() -> PathBuf {
    let folder = Path::new(env!("OUT_DIR")).join("typescript-calls");
    let offers = fs::read_to_string(peers().join("offers.json")).expect("it is installed");
    let all = offers::lock(&offers).expect("offers");
    let mut lock = Lock::default();
    for name in SERVERS {
        lock.servers
            .insert(name.to_owned(), all.servers[name].clone());
    }
    let files = bowline_codegen::typescript::generate(&lock).expect("no collisions");
    write(&files, &folder);
    let main = folder.join("calls.ts");
    fs::write(&main, include_str!("calls.ts")).expect("it can be written");
    fs::write(folder.join("package.json"), r#"{"type": "module"}"#).expect("it can be written");
    let modules = peers().join("node/node_modules");
    let modules = modules.canonicalize().expect("run `cargo xtask peers`");
    std::os::unix::fs::symlink(modules, folder.join("node_modules")).expect("a link");
    let out = folder.join("out");
    let mut tsc = Command::new(peers().join("node/node_modules/.bin/tsc"));
    tsc.args(STRICT)
        .args(["--skipLibCheck", "--noEmit", "false"])
        .arg("--outDir")
        .arg(&out)
        .arg(main)
        .current_dir(&folder);
    assert_succeeds(&mut tsc);
    out.join("calls.js")
}

/// Calls every server from TypeScript, with a version of the SDK.
fn call_from_typescript(program: &Path, version: &str) -> Value {
    let folder = new_folder();
    fs::write(folder.join("here.txt"), "").expect("it can be written");
    let entries = entries();
    let starts = SERVERS.map(|name| (name.to_owned(), start(&entries[name], &folder)));
    let starts = Value::Object(Map::from_iter(starts));
    let mut node = Command::new("node");
    node.arg(program).args([version, &starts.to_string()]);
    let output = assert_succeeds(&mut node);
    fs::remove_dir_all(&folder).expect("it can be removed");
    serde_json::from_slice(&output).expect("it prints JSON")
}

/// Returns how the SDK starts a server.
fn start(entry: &Value, folder: &Path) -> Value {
    let command = entry["command"].as_str().expect("a command");
    let command = peers().join(command).canonicalize().expect("it is there");
    let mut env = entry["env"].as_object().cloned().unwrap_or_default();
    let memory = folder.join("memory.jsonl");
    env.insert("MEMORY_FILE_PATH".to_owned(), json!(memory));
    let args = entry.get("args").cloned().unwrap_or(json!([]));
    json!({"command": command, "args": args, "env": env, "cwd": folder})
}

/// Calls every server from Rust.
async fn call_from_rust() -> Map<String, Value> {
    let entries = entries();
    let mut returned = Map::new();
    for name in SERVERS {
        let folder = new_folder();
        fs::write(folder.join("here.txt"), "").expect("it can be written");
        let [builder, _] = builders();
        let client = builder.connect(process(&entries[name], &folder)).await;
        let client = client.unwrap_or_else(|error| panic!("{name}: {error:#}"));
        let value = call_one(name, &client).await;
        let value = value.unwrap_or_else(|error| panic!("{name}: {error:#}"));
        returned.insert(name.to_owned(), value);
        client.stop().await;
        fs::remove_dir_all(&folder).expect("it can be removed");
    }
    returned
}

/// Makes the call that `calls.ts` makes.
async fn call_one(name: &str, client: &Client) -> Result<Value, bowline::Error> {
    Ok(match name {
        "everything" => call_everything(client).await?,
        "filesystem" => {
            let args = servers::filesystem::list_directory::Args::new(".");
            json!(servers::filesystem::list_directory(client, &args).await?)
        }
        "grafana" => {
            let args = servers::grafana::generate_deeplink::Args::new("dashboard");
            let args = args.dashboard_uid("abc");
            let result = servers::grafana::generate_deeplink(client, &args).await?;
            json!(result.all_text())
        }
        "hubspot" => {
            use servers::hubspot::hubspot_get_link::{Args, PageRequest, Pagetype};
            let request = PageRequest::new(Pagetype::Record, "0-1").object_id("7");
            let args = Args::new("1", "app.hubspot.com", vec![request]);
            let result = servers::hubspot::hubspot_get_link(client, &args).await?;
            json!(result.all_text())
        }
        "memory" => {
            use servers::memory::create_entities::{Args, Entity};
            let entity = Entity::new("Ada", "person", vec!["She counts.".to_owned()]);
            let args = Args::new(vec![entity]);
            json!(servers::memory::create_entities(client, &args).await?)
        }
        "sequential-thinking" => {
            use servers::sequential_thinking::sequentialthinking::{Args, NextThoughtNeeded};
            let args = Args::new("First", NextThoughtNeeded::Boolean(false), 1, 1);
            json!(servers::sequential_thinking::sequentialthinking(client, &args).await?)
        }
        "time" => {
            let args = servers::time::convert_time::Args::new("UTC", "16:30", "Asia/Tokyo");
            let converted = servers::time::convert_time(client, &args).await?;
            json!([converted.target.timezone, converted.time_difference])
        }
        other => panic!("nothing here calls {other}"),
    })
}

async fn call_everything(client: &Client) -> Result<Value, bowline::Error> {
    use servers::everything::{get_sum, prompts, resources};
    let sum = get_sum(client, &get_sum::Args::new(17.0, 25.0)).await?;
    let args = prompts::args_prompt::Args::new("Porto");
    let prompt = prompts::args_prompt(client, &args).await?;
    let resource = resources::instructions_md(client).await?;
    let text = resource.contents[0].text.as_ref().expect("it is a text");
    Ok(json!({"sum": sum.all_text(), "prompt": prompt.messages, "resource": text}))
}
