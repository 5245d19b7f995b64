//! A minimal server over stdio on nothing but serde_json and tokio.

mod echo;

use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let mut lines = BufReader::new(tokio::io::stdin()).lines();
    let mut output = tokio::io::stdout();
    while let Some(line) = lines.next_line().await? {
        if let Some(mut answer) = echo::answer(line.as_bytes()) {
            answer.push(b'\n');
            output.write_all(&answer).await?;
            output.flush().await?;
        }
    }
    Ok(())
}
