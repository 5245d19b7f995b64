//! Subscriptions as one long-running request.

use super::{
    Meta, ResultType, WireFeatures,
    message::{notification, request, result, set_complete},
    method,
    object::object,
};

object! {
    /// Subscribes to notifications for as long as the request is open.
    pub struct SubscriptionsListenParams {
        /// The requested notifications.
        notifications: SubscriptionFilter = required "notifications",
        /// The metadata of the request.
        meta: Option<Meta> = optional "_meta",
    }
}
request!(SubscriptionsListenParams = method::SUBSCRIPTIONS_LISTEN => SubscriptionsListenResult);

object! {
    /// The notifications of a subscription, as requested or granted.
    pub struct SubscriptionFilter {
        /// Changes of the list of tools.
        tools_list_changed: Option<bool> = optional "toolsListChanged",
        /// Changes of the list of prompts.
        prompts_list_changed: Option<bool> = optional "promptsListChanged",
        /// Changes of the list of resources.
        resources_list_changed: Option<bool> = optional "resourcesListChanged",
        /// Changes of these resources.
        resource_subscriptions: Option<Vec<String>> = optional "resourceSubscriptions",
        /// Changes of these tasks; part of the tasks extension.
        task_ids: Option<Vec<String>> = optional "taskIds",
    }
}

object! {
    /// Ends a subscription from the server's side. Its `_meta` contains the id.
    pub struct SubscriptionsListenResult adjusted by SubscriptionsListenResult::adjust {
        /// The type of the result.
        result_type: Option<ResultType> = optional "resultType" if result_type,
        /// The metadata of the result.
        meta: Option<Meta> = optional "_meta",
    }
}
result!(SubscriptionsListenResult);

impl SubscriptionsListenResult {
    fn adjust(&mut self, features: &WireFeatures) {
        set_complete(&mut self.result_type, features);
    }
}

object! {
    /// Acknowledges a subscription with the notifications that it will deliver.
    /// The first message of a subscription; its `_meta` contains the id.
    pub struct SubscriptionsAcknowledgedParams {
        /// The granted notifications.
        notifications: SubscriptionFilter = required "notifications",
        /// The metadata of the notification.
        meta: Option<Meta> = optional "_meta",
    }
}
notification!(SubscriptionsAcknowledgedParams = method::SUBSCRIPTIONS_ACKNOWLEDGED);
