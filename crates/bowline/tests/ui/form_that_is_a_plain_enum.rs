//! An enum is no form, derived or not.

use bowline::server::{Conversation, Result};

enum Seat {
    Window,
    Aisle,
}

async fn choose(cx: Conversation) -> Result<Seat> {
    let question = cx.elicit::<Seat>("Which seat?");
    question.required().await
}

fn main() {}
