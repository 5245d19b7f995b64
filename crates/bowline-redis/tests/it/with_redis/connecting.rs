//! Connecting: over TCP, with passwords, and to servers that are not suitable.

use std::{net::TcpListener, time::Duration};

use bowline::server::store::{ConversationKey, JournalStore as _, NewEntry};
use bowline_redis::{ConnectError, RedisStores};

use super::rig::{HOUR, Redis};

/// Returns a port that is free now, and whose cluster port (10,000 higher) exists.
pub(crate) fn free_port() -> u16 {
    loop {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let port = listener.local_addr().expect("an address").port();
        if port < 55_000 {
            return port;
        }
    }
}

/// Returns a server with a TCP port, and the port.
pub(crate) fn with_port(settings: &[&str]) -> (Redis, u16) {
    let port = free_port();
    let number = port.to_string();
    let listen = ["--bind", "127.0.0.1", "--port", &number];
    let settings: Vec<&str> = listen.into_iter().chain(settings.iter().copied()).collect();
    (Redis::start_with(&settings), port)
}

pub(crate) async fn works(stores: &RedisStores) {
    let (journals, key) = (stores.journals(), ConversationKey::new("1", ""));
    let appended = journals.append(key, NewEntry::new(0, "a", HOUR)).await;
    appended.expect("it works");
}

#[track_caller]
fn says(error: &ConnectError, words: &[&str]) {
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{word:?} is not in: {message}");
    }
    assert!(!message.contains("secret"), "{message}");
}

async fn fails(url: &str) -> ConnectError {
    let builder = RedisStores::builder(url).timeout(Duration::from_millis(200));
    builder.connect().await.expect_err("it cannot connect")
}

#[tokio::test]
async fn over_tcp_with_a_password() {
    let (_redis, port) = with_port(&["--requirepass", "secret"]);
    let url = |password: &str| format!("redis://:{password}@127.0.0.1:{port}/1");
    let stores = RedisStores::connect(&url("secret")).await;
    works(&stores.expect("it is right")).await;
    says(&fails(&url("secrets")).await, &["rejected", "password"]);
    let none = fails(&format!("redis://127.0.0.1:{port}")).await;
    says(&none, &["rejected", "password"]);
}

/// With only the permissions that the documentation lists.
#[tokio::test]
async fn as_a_user_with_few_permissions() {
    let (redis, port) = with_port(&[]);
    let rules = "ACL SETUSER bowline on >secret resetkeys resetchannels \
        ~{bowline}:* &{bowline}:* -@all +@read +@write +@pubsub +@connection \
        +eval +evalsha +time +info -@dangerous +info";
    redis.run::<()>(&rules.split_whitespace().collect::<Vec<_>>());
    let url = format!("redis://bowline:secret@127.0.0.1:{port}");
    works(&RedisStores::connect(&url).await.expect("it is permitted")).await;
    let other = RedisStores::builder(&url).prefix("other").connect().await;
    says(
        &other.expect_err("other keys are not"),
        &["does not permit"],
    );
}

#[tokio::test]
async fn to_nobody() {
    let port = free_port();
    let error = fails(&format!("redis://ada:secret@127.0.0.1:{port}")).await;
    says(&error, &["cannot be reached", &format!("127.0.0.1:{port}")]);
    says(
        &fails("redis+unix:///no/such/socket").await,
        &["cannot be reached"],
    );
}

#[tokio::test]
async fn to_a_wrong_address_or_with_a_wrong_prefix() {
    for url in ["", "127.0.0.1:6379", "http://ada:secret@127.0.0.1"] {
        says(&fails(url).await, &["address", "redis://"]);
    }
    for prefix in ["", "a{b}", "with space", &"x".repeat(65)] {
        let builder = RedisStores::builder("redis://127.0.0.1").prefix(prefix);
        let error = builder.connect().await.expect_err("it is wrong");
        says(&error, &["prefix", "1 to 64"]);
    }
}

#[tokio::test]
async fn to_a_replica() {
    let redis = Redis::start();
    redis.run::<()>(&["REPLICAOF", "127.0.0.1", "1"]);
    let error = redis
        .builder()
        .connect()
        .await
        .expect_err("it is a replica");
    says(&error, &["replica", "primary"]);
}

#[tokio::test]
async fn to_a_server_that_evicts() {
    let redis = Redis::start();
    redis.set("maxmemory", "100mb");
    redis.set("maxmemory-policy", "allkeys-lru");
    let error = redis.builder().connect().await.expect_err("it evicts");
    says(&error, &["noeviction", "allow_eviction"]);
    let stores = redis.builder().allow_eviction().connect().await;
    let stores = stores.expect("it is allowed");
    assert_eq!(stores.warnings().len(), 2, "{:?}", stores.warnings());
    works(&stores).await;
}

#[tokio::test]
async fn to_a_server_without_a_log() {
    let redis = Redis::start();
    let stores = redis.stores().await;
    assert!(stores.warnings()[0].contains("appendonly"));
}
