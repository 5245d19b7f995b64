//! What the events of both sides have in common, for `tracing`.

use std::time::Duration;

/// One event of the target `bowline`, at a level that is known when it happens
/// only.
macro_rules! say {
    ($level:expr, $($fields:tt)*) => {
        match $level {
            tracing::Level::ERROR => tracing::error!(target: "bowline", $($fields)*),
            tracing::Level::WARN => tracing::warn!(target: "bowline", $($fields)*),
            tracing::Level::INFO => tracing::info!(target: "bowline", $($fields)*),
            _ => tracing::debug!(target: "bowline", $($fields)*),
        }
    };
}
pub(crate) use say;

pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Whether anybody subscribes.
pub(crate) fn is_heard() -> bool {
    use tracing::level_filters::LevelFilter;
    LevelFilter::current() != LevelFilter::OFF
}

#[cfg(test)]
pub(crate) mod capture {
    //! Events as a table, to compare with the guide to them.

    use std::{
        fmt,
        sync::{Arc, Mutex},
    };

    use tracing::{
        Event, Metadata, Subscriber,
        field::{Field, Visit},
        span::{Attributes, Id, Record},
    };

    /// The rows of the guide's tables: name, level, fields.
    const GUIDE: &str = include_str!("../../../docs/guides/telemetry.md");

    #[derive(Clone, Default)]
    struct Rows(Arc<Mutex<Vec<String>>>);

    /// What an event has beside the fields that all have.
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

        fn new_span(&self, _: &Attributes<'_>) -> Id {
            Id::from_u64(1)
        }

        fn record(&self, _: &Id, _: &Record<'_>) {}

        fn record_follows_from(&self, _: &Id, _: &Id) {}

        fn event(&self, event: &Event<'_>) {
            assert_eq!(event.metadata().target(), "bowline");
            let mut row = Row::default();
            event.record(&mut row);
            let level = event.metadata().level().as_str().to_lowercase();
            let fields: Vec<_> = row.fields.iter().map(|name| format!("`{name}`")).collect();
            let row = format!("| `{}` | {level} | {} |", row.event, fields.join(", "));
            self.0.lock().expect("nobody panicked").push(row);
        }

        fn enter(&self, _: &Id) {}

        fn exit(&self, _: &Id) {}
    }

    /// Checks that the events are those of the guide's section, one for each
    /// row, and that the section has no other.
    #[track_caller]
    pub(crate) fn assert_documented(section: &str, emit: impl FnOnce()) {
        let rows = Rows::default();
        tracing::subscriber::with_default(rows.clone(), emit);
        let mut seen = rows.0.lock().expect("nobody panicked").clone();
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
