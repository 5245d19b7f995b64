//! Calls that the server answers with questions: ask, then send again.

use std::time::Duration;

use super::{
    CallId, Event, Failure,
    calls::{Asking, Phase},
    core::Core,
    offers::offers,
    ready::Ready,
    rng::vary,
    timer::Timer,
};
use crate::{
    Instant,
    jsonrpc::{RawJson, decode},
    model::{
        ClientCapabilities, InputKind, InputRequests, InputRequiredResult, InputResponses,
        ListRootsResult,
    },
};

/// The first pause before a request is repeated that the server put off
/// without a question; it doubles with each round.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);

impl Ready {
    /// The server needs input to go on with this call.
    pub(super) fn questions(&mut self, core: &mut Core, now: Instant, id: CallId, result: &[u8]) {
        let mut questions: InputRequiredResult = match decode(result) {
            Ok(questions) => questions,
            Err(error) => {
                core.fail(
                    now,
                    id,
                    Failure::InvalidAnswer {
                        why: error.to_string(),
                    },
                );
                return;
            }
        };
        let rounds = core.config.max_rounds;
        let Some(call) = core.calls.get_mut(id) else {
            return;
        };
        call.rounds += 1;
        let round = call.rounds;
        if round > rounds {
            core.fail(now, id, Failure::TooManyRounds { rounds });
            return;
        }
        if let Err(failure) = acceptable(&questions, &core.config.capabilities) {
            core.fail(now, id, failure);
            return;
        }
        if let Phase::InFlight { wire, .. } = call.phase {
            core.calls.forget_alias(wire);
        }
        let state = questions.request_state.take().map(String::into_boxed_str);
        let roots = take_roots(&mut questions);
        if questions
            .input_requests
            .as_ref()
            .is_some_and(|all| !all.is_empty())
        {
            core.set_deadline(id, now + core.config.timeouts.input);
            set_phase(core, id, Phase::Asking(Asking { state, roots }));
            let questions = Box::new(questions);
            core.event(Event::InputRequired {
                call: id,
                round,
                questions,
            });
        } else if roots.is_empty() {
            let pause = FIRST_PAUSE
                .saturating_mul(1 << (round - 1).min(10))
                .min(LONGEST_PAUSE);
            let at = now + vary(pause, 0.2, core.rng.unit());
            core.timers.arm(Timer::Resend(id), at);
            set_phase(core, id, Phase::Pausing { state, at });
        } else {
            let answers = with_roots(core, &roots, InputResponses::default());
            if core.draft_round(now, id, state.as_deref(), Some(&answers)) {
                self.launch(core, now, id);
            }
        }
    }

    /// The host has answered, or will not.
    pub(super) fn answer_questions(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        responses: Option<InputResponses>,
    ) {
        if core.park_input(now, id, responses) {
            self.launch(core, now, id);
        }
    }
}

impl Core {
    /// Takes the host's answers and prepares the next request. Says whether
    /// there is one to send. Works without a session too: what the server
    /// knows of the call travels with it, so that it outlives a reconnection.
    pub(super) fn park_input(
        &mut self,
        now: Instant,
        id: CallId,
        responses: Option<InputResponses>,
    ) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let Phase::Asking(asking) = &mut call.phase else {
            return false;
        };
        let Asking { state, roots } = std::mem::replace(
            asking,
            Asking {
                state: None,
                roots: Vec::new(),
            },
        );
        let Some(responses) = responses else {
            self.fail(now, id, Failure::InputAbandoned);
            return false;
        };
        let answers = with_roots(self, &roots, responses);
        self.draft_round(now, id, state.as_deref(), Some(&answers))
    }

    /// The pause that the server asked for is over: prepares the next request.
    /// Says whether there is one to send.
    pub(super) fn end_pause(&mut self, now: Instant, id: CallId) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let Phase::Pausing { state, .. } = &mut call.phase else {
            return false;
        };
        let state = state.take();
        self.draft_round(now, id, state.as_deref(), None)
    }

    /// The request again, with this round's answers only.
    fn draft_round(
        &mut self,
        now: Instant,
        id: CallId,
        state: Option<&str>,
        answers: Option<&InputResponses>,
    ) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let Some(mut draft) = call.redraft() else {
            return false;
        };
        let pushed = answers
            .map_or(Ok(()), |answers| draft.push("inputResponses", answers))
            .and_then(|()| state.map_or(Ok(()), |state| draft.push("requestState", state)));
        let deadline = now + call.timeout;
        call.cap = call.options.progress.cap(now);
        call.phase = Phase::Waiting(Some(draft));
        if let Err(error) = pushed {
            let why = error.to_string();
            self.fail(now, id, Failure::InvalidAnswer { why });
            return false;
        }
        self.set_deadline(id, deadline);
        true
    }
}

fn set_phase(core: &mut Core, id: CallId, phase: Phase) {
    if let Some(call) = core.calls.get_mut(id) {
        call.phase = phase;
    }
}

/// Whether the server asks for nothing that we did not offer, and for
/// something at all.
fn acceptable(
    questions: &InputRequiredResult,
    offered: &ClientCapabilities,
) -> Result<(), Failure> {
    if questions.input_requests.is_none() && questions.request_state.is_none() {
        let why = "input_required with neither inputRequests nor requestState".to_owned();
        return Err(Failure::InvalidAnswer { why });
    }
    for (_, question) in questions
        .input_requests
        .iter()
        .flat_map(InputRequests::iter)
    {
        if !offers(offered, question) {
            let method = question.method().to_owned();
            return Err(Failure::InputNotOffered { method });
        }
    }
    Ok(())
}

/// Takes out the questions about our roots, which the machine can answer.
fn take_roots(questions: &mut InputRequiredResult) -> Vec<Box<str>> {
    let Some(requests) = &mut questions.input_requests else {
        return Vec::new();
    };
    let is_ours = |kind: &InputKind| matches!(kind, InputKind::ListRoots(_));
    let keys: Vec<Box<str>> = requests
        .iter()
        .filter(|(_, question)| is_ours(&question.kind))
        .map(|(key, _)| key.into())
        .collect();
    for key in &keys {
        requests.remove(key);
    }
    keys
}

fn with_roots(core: &Core, keys: &[Box<str>], mut answers: InputResponses) -> InputResponses {
    for key in keys {
        let roots = ListRootsResult::new(core.config.roots.clone());
        if let Ok(roots) = RawJson::encode(&roots) {
            answers.insert(key.to_string(), roots);
        }
    }
    answers
}
