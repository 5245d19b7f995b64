//! Tools that only respond.

use std::time::Duration;

use bowline::{
    Server,
    model::{ImageContent, LogLevel},
    server::{Error, HandlerContext, Json, Result, tool},
};
use schemars::JsonSchema;
use serde::Serialize;

use super::{App, picture};

/// The exit code of the `crash` tool.
const CRASH_EXIT_CODE: i32 = 70;

/// Registers the tools.
pub(super) fn register(server: Server<App>) -> Server<App> {
    server
        .tool(echo::tool().with_any_state())
        .tool(add::tool().with_any_state())
        .tool(roll::tool().with_any_state())
        .tool(draw::tool().with_any_state())
        .tool(slow::tool())
        .tool(fail::tool().with_any_state())
        .tool(crash::tool())
}

/// Returns its input
#[tool(read_only, open_world = false)]
async fn echo(
    /// The text to return
    message: String,
) -> Result<String> {
    Ok(message)
}

#[derive(Serialize, JsonSchema)]
struct Sum {
    sum: f64,
}

/// Adds two numbers
#[tool(read_only, open_world = false)]
async fn add(a: f64, b: f64) -> Result<Json<Sum>> {
    Ok(Json(Sum { sum: a + b }))
}

#[derive(Serialize, JsonSchema)]
struct Rolled {
    /// The value of each die.
    dice: Vec<u8>,
    /// Their sum.
    total: u32,
}

/// Rolls dice
#[tool(read_only, open_world = false)]
async fn roll(
    /// Number of dice
    #[serde(default = "two")]
    #[schemars(range(min = 1, max = 100))]
    dice: u8,
    /// Number of sides of each die
    #[serde(default = "six")]
    #[schemars(range(min = 2, max = 100))]
    sides: u8,
) -> Result<Json<Rolled>> {
    let mut random = vec![0_u16; dice.into()];
    for number in &mut random {
        let mut bytes = [0; 2];
        getrandom::fill(&mut bytes)?;
        *number = u16::from_ne_bytes(bytes);
    }
    // The remainder fits into a byte, like the number of sides.
    let face = |number: u16| (number % u16::from(sides)) as u8 + 1;
    let dice: Vec<u8> = random.into_iter().map(face).collect();
    let total = dice.iter().copied().map(u32::from).sum();
    Ok(Json(Rolled { dice, total }))
}

/// Draws a small picture of a knot
#[tool(name = "picture", read_only, open_world = false)]
async fn draw() -> Result<ImageContent> {
    Ok(ImageContent::new(picture::base64(), "image/png"))
}

/// Counts slowly with progress, and can be cancelled
#[tool(read_only, open_world = false)]
async fn slow(
    /// Number to count to
    #[serde(default = "five")]
    #[schemars(range(min = 1, max = 1000))]
    count: u32,
    /// Pause before each number, in milliseconds
    #[serde(default = "half_a_second")]
    #[schemars(range(max = 60_000))]
    pause_ms: u32,
    cx: HandlerContext<App>,
) -> Result<String> {
    for number in 1..=count {
        // A cancelled call is dropped here, and nothing more happens.
        tokio::time::sleep(Duration::from_millis(pause_ms.into())).await;
        let message = format!("{number} of {count}");
        cx.state().log_to_stderr(&format!("counting, {message}"));
        cx.progress_with_message(number.into(), f64::from(count), &message);
        cx.log(LogLevel::Info, &message);
    }
    Ok(format!("Counted to {count}."))
}

/// Always fails
#[tool(read_only, open_world = false)]
async fn fail(
    /// Error message
    #[serde(default = "no_reason")]
    reason: String,
) -> Result<String> {
    Err(Error::failed(reason))
}

/// Exits the server process with a last message
#[tool(destructive = true, open_world = false)]
async fn crash(
    /// Text written to standard error before exiting
    #[serde(default = "farewell")]
    last_words: String,
    cx: HandlerContext<App>,
) -> Result<String> {
    if !cx.state().has_own_process() {
        return Err(Error::failed(
            "this demo server runs in your own process, which would exit too; start a separate \
             one: bowline call crash -- bowline serve demo --stdio",
        ));
    }
    cx.state().log_to_stderr(&last_words);
    std::process::exit(CRASH_EXIT_CODE);
}

fn two() -> u8 {
    2
}

fn six() -> u8 {
    6
}

fn five() -> u32 {
    5
}

fn half_a_second() -> u32 {
    500
}

fn no_reason() -> String {
    "this tool always fails".to_owned()
}

fn farewell() -> String {
    "so long, and thanks for all the calls".to_owned()
}
