//! Generates clients for random schemas, and for the servers in `target/peers`.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

use bowline::{
    RawJson,
    lock::{Lock, LockedServer},
    model::Tool,
};

#[path = "src/random.rs"]
mod random;

use random::Random;

/// How many tools with random schemas there are. The tests know it from the list.
const CASES: u64 = 150;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/random.rs");
    let out = env::var("OUT_DIR")?;
    let out = Path::new(&out);
    let mut tools = Vec::new();
    let mut list = String::from("&[\n");
    for seed in 0..CASES {
        let mut random = Random::new(seed);
        let input = random::document(&mut random, true);
        let output = random::document(&mut random, false);
        let mut tool = Tool::new(format!("case_{seed}"));
        tool.input_schema = RawJson::from_string(input.to_string()).ok();
        tool.output_schema = RawJson::from_string(output.to_string()).ok();
        tools.push(tool);
        write!(
            list,
            "    Case {{ seed: {seed}, input: round_trip::<random_schemas::case_{seed}::Args>, \
             output: round_trip::<random_schemas::case_{seed}::Output> }},\n"
        )?;
    }
    list.push_str("]\n");
    let mut lock = Lock::default();
    let server = LockedServer::default().with_tools(&tools)?;
    lock.servers.insert("random_schemas".to_owned(), server);
    let text = bowline_codegen::rust::generate_one(&lock)?;
    fs::write(out.join("random_schemas.rs"), text)?;
    fs::write(out.join("cases.rs"), list)?;
    Ok(())
}
