//! A tool knows the state of its server by type.

use bowline::{
    Server,
    server::{Conversation, Tool},
};

struct App;
struct Other;

fn tool() -> Tool<App> {
    Tool::new("hello")
        .description("Says hello")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            cx.confirm("Shall I?").await?;
            Ok("Hello!")
        })
}

fn serve() {
    let _service = Server::new("greeter", "1").state(Other).tool(tool()).build();
}

fn main() {}
