//! Who watches which resources, and telling them.
//!
//! The machines keep the sets; here they are granted, added up over all
//! connections, and told to the application.

use std::{
    collections::BTreeSet,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, PoisonError},
};

use super::{
    needs::Needs,
    request::{Request, Taken, Voices, later},
    service::{Core, Service},
    tools::check_scopes,
};
use crate::proto::{
    jsonrpc::ErrorObject,
    model::{EmptyResult, SubscribeParams},
    server::{Reply, errors},
};

/// Hears of what is watched.
pub(crate) type OnWatch = Arc<dyn Fn(&BTreeSet<String>) + Send + Sync>;

/// What the application was last told of what is watched.
#[derive(Default)]
pub(crate) struct Watch {
    pub(crate) listener: Option<OnWatch>,
    last: Mutex<BTreeSet<String>>,
}

impl Watch {
    pub(crate) fn new(listener: Option<OnWatch>) -> Self {
        Self {
            listener,
            last: Mutex::default(),
        }
    }

    /// Tells the application, if there is news.
    fn tell(&self, core: &Core) {
        let Some(listener) = &self.listener else {
            return;
        };
        // One at a time, so that it hears of changes in their order.
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let watched = core.watched();
        if *last != watched {
            *last = watched;
            // It is the host's code, called amid ours: a panic must not get out.
            let _ = catch_unwind(AssertUnwindSafe(|| listener(&last)));
        }
    }
}

/// Telling who watches.
impl<S: Send + Sync + 'static> Service<S> {
    /// Tells all clients that watch a resource that it changed. Says whether
    /// there are any.
    ///
    /// Watching is by the exact URI: where a change below a watched resource
    /// is a change of it, say so for both.
    pub fn resource_updated(&self, uri: &str) -> bool {
        let mut told = false;
        self.core.connections.each(|connection| {
            told |= connection.resource_updated(uri);
        });
        told
    }

    /// The resources that somebody watches.
    #[must_use]
    pub fn watched(&self) -> BTreeSet<String> {
        self.core.watched()
    }
}

impl Core {
    /// Tells the application what is watched, if that changed.
    pub(super) fn tell_watched(&self) {
        self.watch.tell(self);
    }

    fn watched(&self) -> BTreeSet<String> {
        let mut watched = BTreeSet::new();
        self.connections.each(|connection| {
            connection.look(|machine| {
                watched.extend(machine.watched().into_iter().map(str::to_owned));
            });
        });
        watched
    }
}

impl Core {
    pub(super) fn subscribe(self: Arc<Self>, request: Request, _: Voices<'_>) -> Taken {
        later(async move { self.try_subscribe(&request) })
    }

    /// Grants a subscription to what there is: a resource, what fits a
    /// template, and whatever a source lets be watched, there or not.
    fn try_subscribe(&self, request: &Request) -> Result<Reply, ErrorObject> {
        let params: SubscribeParams = request.read()?;
        let uri = &params.uri;
        let able = Needs::met_by(&request.context.client.capabilities);
        let may = |needs: Needs| needs.without(able).is_empty();
        let catalog = self.catalog();
        check_scopes(catalog.resource_scopes(uri), &request.granted)?;
        let mut templates = catalog.templates.items().iter();
        let granted = match catalog.resources.get(uri) {
            Some(resource) => may(resource.shared.needs),
            None => {
                templates.any(|it| may(it.shared.needs) && it.shared.pattern.read(uri).is_some())
                    || self
                        .sources
                        .iter()
                        .any(|source| may(source.needs) && source.may_watch(uri))
            }
        };
        if granted {
            Ok(request.answer(EmptyResult::default()))
        } else {
            Err(errors::resource_not_found(request.context.rules, uri))
        }
    }
}
