//! Tasks of the core of revision 2025-11-25, in sessions.
//!
//! A task outlives the session in which it began.

use serde_json::{Value, json};

use super::{
    Client, Course, end_of_result, pause,
    session::{Exchange, WITH_TASKS},
    shortened,
};
use crate::outcome::{End, Kind, Outcome};

const KIND: Kind = Kind::CoreTask;

impl Client {
    pub(super) async fn call_as_core_task(&mut self, mut course: Course) -> Outcome {
        let call = json!({"name": "job", "arguments": course.arguments(), "task": {}});
        let id = loop {
            if course.is_overdue() {
                return course.end(KIND, End::Stuck("no task was created".to_owned()));
            }
            match self.ask_in_session("tools/call", &call).await {
                Some(Exchange::Result(result)) => {
                    course.beginnings += 1;
                    break result["task"]["taskId"].clone();
                }
                // Its store may have failed, after it had stored the task.
                Some(Exchange::Error(_) | Exchange::Unknown(_)) => course.beginnings += 1,
                Some(Exchange::NotProcessed | Exchange::SessionGone) | None => {}
            }
            pause(&mut self.random).await;
        };
        if !id.is_string() {
            return course.end(KIND, End::Refused("no task".to_owned()));
        }
        let end = self.wait_for_result(&course, &id).await;
        course.end(KIND, end)
    }

    /// Sends a request in a session, a new one if the last one is gone.
    async fn ask_in_session(&mut self, method: &str, params: &Value) -> Option<Exchange> {
        let mut session = self.session(&WITH_TASKS).await?;
        let exchange = session.ask(method, params, &mut self.random).await;
        if !matches!(exchange, Exchange::SessionGone) {
            self.session = Some(session);
        }
        Some(exchange)
    }

    /// Waits for the result of a task, whose questions come meanwhile.
    async fn wait_for_result(&mut self, course: &Course, id: &Value) -> End {
        let params = json!({"taskId": id});
        let mut last = "nothing was said".to_owned();
        let mut has_failed = false;
        while !course.is_overdue() {
            match self.ask_in_session("tasks/get", &params).await {
                Some(Exchange::Result(task)) => {
                    has_failed = task["status"] == "failed";
                    last = format!("the task is {}", task["status"]);
                }
                Some(Exchange::Error(error)) if error["code"] == -32602 => return End::LostTask,
                _ => {}
            }
            match self.ask_in_session("tasks/result", &params).await {
                Some(Exchange::Result(result)) => return end_of_result(&result),
                Some(Exchange::Error(error)) if error["code"] == -32602 => return End::LostTask,
                // The task failed, or the server's store did, or the node that had the
                // session; a task that failed says so.
                Some(Exchange::Error(error)) if has_failed => {
                    let why = error["message"].as_str().unwrap_or_default();
                    return End::Refused(shortened(why));
                }
                Some(Exchange::Error(error)) => last = shortened(&error.to_string()),
                _ => {}
            }
            pause(&mut self.random).await;
        }
        End::Stuck(last)
    }
}
