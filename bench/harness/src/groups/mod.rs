//! All that is measured, in the order of the results.

mod build;
mod conversations;
pub(crate) mod growth;
mod http_client;
mod http_server;
mod instructions;
mod list;
mod redis;
mod schema;
mod sides;
mod stdio;
mod tasks;

use crate::group::Group;

/// All groups.
pub(crate) fn all() -> Vec<Group> {
    vec![
        stdio::group(),
        sides::group(),
        http_server::group(),
        http_server::memory(),
        http_client::group(),
        conversations::group(),
        tasks::group(),
        list::group(),
        schema::group(),
        instructions::group(),
        growth::group(),
        build::group(),
    ]
}
