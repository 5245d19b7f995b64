//! The fleet test, shortened.
#![cfg(target_os = "linux")]

mod with_redis;
