//! Generates clients for random schemas, and for the servers that `cargo xtask peers`
//! has asked what they offer.

use std::{env, error::Error, fmt::Write as _, fs, path::Path};

use bowline::{
    RawJson,
    lock::{Lock, LockedServer},
    model::Tool,
};

#[path = "src/difficult_names.rs"]
mod difficult_names;
#[path = "src/offers.rs"]
mod offers;
#[path = "src/random.rs"]
mod random;

use random::Random;

/// How many tools with random schemas there are. The tests know it from the list.
const CASES: u64 = 120;

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/difficult_names.rs");
    println!("cargo::rerun-if-changed=src/offers.rs");
    println!("cargo::rerun-if-changed=src/random.rs");
    println!("cargo::rustc-check-cfg=cfg(has_servers)");
    let out = env::var("OUT_DIR")?;
    write_random_schemas(Path::new(&out))?;
    write_difficult(Path::new(&out))?;
    write_guide(Path::new(&out))?;
    let offers = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/peers/offers.json");
    println!("cargo::rerun-if-changed={}", offers.display());
    // A test fails if it is missing; nothing else here needs it.
    if let Ok(offers) = fs::read_to_string(offers) {
        write_servers(&offers, Path::new(&out))?;
        println!("cargo::rustc-cfg=has_servers");
    }
    Ok(())
}

fn write_random_schemas(out: &Path) -> Result<(), Box<dyn Error>> {
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
        writeln!(
            list,
            "    Case {{ seed: {seed}, input: round_trip::<random_schemas::case_{seed}::Args>, \
             output: round_trip::<random_schemas::case_{seed}::Output> }},"
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

/// Generates a client for a server with difficult names.
fn write_difficult(out: &Path) -> Result<(), Box<dyn Error>> {
    let mut lock = Lock::default();
    lock.servers
        .insert("difficult".to_owned(), difficult_names::server()?);
    let text = bowline_codegen::rust::generate_one(&lock)?;
    fs::write(out.join("difficult.rs"), text)?;
    Ok(())
}

/// Generates the client that the guide to typed clients uses.
fn write_guide(out: &Path) -> Result<(), Box<dyn Error>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guides/typed-clients.lock");
    println!("cargo::rerun-if-changed={}", path.display());
    let text = bowline_codegen::rust::generate_one(&Lock::read(path)?)?;
    fs::write(out.join("guide.rs"), text)?;
    Ok(())
}

fn write_servers(offers: &str, out: &Path) -> Result<(), Box<dyn Error>> {
    let lock = offers::lock(offers)?;
    let text = bowline_codegen::rust::generate_one(&lock)?;
    fs::write(out.join("servers.rs"), text)?;
    Ok(())
}
