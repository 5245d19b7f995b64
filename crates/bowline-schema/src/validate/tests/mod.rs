//! Tests of validation.

mod agreement;
mod bad_schemas;
mod cost;
mod explanations;
mod options;
mod random;
mod random_schema;
mod random_value;
