//! One call, from its first round to its end, or to the shelf.

use std::{cmp::Ordering, pin::pin, time::Duration};

use bowline::{
    Client, Error,
    client::{CallTool, Continuation, Notification, ToolTurn, progress_channel},
    proto::model::{InputResponses, LogLevel, LoggingMessageParams},
};
use serde_json::Value;
use tokio::time::{MissedTickBehavior, interval, sleep};

use super::{
    Ended,
    args::Logs,
    desk::{Desk, Unanswered},
    one_line,
    parked::{Parked, Shelf},
    progress::Progress,
    visits,
};
use crate::{
    context::Context,
    failure::Failure,
    output::{Style, clean},
};

/// How often one call may ask.
const MOST_ROUNDS: u32 = 32;
/// How long a call may take in all that keeps telling how far it is, unless
/// the person says otherwise.
const LONGEST: Duration = Duration::from_secs(60 * 60);
const TICK: Duration = Duration::from_millis(250);

/// A call that goes on in rounds, as long as the server has questions.
pub(crate) struct Rounds<'a> {
    cx: &'a Context,
    client: &'a Client,
    tool: &'a str,
    /// Where the call lies on the shelf, if it does.
    parked: Option<Parked>,
}

/// What comes after a round.
enum Next {
    Turn(ToolTurn),
    Parked(String),
}

impl<'a> Rounds<'a> {
    pub(crate) fn new(cx: &'a Context, client: &'a Client, tool: &'a str) -> Self {
        Self {
            cx,
            client,
            tool,
            parked: None,
        }
    }

    /// Makes the call.
    pub(crate) async fn begin(mut self, arguments: Value) -> Result<Ended, Failure> {
        loop {
            let call = self.client.tools().call(self.tool, &arguments);
            match self.watched(call).await {
                Ok(turn) => return self.run(Next::Turn(turn)).await,
                Err(error) => visits::before_again(&self.cx.talk, error).await?,
            }
        }
    }

    /// Goes on with a call that lies on the shelf.
    pub(crate) async fn go_on(mut self, parked: Parked) -> Result<Ended, Failure> {
        let (continuation, answers) = (parked.continuation.clone(), parked.answers.clone());
        self.parked = Some(parked);
        let desk = &self.cx.talk;
        desk.end_parked(false);
        let next = self.round(continuation, answers, 0).await?;
        desk.end_parked(true);
        self.run(next).await
    }

    async fn run(&mut self, mut next: Next) -> Result<Ended, Failure> {
        for round in 1..=MOST_ROUNDS {
            match next {
                Next::Parked(id) => return Ok(Ended::Parked(id)),
                Next::Turn(ToolTurn::Done(result)) => {
                    self.take_down()?;
                    return Ok(Ended::Done(result));
                }
                Next::Turn(ToolTurn::NeedsInput(continuation)) => {
                    let answers = InputResponses::default();
                    next = self.round(continuation, answers, round).await?;
                }
                Next::Turn(_) => break,
            }
        }
        let name = self.cx.talk.name();
        Err(Failure::failed(format!(
            "{name} asks for ever: {MOST_ROUNDS} times so far"
        )))
    }

    /// Answers what is asked and sends it, or puts the call on the shelf.
    async fn round(
        &mut self,
        continuation: Continuation,
        mut answers: InputResponses,
        round: u32,
    ) -> Result<Next, Failure> {
        if continuation.questions().is_empty() {
            // It was put off: a server may need time more than answers.
            sleep(Duration::from_millis(100 << round.min(5))).await;
        }
        let open = self.answer(&continuation, &mut answers).await?;
        if !open.is_empty() || self.parked.is_some() {
            // Before anything is sent: an answer that is lost can be sent again.
            self.shelve(&continuation, &answers)?;
        }
        if !open.is_empty() {
            for unanswered in &open {
                // All of them are told at the end.
                let _ = self.cx.talk.complain(unanswered);
            }
            let id = self.parked.as_ref().map(|parked| parked.id.clone());
            return Ok(Next::Parked(id.unwrap_or_default()));
        }
        let call = self.client.tools().resume(continuation, &answers);
        match self.watched(call).await {
            Ok(turn) => Ok(Next::Turn(turn)),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// Answers what is not answered yet, and says what could not be.
    async fn answer(
        &self,
        continuation: &Continuation,
        answers: &mut InputResponses,
    ) -> Result<Vec<Unanswered>, Failure> {
        let desk = &self.cx.talk;
        let mut open = Vec::new();
        for (key, question) in continuation.questions().iter() {
            if answers.contains_key(key) && !desk.has_answer(key, question) {
                continue;
            }
            match desk.answer(key, question).await? {
                Ok(answer) => drop(answers.insert(key.to_owned(), answer)),
                Err(unanswered) => {
                    answers.remove(key);
                    open.push(unanswered);
                }
            }
        }
        Ok(open)
    }

    fn shelve(
        &mut self,
        continuation: &Continuation,
        answers: &InputResponses,
    ) -> Result<(), Failure> {
        let shelf = Shelf::open()?;
        let parked = match self.parked.take() {
            Some(mut parked) => {
                parked.continuation = continuation.clone();
                parked.answers = answers.clone();
                parked
            }
            None => {
                let spoken = self.client.server().map(|server| server.revision);
                let (continuation, answers) = (continuation.clone(), answers.clone());
                Parked::new(
                    self.cx,
                    shelf.new_id(),
                    spoken,
                    self.tool,
                    continuation,
                    answers,
                )?
            }
        };
        shelf.put(self.parked.insert(parked))
    }

    /// The call is over, and need not lie on the shelf any more.
    fn take_down(&mut self) -> Result<(), Failure> {
        match self.parked.take() {
            Some(parked) => Shelf::open()?.remove(&parked.id),
            None => Ok(()),
        }
    }

    /// A refusal ends the call; anything else leaves it where it lies.
    fn failed(&mut self, error: Error) -> Failure {
        let refused = error.server_error().is_some();
        let failure = Failure::from(error);
        match &self.parked {
            Some(_) if refused => {
                // What is wrong with the shelf matters less.
                let _ = self.take_down();
                failure.hint("the server does not go on with this call: make it anew")
            }
            Some(parked) => failure.hint(format!(
                "the call is still parked, with its answers: `bowline resume {}` sends them again",
                parked.id
            )),
            None => failure,
        }
    }
}

impl Rounds<'_> {
    /// Sends a round and shows what happens meanwhile.
    async fn watched(&self, call: CallTool<'_>) -> Result<ToolTurn, Error> {
        let desk = &self.cx.talk;
        let (sender, mut told) = progress_channel();
        let mut call = call.on_progress(sender);
        call = match self.cx.time_left() {
            Some(left) => call.timeout(left),
            None => call.progress_extends(LONGEST),
        };
        let mut heard = self.client.listen();
        let mut progress = Progress::new(&desk.screen, self.tool, desk.plain_progress());
        let mut ticks = interval(TICK);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut levelling = pin!(self.set_level());
        let mut level_set = false;
        let mut ending = pin!(call.park_on_input());
        loop {
            // In this order: the level before the call, and what was said
            // before the end.
            tokio::select! {
                biased;
                () = &mut levelling, if !level_set => level_set = true,
                Some(how_far) = told.recv() => progress.told(how_far),
                Some(news) = heard.next() => show(desk, news),
                ended = &mut ending => return ended,
                _ = ticks.tick(), if desk.screen.is_live() => progress.tick(),
            }
        }
    }

    /// Asks for log messages, if any are wanted. That the server refuses is
    /// not what the person came for.
    async fn set_level(&self) {
        let server = self.client.server();
        let logs = server.is_some_and(|server| server.offers("logging"));
        if let (true, Some(level)) = (logs, self.cx.talk.wanted_level()) {
            let _ = self.client.set_log_level(level).await;
        }
    }
}

/// Shows what a server says unasked.
fn show(desk: &Desk, news: Notification) {
    match news {
        Notification::Log(message) if desk.shows(&message.level) => {
            desk.screen.line(log_line(desk, &message));
        }
        _ => {}
    }
}

fn log_line(desk: &Desk, message: &LoggingMessageParams) -> String {
    let paint = desk.screen.paint();
    let style = match message.level {
        LogLevel::Debug | LogLevel::Info | LogLevel::Notice => Style::Faint,
        LogLevel::Warning => Style::Warning,
        _ => Style::Bad,
    };
    let level = paint.text(style, format!("[{}]", one_line(message.level.as_str())));
    let logger = message
        .logger
        .as_deref()
        .map(|name| format!(" {}:", one_line(name)));
    let text = message.data.decode::<String>();
    let text = text.unwrap_or_else(|_| message.data.get().to_owned());
    format!("{level}{} {}", logger.unwrap_or_default(), clean(&text))
}

impl Desk {
    /// The level to ask servers for; none is left to them.
    fn wanted_level(&self) -> Option<LogLevel> {
        match self.logs() {
            Logs::From(level) => Some(level),
            Logs::Off | Logs::AsItComes => None,
        }
    }

    fn shows(&self, level: &LogLevel) -> bool {
        let least = match self.logs() {
            Logs::Off => return false,
            Logs::From(least) => least,
            Logs::AsItComes => LogLevel::Warning,
        };
        // One that is unknown may be severe.
        level.partial_cmp(&least) != Some(Ordering::Less)
    }
}
