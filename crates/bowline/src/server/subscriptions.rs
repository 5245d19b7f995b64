//! Who watches which resources, and telling them.
//!
//! The machines keep the sets; here they are granted, added up over all
//! connections, and told to the application.

use std::{
    collections::{BTreeSet, HashMap},
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use super::{
    needs::Needs,
    request::{Request, Taken, Voices, WatchChange, later},
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
    watched: Mutex<Watched>,
}

/// What is watched, and how often. Kept as it changes: to look through all
/// connections for each change would let one client keep all others waiting.
#[derive(Default)]
struct Watched {
    /// Held by the application, too, while it is told.
    uris: Arc<BTreeSet<String>>,
    /// Whether it has yet to be told of the last change.
    news: bool,
    /// Whether somebody is telling it.
    telling: bool,
    /// Less than nothing where an end was heard of before its beginning.
    counts: HashMap<Box<str>, isize>,
}

impl Watched {
    /// Counts a change. It is news if something is watched that was not, or no
    /// longer.
    fn count(&mut self, change: WatchChange) {
        let WatchChange { uri, is_watched } = change;
        let count = self.counts.entry(uri.clone()).or_default();
        *count += if is_watched { 1 } else { -1 };
        let count = *count;
        if count == 0 {
            self.counts.remove(&uri);
        }
        let is_watched = count > 0;
        if is_watched == self.uris.contains(&*uri) {
            return;
        }
        self.news = true;
        let uris = Arc::make_mut(&mut self.uris);
        if is_watched {
            uris.insert(uri.into());
        } else {
            uris.remove(&*uri);
        }
    }
}

impl Watch {
    pub(crate) fn new(listener: Option<OnWatch>) -> Self {
        Self {
            listener,
            watched: Mutex::default(),
        }
    }

    /// Tells the application, if there is news.
    fn tell(&self, changes: Vec<WatchChange>) {
        let Some(listener) = &self.listener else {
            return;
        };
        let mut watched = self.watched();
        for change in changes {
            watched.count(change);
        }
        // One at a time, so that it hears of changes in their order. What
        // changes while it is told, whoever tells it tells it next: it may be
        // what it does itself that changes something.
        if watched.telling {
            return;
        }
        watched.telling = true;
        while std::mem::take(&mut watched.news) {
            let uris = Arc::clone(&watched.uris);
            drop(watched);
            // It is the host's code, called amid ours: a panic must not get out.
            let _ = catch_unwind(AssertUnwindSafe(|| listener(&uris)));
            drop(uris);
            watched = self.watched();
        }
        watched.telling = false;
    }

    fn watched(&self) -> MutexGuard<'_, Watched> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
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
    pub(super) fn tell_watched(&self, changes: Vec<WatchChange>) {
        self.watch.tell(changes);
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

#[cfg(test)]
mod tests {
    use std::{
        sync::{OnceLock, mpsc},
        time::Duration,
    };

    use super::*;

    fn change(uri: &str, is_watched: bool) -> WatchChange {
        let uri = uri.into();
        WatchChange { uri, is_watched }
    }

    #[test]
    fn the_application_hears_of_the_first_who_watches_and_of_the_last() {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&heard);
        let watch = Watch::new(Some(Arc::new(move |uris: &BTreeSet<String>| {
            log.lock().expect("no panic").push(uris.len());
        })));
        watch.tell(vec![change("a:1", true), change("a:2", true)]);
        watch.tell(vec![change("a:1", true)]);
        watch.tell(vec![change("a:1", false)]);
        watch.tell(vec![change("a:1", false)]);
        assert_eq!(*heard.lock().expect("no panic"), [2, 1]);
        // In whatever order it is heard of.
        watch.tell(vec![change("a:3", false)]);
        watch.tell(vec![change("a:3", true)]);
        watch.tell(vec![change("a:2", false)]);
        assert_eq!(*heard.lock().expect("no panic"), [2, 1, 0]);
        let watched = watch.watched();
        assert!(watched.counts.is_empty() && watched.uris.is_empty());
    }

    #[test]
    fn the_application_may_bring_about_changes_when_it_hears_of_one() {
        let watch = Arc::new(OnceLock::<Watch>::new());
        let theirs = Arc::clone(&watch);
        let (sender, heard) = mpsc::channel();
        let listener = move |uris: &BTreeSet<String>| {
            sender.send(uris.len()).expect("somebody listens");
            if uris.len() == 1 {
                let watch = theirs.get().expect("it is there");
                watch.tell(vec![change("a:2", true)]);
                // It is told of that when it is done with this.
                sender.send(0).expect("somebody listens");
            }
        };
        let set = watch.set(Watch::new(Some(Arc::new(listener))));
        assert!(set.is_ok());
        // On a thread of its own, so that it fails if a lock is taken twice.
        std::thread::spawn(move || {
            let watch = watch.get().expect("it is there");
            watch.tell(vec![change("a:1", true)]);
        });
        let next = || heard.recv_timeout(Duration::from_secs(60));
        let all = [next(), next(), next()].map(|it| it.expect("it is not stuck"));
        assert_eq!(all, [1, 0, 2]);
    }
}
