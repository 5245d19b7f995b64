//! Calls that are refused until the user has visited a page.

use bowline::{
    Error,
    model::{ElicitAction, ElicitParams, UrlElicitationRequiredData},
    proto::jsonrpc::code,
};

use super::{one_line, page::Page, responder::Responder};
use crate::failure::Failure;

/// Sends the user to the pages named by the error, and waits until they are
/// done; then the call may be retried. Any other error is a failure.
pub(crate) async fn open_required_urls(responder: &Responder, error: Error) -> Result<(), Failure> {
    let pages = required_pages(&error);
    if pages.is_empty() {
        return Err(error.into());
    }
    let name = responder.name();
    let Some(terminal) = responder.terminal() else {
        let failure = Failure::failed(format!("{name} requires you to visit a page first"));
        return Err(pages.iter().fold(failure, |failure, params| {
            failure.hint(match Page::parse(params) {
                Ok(page) => format!("{} {}", one_line(&params.message), page.address()),
                Err(why) => why,
            })
        }));
    };
    for params in &pages {
        let answer = responder.elicit(None, params).await;
        if !answer.is_ok_and(|answer| answer.action == ElicitAction::Accept) {
            let why = format!("{name} cannot continue: its page was not visited");
            return Err(Failure::failed(why));
        }
    }
    let _pause = responder.screen.pause();
    let prompt = "  Press Enter when you are done; the call is then retried. ";
    match terminal.ask(prompt).await {
        Some(_) => Ok(()),
        None => Err(Failure::failed("the call was not retried")),
    }
}

fn required_pages(error: &Error) -> Vec<ElicitParams> {
    let refusal = error
        .server_error()
        .filter(|refusal| refusal.code == code::URL_ELICITATION_REQUIRED);
    let data = refusal.and_then(|refusal| refusal.data.as_ref());
    let data = data.and_then(|data| data.decode::<UrlElicitationRequiredData>().ok());
    data.map(|data| data.elicitations).unwrap_or_default()
}
