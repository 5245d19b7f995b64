//! Calls of revision 2026-07-28, by rounds: repeated, doubled, and disturbed by an
//! adversary who has all states.

use serde_json::{Value, json};

use super::{
    Client, Course, accepted, end_of_result, pause, shortened,
    stateless::{Reply, Stateless},
};
use crate::{
    outcome::{End, Kind, Outcome},
    random::Random,
};

/// The longest series of rounds: two questions, and the first request.
const MAX_ROUNDS: usize = 4;

/// A round that was sent.
#[derive(Clone)]
struct Round(Value);

impl Client {
    pub(super) async fn call_by_rounds(&mut self, mut course: Course) -> Outcome {
        let first = json!({"name": "book", "arguments": course.arguments()});
        let asked = loop {
            match self.begin(&mut course, &first).await {
                Some(Ok(asked)) => break asked,
                Some(Err(end)) => return course.end(Kind::Rounds, end),
                None if course.is_overdue() => {
                    return course.end(Kind::Rounds, End::Stuck("no first answer".to_owned()));
                }
                None => pause(&mut self.random).await,
            }
        };
        let (stateless, deadline) = (self.stateless(), course.deadline);
        let mut main = Drive::new(stateless, self.random.fork(1), "a", deadline);
        let end = if self.random.percent(10) {
            // Someone else has the state, and answers at the same time.
            let mut other = Drive::new(stateless, self.random.fork(2), "b", deadline);
            let (end, other_end) =
                tokio::join!(main.run(&first, &asked), other.run(&first, &asked));
            main.seen.append(&mut other.seen);
            match (end, other_end) {
                (End::Refused(_), End::Reported(report)) => End::Reported(report),
                (end, End::Reported(report)) => {
                    main.seen.push(report);
                    end
                }
                (end, _) => end,
            }
        } else {
            main.run(&first, &asked).await
        };
        self.random.next();
        course.also_reported = main.seen;
        course.end(Kind::Rounds, end)
    }

    /// Sends the first request. Returns the question, or `None` if it has to be repeated.
    async fn begin(&mut self, course: &mut Course, first: &Value) -> Option<Result<Value, End>> {
        let stateless = self.stateless();
        let replies = if self.random.percent(10) {
            let [one, two] = [(); 2].map(|()| stateless.ask("tools/call", first.clone()));
            let replies = tokio::join!(one, two);
            vec![replies.0, replies.1]
        } else {
            vec![stateless.ask("tools/call", first.clone()).await]
        };
        let processed = replies
            .iter()
            .filter(|reply| !matches!(reply, Reply::NotProcessed));
        course.beginnings += u32::try_from(processed.count()).unwrap_or(u32::MAX);
        replies.into_iter().find_map(|reply| match reply {
            Reply::Result(result) if result["resultType"] == "input_required" => Some(Ok(result)),
            Reply::Result(result) => Some(Err(end_of_result(&result))),
            Reply::Refused(why) => Some(Err(End::Refused(shortened(&why)))),
            Reply::Retry | Reply::NotProcessed => None,
        })
    }
}

/// Someone who answers the questions of a conversation.
struct Drive {
    stateless: Stateless,
    random: Random,
    /// What the answers begin with.
    answer: &'static str,
    deadline: tokio::time::Instant,
    /// What repetitions and adversaries were told.
    seen: Vec<crate::node::Report>,
    rounds: Vec<Round>,
}

impl Drive {
    fn new(
        stateless: Stateless,
        random: Random,
        answer: &'static str,
        deadline: tokio::time::Instant,
    ) -> Self {
        Self {
            stateless,
            random,
            answer,
            deadline,
            seen: Vec::new(),
            rounds: Vec::new(),
        }
    }

    /// Answers questions until the call has ended.
    async fn run(&mut self, first: &Value, asked: &Value) -> End {
        let mut asked = asked.clone();
        for _ in 0..MAX_ROUNDS {
            let round = answered(first, &asked, self.answer);
            self.rounds.push(Round(round.clone()));
            let result = match self.repeat(&round).await {
                Ok(result) => result,
                Err(end) => return end,
            };
            self.disturb(first).await;
            if result["resultType"] != "input_required" {
                return end_of_result(&result);
            }
            asked = result;
        }
        End::Stuck("it asks too many questions".to_owned())
    }

    /// Sends a round until it has an answer, sometimes twice at once.
    async fn repeat(&mut self, round: &Value) -> Result<Value, End> {
        loop {
            let ask = || self.stateless.ask("tools/call", round.clone());
            let replies = if self.random.percent(25) {
                let replies = tokio::join!(ask(), ask());
                vec![replies.0, replies.1]
            } else {
                vec![ask().await]
            };
            let mut answer = None;
            for reply in replies {
                let found = match reply {
                    Reply::Result(result) => Ok(result),
                    Reply::Refused(why) => Err(End::Refused(shortened(&why))),
                    Reply::Retry | Reply::NotProcessed => continue,
                };
                if let Some(Ok(earlier)) = &answer {
                    self.remember(earlier);
                }
                answer = Some(found);
            }
            match answer {
                Some(answer) => return answer,
                None if tokio::time::Instant::now() > self.deadline => {
                    return Err(End::Stuck("a round has no answer".to_owned()));
                }
                None => pause(&mut self.random).await,
            }
        }
    }

    /// Repeats an old round as it was, or with other answers.
    async fn disturb(&mut self, first: &Value) {
        let old = self.random.pick(&self.rounds).0.clone();
        if self.random.percent(20)
            && let Reply::Result(result) = self.stateless.ask("tools/call", old.clone()).await
        {
            self.remember(&result);
        }
        if self.random.percent(20) {
            let mut round = old;
            for answer in round["inputResponses"]
                .as_object_mut()
                .into_iter()
                .flatten()
            {
                *answer.1 = accepted("evil");
            }
            for _ in 0..MAX_ROUNDS {
                let Reply::Result(result) = self.stateless.ask("tools/call", round).await else {
                    return;
                };
                self.remember(&result);
                if result["resultType"] != "input_required" {
                    return;
                }
                round = answered(first, &result, "evil");
            }
        }
    }

    fn remember(&mut self, result: &Value) {
        if result["resultType"] != "input_required"
            && let End::Reported(report) = end_of_result(result)
        {
            self.seen.push(report);
        }
    }
}

/// Returns the round that answers all questions.
fn answered(first: &Value, asked: &Value, answer: &str) -> Value {
    let mut round = first.clone();
    let questions = asked["inputRequests"].as_object();
    let keys = questions.into_iter().flatten().map(|(key, _)| key);
    let answers = keys.map(|key| (key.clone(), accepted(&format!("{answer}-{key}"))));
    round["inputResponses"] = answers.collect();
    round["requestState"] = asked["requestState"].clone();
    round
}
