//! Tests of the stores with a real Redis or Valkey, which each test starts.

#[cfg(unix)]
mod with_redis;
