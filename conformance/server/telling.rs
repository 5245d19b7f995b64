//! Tools that tell the client something before they answer.

use std::time::Duration;

use bowline::{
    proto::model::LogLevel,
    server::{Conversation, Tool},
};

use crate::app::{App, Change};

pub fn tools() -> [Tool<App>; 6] {
    [
        Tool::new("test_tool_with_logging")
            .description("Logs three messages")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                cx.log(LogLevel::Info, "Tool execution started");
                moment().await;
                cx.log(LogLevel::Info, "Tool processing data");
                moment().await;
                cx.log(LogLevel::Info, "Tool execution completed");
                Ok("Logged three messages.")
            }),
        Tool::new("test_logging_tool")
            .description("Logs a message, if the client wants any")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                cx.log(LogLevel::Info, "The logging tool was called");
                Ok("Logged a message.")
            }),
        Tool::new("test_tool_with_progress")
            .description("Reports progress three times")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                for percent in [0.0, 50.0, 100.0] {
                    cx.progress(percent, 100.0);
                    moment().await;
                }
                Ok("Done.")
            }),
        Tool::new("test_reconnection")
            .description("Lets go of the connection before it answers")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                cx.release_connection();
                moment().await;
                Ok("The client came back for this.")
            }),
        Tool::new("test_trigger_tool_change")
            .description("Announces that the list of tools has changed")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                cx.state().changed(Change::Tools);
                Ok("Announced.")
            }),
        Tool::new("test_trigger_prompt_change")
            .description("Announces that the list of prompts has changed")
            .no_input()
            .handler_with_conversation(async |_, cx: Conversation<App>| {
                cx.state().changed(Change::Prompts);
                Ok("Announced.")
            }),
    ]
}

/// What the suite wants to lie between two messages.
async fn moment() {
    tokio::time::sleep(Duration::from_millis(50)).await;
}
