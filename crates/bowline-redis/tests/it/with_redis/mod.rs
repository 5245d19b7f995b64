//! Tests that need `redis-server` or `valkey-server`.

mod cluster;
mod connecting;
mod contracts;
mod example;
mod faults;
mod limits;
mod lost_data;
mod nodes;
mod proxy;
mod races;
mod rig;
mod tls;
mod waiting;
