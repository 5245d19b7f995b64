//! Renews the tokens for a server again and again, sharing them with others.
//!
//! `cargo run -p bowline --example refresher -- <url> <folder> <times>`

#![expect(clippy::print_stdout, reason = "it says when it begins")]

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

/// Locks on files are for Unix.
#[cfg(not(unix))]
fn main() {
    println!("there is nothing to share");
}
