//! The prompts.

use bowline::server::{
    Conversation, Prompt,
    form::Elicit,
    prompt::{Argument, Arguments, user},
};

use crate::{app::App, content::embedded, samples};

pub fn prompts() -> [Prompt<App>; 5] {
    [
        Prompt::new("test_simple_prompt")
            .description("A prompt without arguments")
            .get(async |_, _| Ok("This is a simple prompt for testing.")),
        Prompt::new("test_prompt_with_arguments")
            .description("A prompt with arguments")
            .argument(Argument::new("arg1").description("The first").required())
            .argument(Argument::new("arg2").description("The second").required())
            .complete_from("arg1", ["testing", "tested", "tester"])
            .get(async |given: Arguments, _| {
                Ok(format!(
                    "arg1='{}', arg2='{}'",
                    &given["arg1"], &given["arg2"]
                ))
            }),
        Prompt::new("test_prompt_with_embedded_resource")
            .description("A prompt with a resource in it")
            .argument(Argument::new("resourceUri").required())
            .get(async |given: Arguments, _| {
                let text = "Embedded resource content for testing.";
                let resource = embedded(&given["resourceUri"], "text/plain", text);
                Ok(vec![
                    user(resource),
                    user("Please process the embedded resource above."),
                ])
            }),
        Prompt::new("test_prompt_with_image")
            .description("A prompt with a picture in it")
            .get(async |_, _| {
                Ok(vec![
                    user(samples::image()),
                    user("Please analyze the image above."),
                ])
            }),
        Prompt::new("test_input_required_result_prompt")
            .description("A prompt that asks the user first")
            .get(async |_, cx: Conversation<App>| {
                let question = cx.elicit::<Context>("What is it about?");
                let answer = question.key("user_context").required().await?;
                Ok(format!("Tell me about {}.", answer.context))
            }),
    ]
}

#[derive(Elicit)]
struct Context {
    context: String,
}
