//! The second one would hide the first.

use bowline::server::Tool;

fn hello() -> Tool {
    Tool::new("hello")
        .description("Says hello")
        .no_input()
        .description("Says hello to everybody")
        .handler(async |_| Ok("Hello!"))
}

fn main() {}
