//! Subscriptions as one long request.

use super::{
    Dialect, Meta, ResultType,
    message::{notification, request, result, set_complete},
    method,
    object::object,
};

object! {
    /// Asks for notifications, for as long as the request is open.
    pub struct SubscriptionsListenParams {
        /// Which ones.
        notifications: SubscriptionFilter = required "notifications",
        /// What travels beside the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(SubscriptionsListenParams = method::SUBSCRIPTIONS_LISTEN => SubscriptionsListenResult);

object! {
    /// Which notifications are wanted, or granted.
    pub struct SubscriptionFilter {
        /// That the list of tools changed.
        tools_list_changed: Option<bool> = optional "toolsListChanged",
        /// That the list of prompts changed.
        prompts_list_changed: Option<bool> = optional "promptsListChanged",
        /// That the list of resources changed.
        resources_list_changed: Option<bool> = optional "resourcesListChanged",
        /// That one of these resources changed.
        resource_subscriptions: Option<Vec<String>> = optional "resourceSubscriptions",
        /// That one of these tasks changed; of the tasks extension.
        task_ids: Option<Vec<String>> = optional "taskIds",
    }
}

object! {
    /// Ends a subscription from the server's side. Its `_meta` holds the id.
    pub struct SubscriptionsListenResult adjusted by SubscriptionsListenResult::adjust {
        /// What kind of result it is.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// What travels beside the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(SubscriptionsListenResult);

impl SubscriptionsListenResult {
    fn adjust(&mut self, dialect: &Dialect) {
        set_complete(&mut self.result_type, dialect);
    }
}

object! {
    /// Says which of the wanted notifications will come. The first message of a
    /// subscription; its `_meta` holds the id.
    pub struct SubscriptionsAcknowledgedParams {
        /// Which ones.
        notifications: SubscriptionFilter = required "notifications",
        /// What travels beside the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(SubscriptionsAcknowledgedParams = method::SUBSCRIPTIONS_ACKNOWLEDGED);
