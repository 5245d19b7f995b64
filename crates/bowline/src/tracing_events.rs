//! Code shared by the `tracing` events of clients and servers.

use std::time::Duration;

/// Emits an event of the target `bowline` at a level that is only known at run time.
macro_rules! emit_event {
    ($level:expr, $($fields:tt)*) => {
        match $level {
            tracing::Level::ERROR => tracing::error!(target: "bowline", $($fields)*),
            tracing::Level::WARN => tracing::warn!(target: "bowline", $($fields)*),
            tracing::Level::INFO => tracing::info!(target: "bowline", $($fields)*),
            _ => tracing::debug!(target: "bowline", $($fields)*),
        }
    };
}
pub(crate) use emit_event;

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Returns whether there is a subscriber.
pub(crate) fn has_subscriber() -> bool {
    use tracing::level_filters::LevelFilter;
    LevelFilter::current() != LevelFilter::OFF
}

#[cfg(test)]
pub(crate) mod capture {
    //! Events and spans as table rows, to compare with the telemetry guide.

    use std::{
        fmt,
        sync::{Arc, Mutex},
    };

    use tracing::{
        Event, Metadata, Subscriber,
        field::{Field, Visit},
        span::{Attributes, Id, Record},
    };

    /// The guide, whose tables have the columns name, level and fields.
    const GUIDE: &str = include_str!("../../../docs/guides/telemetry.md");

    #[derive(Clone, Default)]
    struct Rows(Arc<Mutex<Vec<String>>>);

    /// The fields of an event, without those that all events have.
    #[derive(Default)]
    struct Row {
        event: String,
        fields: Vec<&'static str>,
    }

    impl Visit for Row {
        fn record_str(&mut self, field: &Field, value: &str) {
            match field.name() {
                "event" => value.clone_into(&mut self.event),
                name => self.fields.push(name),
            }
        }

        fn record_debug(&mut self, field: &Field, _: &dyn fmt::Debug) {
            self.fields.push(field.name());
        }
    }

    impl Subscriber for Rows {
        fn enabled(&self, _: &Metadata<'_>) -> bool {
            true
        }

        fn new_span(&self, span: &Attributes<'_>) -> Id {
            let metadata = span.metadata();
            // Includes fields that are recorded later.
            let fields: Vec<_> = metadata.fields().iter().map(|it| it.name()).collect();
            self.push(metadata, metadata.name(), &fields);
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            let mut row = Row::default();
            event.record(&mut row);
            self.push(event.metadata(), &row.event, &row.fields);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    impl Rows {
        fn push(&self, metadata: &Metadata<'_>, name: &str, fields: &[&str]) {
            assert_eq!(metadata.target(), "bowline");
            let level = metadata.level().as_str().to_lowercase();
            let fields: Vec<_> = fields.iter().map(|name| format!("`{name}`")).collect();
            let row = format!("| `{name}` | {level} | {} |", fields.join(", "));
            self.0.lock().expect("nobody panicked").push(row);
        }
    }

    /// Checks that the emitted events or spans match the rows of the guide's section
    /// one to one, and that there is one for each of `names`, which must be complete.
    #[track_caller]
    pub(crate) fn assert_documented(section: &str, names: &[&str], emit: impl FnOnce()) {
        let rows = Rows::default();
        tracing::subscriber::with_default(rows.clone(), emit);
        let mut seen = rows.0.lock().expect("nobody panicked").clone();
        for name in names {
            let begins = |row: &String| row.starts_with(&format!("| `{name}` |"));
            assert!(seen.iter().any(begins), "nothing is seen of {name:?}");
        }
        let (_, rest) = GUIDE
            .split_once(section)
            .expect("the guide has the section");
        let section = rest.split("\n## ").next().unwrap_or(rest);
        let row = |line: &&str| line.starts_with("| `");
        let mut documented: Vec<_> = section.lines().filter(row).map(str::to_owned).collect();
        seen.sort_unstable();
        seen.dedup();
        documented.sort_unstable();
        assert_eq!(seen, documented);
    }
}
