//! Refreshes the tokens for a server repeatedly, sharing them with other
//! processes.
//!
//! `cargo run -p bowline --example refresher -- <url> <folder> <times>`

#![expect(clippy::print_stdout, reason = "prints when it starts")]

#[cfg(unix)]
#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    use bowline::auth::{FileStore, OAuth};

    let mut words = std::env::args().skip(1);
    let mut word = || words.next().ok_or("<url> <folder> <times>, please");
    let (url, folder, times) = (word()?, word()?, word()?);
    let oauth = OAuth::new("refresher").store(FileStore::open(folder)?);
    println!("ready");
    for _ in 0..times.parse()? {
        oauth.refresh(&url).await?;
    }
    Ok(())
}

/// File locks require Unix.
#[cfg(not(unix))]
fn main() {
    println!("not supported on this platform");
}
