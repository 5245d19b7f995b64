//! Methods that several builders have, written once. As macros, so each builder has them
//! as its own methods, documented for the item that it builds.

/// The parts that tools, prompts, resources and templates have in common. `spec` is the
/// field with the collected parts, if there is one.
macro_rules! common_parts {
    (
        $(in $spec:ident,)?
        item: $item:literal,
        request: $request:literal,
        unavailable: $unavailable:literal,
    ) => {
        /// Sets the display name.
        pub fn title(mut self, title: impl Into<String>) -> Self {
            self$(.$spec)?.definition.title = Some(title.into());
            self
        }

        /// Adds an icon.
        pub fn icon(mut self, icon: crate::proto::model::Icon) -> Self {
            self$(.$spec)?.definition.icons.push(icon);
            self
        }

        /// Sets the `_meta` of the definition.
        pub fn meta(mut self, meta: crate::proto::model::Meta) -> Self {
            self$(.$spec)?.definition.meta = Some(meta);
            self
        }

        #[doc = concat!(
            "Adds capabilities that a client must have. For other clients the ", $item,
            " is not listed, and ", $unavailable, "."
        )]
        pub fn requires(
            mut self,
            needs: impl IntoIterator<Item = crate::server::ClientCapability>,
        ) -> Self {
            let needs = needs.into_iter().collect();
            self$(.$spec)?.needs = self$(.$spec)?.needs.union(needs);
            self
        }

        #[doc = concat!(
            "Adds a scope that the caller's token must have, over HTTP. A ", $request,
            " without it, or without any token, is rejected before anything runs, with a \
             challenge that names all scopes the ", $request, " needs. It has no effect where \
             there are no tokens: on stdio and in memory."
        )]
        ///
        #[doc = concat!(
            "The ", $item, " is listed for everyone, so clients can ask for more scopes."
        )]
        pub fn scope(mut self, scope: &str) -> Self {
            crate::server::auth::scope::push_unique(&mut self$(.$spec)?.scopes, [scope]);
            self
        }

        #[doc = concat!("Sets the limits of one ", $request, ".")]
        pub fn limits(mut self, limits: crate::server::CallLimits) -> Self {
            self$(.$spec)?.limits = limits;
            self
        }
    };
}

/// The completion of a prompt's arguments or a template's variables.
macro_rules! completion_parts {
    ($value:literal) => {
        #[doc = concat!(
                    "Sets a function that completes ", $value, " from the text typed so far."
                )]
        pub fn complete<F, W>(mut self, name: &str, complete: F) -> Self
        where
            F: Fn(String, crate::server::completion::CompletionContext<S>) -> W
                + Send
                + Sync
                + 'static,
            W: Future<Output = crate::server::Result<crate::server::completion::Completions>>
                + Send
                + 'static,
        {
            self.spec.completers.add(name, complete);
            self
        }

        #[doc = concat!(
                    "Completes ", $value, " with the values that begin with the text typed so far, \
             ignoring case."
                )]
        pub fn complete_from<T: Into<String>>(
            mut self,
            name: &str,
            values: impl IntoIterator<Item = T>,
        ) -> Self {
            self.spec.completers.add_fixed(name, values);
            self
        }
    };
}

/// What every finished item has: servers keep it without the type of their state, and
/// clones share it. `key` is the method that returns what identifies it.
macro_rules! shared_item {
    ($type:ident, item: $item:literal, key: $key:ident) => {
        impl<S> $type<S> {
            /// Returns the same item for another state type: servers keep their items
            /// without the type of the state.
            pub(crate) fn for_state<T>(self) -> $type<T> {
                $type {
                    shared: self.shared,
                    state: std::marker::PhantomData,
                }
            }
        }

        impl $type<()> {
            #[doc = concat!("Returns the same ", $item, " for a server with any state.")]
            #[must_use]
            pub fn with_any_state<S: Send + Sync + 'static>(self) -> $type<S> {
                self.for_state()
            }
        }

        impl<S> Clone for $type<S> {
            fn clone(&self) -> Self {
                Self {
                    shared: std::sync::Arc::clone(&self.shared),
                    state: std::marker::PhantomData,
                }
            }
        }

        impl<S> std::fmt::Debug for $type<S> {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($type))
                    .field(stringify!($key), &self.$key())
                    .finish_non_exhaustive()
            }
        }
    };
}

/// The options of every question to the client. `field` has them, if it is not the builder
/// itself.
macro_rules! question_options {
    ($($field:ident)?) => {
        /// Sets the key that identifies the question. Where the handler is replayed, in
        /// revision 2026-07-28 and in tasks, the client's answer is recorded under this
        /// key and found by it.
        ///
        /// Without a key, the question is identified by its number among the questions
        /// without keys. A new version of the handler that asks another question first
        /// changes that number; conversations in progress then fail, since the recorded
        /// answer belongs to a different question.
        ///
        /// In revision 2026-07-28, a client that knows the key may also send the answer
        /// with its first request, before it is asked.
        ///
        /// A key begins with a letter or `_`, and has only letters, digits, `_` and `-`.
        /// A conversation cannot use the same key twice.
        pub fn key(mut self, key: &'a str) -> Self {
            self$(.$field)?.key = Some(key);
            self
        }

        /// Sets how long to wait for the answer. Has no effect in revision 2026-07-28 and
        /// in tasks, in which the server does not wait.
        pub fn timeout(mut self, timeout: std::time::Duration) -> Self {
            self$(.$field)?.timeout = Some(timeout);
            self
        }
    };
}

pub(in crate::server) use {common_parts, completion_parts, question_options, shared_item};
