//! A conversation takes the same path again, even where it does several things
//! at once.

use bowline::server::{Conversation, Server, Service, Tool};
use tokio::join;

use super::{
    app::{App, Text},
    rig::{Called, Peer, say},
};

fn serve(tool: Tool<App>) -> Service<App> {
    let server = Server::new("order", "1").state(App::default()).tool(tool);
    server.build().expect("the server is sound")
}

#[tokio::test(start_paused = true)]
async fn a_step_that_ends_at_once_keeps_its_place_among_questions() {
    let tool = Tool::new("both")
        .description("A step and a question on one side, a question on the other")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let left = async {
                let name = cx.step("name", cx.state().note("left")).await?;
                cx.elicit::<Text>(name).required().await
            };
            let (left, right) = join!(left, cx.elicit::<Text>("right").required());
            Ok(format!("{} {}", left?.text, right?.text))
        });
    let service = serve(tool);
    let mut peer = Peer::new(&service);
    let end = peer
        .run(&Called::new("both"), |_, question| {
            say(question["params"]["message"].as_str().unwrap())
        })
        .await;
    assert_eq!(end.text(), ("left right".to_owned(), false));
    assert_eq!(service.state().noted(), ["left"]);
}

#[tokio::test(start_paused = true)]
async fn alike_questions_beside_a_step_do_not_change_places() {
    let tool = Tool::new("alike")
        .description("The same question on both sides")
        .no_input()
        .handler_with_conversation(async |_, cx: Conversation<App>| {
            let left = async {
                cx.step("quick", cx.state().note("quick")).await?;
                cx.state().note("left").await?;
                cx.elicit::<Text>("which?").required().await
            };
            let right = async {
                cx.state().note("right").await?;
                cx.elicit::<Text>("which?").required().await
            };
            let (left, right) = join!(left, right);
            Ok(format!("left {}, right {}", left?.text, right?.text))
        });
    let service = serve(tool);
    let called = Called::new("alike");
    let mut peer = Peer::new(&service);
    let asked = peer.begin(&called).await.questions();
    let mut order = service.state().noted();
    order.retain(|who| who != "quick");
    // Who asks first is told "left" or "right", as they are called.
    let mut names = order.iter();
    let answers = asked.answers(|_, _| say(names.next().expect("two ask")));
    let end = peer.go_on(&called, &asked.state, &answers).await;
    assert_eq!(end.text().0, "left left, right right");
}
