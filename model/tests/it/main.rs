//! Tests of the model, and of the checker.

#![expect(
    clippy::print_stdout,
    reason = "counterexamples are for readers, with `--nocapture`"
)]

mod checker;
mod counterexamples;
mod promises;

use std::sync::OnceLock;

use bowline_model::{models::Bounds, table::Table};

/// Returns the table, which is computed once for all tests.
fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    TABLE.get_or_init(|| Table::compute(Bounds::Small))
}
