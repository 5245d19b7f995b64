//! The client that the suite examines.
//!
//! The suite starts it once for each scenario, with the URL of a mock server as
//! the last argument and the rest in the environment.

mod answers;
mod everything;
mod scenario;
mod setting;
mod sign_in;
mod user;

use std::{error::Error, process::ExitCode};

use setting::Setting;

/// What may go wrong: anything.
type Result<T> = std::result::Result<T, Box<dyn Error + Send + Sync>>;

#[tokio::main]
async fn main() -> ExitCode {
    let result = async { scenario::play(&Setting::read()?).await };
    match result.await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
