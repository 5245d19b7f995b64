//! Tasks of the extension of revision 2026-07-28.

use serde_json::{Value, json};

use super::{Client, Course, accepted, end_of_result, pause, shortened, stateless::Reply};
use crate::outcome::{End, Kind, Outcome};

const KIND: Kind = Kind::ExtensionTask;

impl Client {
    pub(super) async fn call_as_extension_task(&mut self, mut course: Course) -> Outcome {
        let call = json!({"name": "job", "arguments": course.arguments()});
        let id = loop {
            let reply = self.stateless().ask("tools/call", call.clone()).await;
            course.beginnings += u32::from(!matches!(reply, Reply::NotProcessed));
            match reply {
                Reply::Result(result) if result["taskId"].is_string() => {
                    break result["taskId"].clone();
                }
                Reply::Result(result) => {
                    let why = format!("no task: {result}");
                    return course.end(KIND, End::Refused(shortened(&why)));
                }
                Reply::Refused(why) => return course.end(KIND, End::Refused(shortened(&why))),
                Reply::Retry | Reply::NotProcessed if course.is_overdue() => {
                    return course.end(KIND, End::Stuck("no task was created".to_owned()));
                }
                Reply::Retry | Reply::NotProcessed => pause(&mut self.random).await,
            }
        };
        let end = self.follow(&course, &id).await;
        if self.random.percent(10)
            && let Reply::Result(task) = self.get_task(&id).await
            && let Some(End::Reported(report)) = end_of_task(&task)
        {
            course.also_reported.push(report);
        }
        course.end(KIND, end)
    }

    async fn get_task(&self, id: &Value) -> Reply {
        self.stateless()
            .ask("tasks/get", json!({"taskId": id}))
            .await
    }

    /// Answers the questions of a task until it has ended.
    async fn follow(&mut self, course: &Course, id: &Value) -> End {
        let mut is_cancelled = false;
        let mut last = String::new();
        while !course.is_overdue() {
            match self.get_task(id).await {
                Reply::Result(task) => {
                    last = format!("the task is {}", task["status"]);
                    match end_of_task(&task) {
                        Some(End::Cancelled) if !is_cancelled => {
                            return End::Refused("nobody cancelled it".to_owned());
                        }
                        Some(end) => return end,
                        None if task["status"] == "input_required" => {
                            self.answer_task(id, &task).await;
                        }
                        None => {}
                    }
                }
                // Someone who asks too early, or a task that is gone.
                Reply::Refused(why) if why.starts_with("-32602") => return End::LostTask,
                Reply::Refused(why) => return End::Refused(shortened(&why)),
                Reply::Retry | Reply::NotProcessed => {}
            }
            if self.random.below(1000) < 4 {
                is_cancelled = true;
                let cancel = json!({"taskId": id});
                self.stateless().ask("tasks/cancel", cancel).await;
            }
            pause(&mut self.random).await;
        }
        End::Stuck(last)
    }

    /// Answers all open questions, sometimes twice at once and in two ways.
    async fn answer_task(&mut self, id: &Value, task: &Value) {
        let kind = self.random.below(100);
        let update = |answer: &str| {
            let questions = task["inputRequests"].as_object();
            let keys = questions.into_iter().flatten().map(|(key, _)| key);
            let answers: Value = keys
                .map(|key| (key.clone(), accepted(&format!("{answer}-{key}"))))
                .collect();
            let params = json!({"taskId": id, "inputResponses": answers});
            self.stateless().ask("tasks/update", params)
        };
        match kind {
            0..15 => drop(tokio::join!(update("a"), update("a"))),
            15..30 => drop(tokio::join!(update("a"), update("b"))),
            _ => drop(update("a").await),
        }
    }
}

/// Returns how a task ended.
fn end_of_task(task: &Value) -> Option<End> {
    match task["status"].as_str()? {
        "completed" => Some(end_of_result(&task["result"])),
        "failed" => {
            let why = task["error"]["message"].as_str().unwrap_or("it failed");
            Some(End::Refused(shortened(why)))
        }
        "cancelled" => Some(End::Cancelled),
        _ => None,
    }
}
