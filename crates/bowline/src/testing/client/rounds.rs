//! Calls in the stateless era: round by round, as the test configures them.

use super::{TestClient, TestError, connect::Connected};
use crate::{
    client::{Error, SuspendedCall, TaskHandle, TaskOutcome, ToolCall, ToolCallOutcome},
    proto::{
        client::{Config, Failure},
        jsonrpc::RawJson,
        model::{CallToolResult, InputRequests, InputResponses, method},
    },
};

impl TestClient {
    /// Makes a call, answers its questions, and repeats it with the answers
    /// until it completes. Each request is sent to the next node.
    pub(super) async fn call_by_rounds(
        &self,
        connected: &Connected,
        tool: &str,
        arguments: &RawJson,
    ) -> Result<CallToolResult, TestError> {
        // Endless rounds are a server bug; clients stop at this limit.
        let limit = Config::new("", "").max_input_rounds;
        let mut nodes = connected.clients.iter().cycle();
        let mut next = || nodes.next().unwrap_or(&connected.clients[0]);
        let mut outcome = self.call_once(next().tools().call(tool, arguments)).await?;
        for _ in 0..limit {
            let suspended = match outcome {
                ToolCallOutcome::Done(result) => return Ok(*result),
                ToolCallOutcome::Task(task) => return self.finish_task(task, limit).await,
                ToolCallOutcome::InputRequired(suspended) => suspended,
            };
            let answers = self.answers_to(suspended.questions())?;
            for _ in 1..self.settings.repetitions {
                self.recorder.set_muted(true);
                let repeated = self.resume_once(next(), &suspended, &answers).await;
                self.recorder.set_muted(false);
                // The client never sees the first result.
                drop(repeated);
            }
            outcome = self.resume_once(next(), &suspended, &answers).await?;
        }
        match outcome {
            ToolCallOutcome::Done(result) => Ok(*result),
            ToolCallOutcome::Task(task) => self.finish_task(task, limit).await,
            ToolCallOutcome::InputRequired(_) => Err(TestError::TooManyRounds { limit }),
        }
    }

    /// Follows the task that a call became, and answers its questions.
    async fn finish_task(
        &self,
        mut task: TaskHandle,
        limit: u32,
    ) -> Result<CallToolResult, TestError> {
        for _ in 0..=limit {
            match task.wait_for_input().await? {
                TaskOutcome::Done(result) => return Ok(*result),
                TaskOutcome::InputRequired(questions) => {
                    task.answer(self.answers_to(&questions)?).await?;
                }
            }
        }
        Err(TestError::TooManyRounds { limit })
    }

    async fn resume_once(
        &self,
        client: &crate::Client,
        suspended: &SuspendedCall,
        answers: &InputResponses,
    ) -> Result<ToolCallOutcome, TestError> {
        let call = client.tools().resume(suspended.clone(), answers);
        self.call_once(call).await
    }

    async fn call_once(&self, call: ToolCall<'_>) -> Result<ToolCallOutcome, TestError> {
        let call = call.map_call(|call| self.with_call_options(call));
        Ok(call.suspend_on_input().await?)
    }

    /// Returns the answers to all questions of a round, in order.
    fn answers_to(&self, questions: &InputRequests) -> Result<InputResponses, TestError> {
        let roots = self.settings.roots.as_deref().unwrap_or_default();
        let mut answers = InputResponses::default();
        for (key, question) in questions.iter() {
            match self.answers.answer(question, roots)? {
                Ok(answer) => {
                    answers.insert(key.to_owned(), answer);
                }
                // A round cannot carry a refusal: the client cancels the call.
                Err(_) => {
                    let failure = Failure::InputNotProvided;
                    return Err(Error::failed(method::TOOLS_CALL, failure).into());
                }
            }
        }
        Ok(answers)
    }
}
