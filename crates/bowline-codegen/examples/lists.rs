//! Scratch.
use bowline::{
    lock::{Lock, LockedServer},
    model::Tool,
};
fn main() {
    let mut lock = Lock::default();
    for path in std::env::args().skip(2) {
        let text = std::fs::read_to_string(&path).unwrap();
        let value: serde_json::Value = serde_json::from_str(&text).unwrap();
        let tools = value.get("tools").unwrap_or(&value);
        let tools: Vec<Tool> = serde_json::from_value(tools.clone()).unwrap();
        let name = std::path::Path::new(&path)
            .file_stem()
            .unwrap()
            .to_string_lossy()
            .into_owned();
        lock.servers
            .insert(name, LockedServer::default().with_tools(&tools).unwrap());
    }
    let start = std::time::Instant::now();
    let files = bowline_codegen::rust::generate(&lock).unwrap();
    eprintln!("{:?}", start.elapsed());
    for file in files {
        std::fs::write(
            format!("{}/{}", std::env::args().nth(1).unwrap(), file.path),
            file.contents,
        )
        .unwrap();
    }
}
