//! Input rounds: ask the host the server's questions, then send the call again.

use std::time::Duration;

use super::{
    CallId, Event, Failure,
    calls::{PendingInput, Phase},
    capability_check::is_offered,
    core::Core,
    ready::Ready,
    rng::apply_jitter,
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

/// The first delay before a call is sent again that the server deferred without a
/// question; it doubles with each round.
const MIN_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Returns the delay before a round that answers no questions.
fn pause_before(round: u32) -> Duration {
    let pause = MIN_PAUSE.saturating_mul(1 << (round - 1).min(10));
    pause.min(MAX_PAUSE)
}

impl Ready {
    /// Handles an `input_required` result for a call.
    pub(super) fn handle_input_required(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        result: &[u8],
    ) {
        let mut questions: InputRequiredResult = match decode(result) {
            Ok(questions) => questions,
            Err(error) => {
                let why = error.to_string();
                return core.fail(now, id, Failure::InvalidResponse { message: why });
            }
        };
        let rounds = core.config.max_input_rounds;
        let Some(call) = core.calls.get_mut(id) else {
            return;
        };
        call.rounds += 1;
        let round = call.rounds;
        if round > rounds {
            return core.fail(now, id, Failure::TooManyRounds { rounds });
        }
        if let Err(failure) = check_input_requests(&questions, &core.config.capabilities) {
            return core.fail(now, id, failure);
        }
        if let Phase::InFlight { wire_id, .. } = call.phase {
            core.calls.remove_alias(wire_id);
        }
        let request_state = questions.request_state.take().map(String::into_boxed_str);
        let roots_keys = questions
            .input_requests
            .as_mut()
            .map(take_roots_requests)
            .unwrap_or_default();
        let asked = questions.input_requests.as_ref();
        if asked.is_some_and(|asked| !asked.is_empty()) {
            core.set_deadline(id, now + core.config.timeouts.input);
            let pending = PendingInput {
                request_state,
                roots_keys,
            };
            set_phase(core, id, Phase::AwaitingInput(pending));
            let questions = Box::new(questions);
            core.push_event(Event::InputRequired {
                call: id,
                round,
                questions,
            });
        } else if roots_keys.is_empty() {
            let at = now + apply_jitter(pause_before(round), 0.2, core.rng.next_f64());
            core.timers.arm(Timer::Resend(id), at);
            set_phase(core, id, Phase::Paused { request_state, at });
        } else {
            let responses = add_roots(core, &roots_keys, InputResponses::default());
            if core.queue_next_round(now, id, request_state.as_deref(), Some(&responses)) {
                self.send_queued(core, now, id);
            }
        }
    }

    /// Handles the host's answers, or its refusal to answer.
    pub(super) fn provide_input(
        &mut self,
        core: &mut Core,
        now: Instant,
        id: CallId,
        responses: Option<InputResponses>,
    ) {
        if core.queue_input(now, id, responses) {
            self.send_queued(core, now, id);
        }
    }
}

impl Core {
    /// Takes the host's answers and prepares the next request. Returns whether there is
    /// one to send. Also works without a session: the server's state travels with the
    /// call, so the call survives a reconnection.
    pub(super) fn queue_input(
        &mut self,
        now: Instant,
        id: CallId,
        responses: Option<InputResponses>,
    ) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let Phase::AwaitingInput(pending) = &mut call.phase else {
            return false;
        };
        let PendingInput {
            request_state,
            roots_keys,
        } = std::mem::replace(
            pending,
            PendingInput {
                request_state: None,
                roots_keys: Vec::new(),
            },
        );
        let Some(responses) = responses else {
            self.fail(now, id, Failure::InputNotProvided);
            return false;
        };
        let responses = add_roots(self, &roots_keys, responses);
        self.queue_next_round(now, id, request_state.as_deref(), Some(&responses))
    }

    /// Prepares the next request after the delay the server asked for. Returns whether
    /// there is one to send.
    pub(super) fn queue_after_pause(&mut self, now: Instant, id: CallId) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let Phase::Paused { request_state, .. } = &mut call.phase else {
            return false;
        };
        let request_state = request_state.take();
        self.queue_next_round(now, id, request_state.as_deref(), None)
    }

    /// Queues the request again, with only this round's answers.
    fn queue_next_round(
        &mut self,
        now: Instant,
        id: CallId,
        request_state: Option<&str>,
        responses: Option<&InputResponses>,
    ) -> bool {
        let Some(call) = self.calls.get_mut(id) else {
            return false;
        };
        let Some(mut message) = call.rebuild_message() else {
            return false;
        };
        let pushed = responses
            .map_or(Ok(()), |responses| {
                message.push("inputResponses", responses)
            })
            .and_then(|()| {
                request_state.map_or(Ok(()), |request_state| {
                    message.push("requestState", request_state)
                })
            });
        let deadline = now + call.timeout;
        call.max_deadline = call.options.progress.max_deadline(now);
        call.phase = Phase::Queued(Some(message));
        if let Err(error) = pushed {
            let message = error.to_string();
            self.fail(now, id, Failure::InvalidResponse { message });
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

/// Checks that the server asks only for what we offered, and asks for something.
fn check_input_requests(
    questions: &InputRequiredResult,
    capabilities: &ClientCapabilities,
) -> Result<(), Failure> {
    if questions.input_requests.is_none() && questions.request_state.is_none() {
        let message = "input_required with neither inputRequests nor requestState".to_owned();
        return Err(Failure::InvalidResponse { message });
    }
    match &questions.input_requests {
        Some(questions) => check_offered(questions, capabilities),
        None => Ok(()),
    }
}

/// Checks that the server asks only for what we offered.
pub(super) fn check_offered(
    questions: &InputRequests,
    capabilities: &ClientCapabilities,
) -> Result<(), Failure> {
    let mut questions = questions.iter().map(|(_, question)| question);
    match questions.find(|question| !is_offered(capabilities, question)) {
        Some(question) => {
            let method = question.method().to_owned();
            Err(Failure::InputNotOffered { method })
        }
        None => Ok(()),
    }
}

/// Removes the questions about roots and answers them.
pub(super) fn answer_roots(core: &Core, questions: &mut InputRequests) -> InputResponses {
    let keys = take_roots_requests(questions);
    add_roots(core, &keys, InputResponses::default())
}

/// Removes the questions about roots, which the machine answers itself.
fn take_roots_requests(requests: &mut InputRequests) -> Vec<Box<str>> {
    let is_list_roots = |kind: &InputKind| matches!(kind, InputKind::ListRoots(_));
    let keys: Vec<Box<str>> = requests
        .iter()
        .filter(|(_, question)| is_list_roots(&question.kind))
        .map(|(key, _)| key.into())
        .collect();
    for key in &keys {
        requests.remove(key);
    }
    keys
}

fn add_roots(core: &Core, keys: &[Box<str>], mut responses: InputResponses) -> InputResponses {
    for key in keys {
        let roots = ListRootsResult::new(core.config.roots.clone());
        if let Ok(roots) = RawJson::encode(&roots) {
            responses.insert(key.to_string(), roots);
        }
    }
    responses
}
