//! Several links to one server.

use bowline::pool::Pool;
use serde_json::json;

use crate::fake::Fake;

fn pool(size: usize, fake: &Fake) -> Pool {
    let fake = fake.clone();
    Pool::new(size, move || fake.client())
}

#[tokio::test(start_paused = true)]
async fn it_grows_when_all_are_in_use() {
    let fake = Fake::with_tools(&["echo"]);
    let pool = pool(2, &fake);
    for _ in 0..3 {
        let client = pool.client().await.unwrap();
        client.tools().call("echo", json!({})).await.unwrap();
    }
    assert_eq!(fake.dials(), 1, "one was enough");

    let first = pool.client().await.unwrap();
    let second = pool.client().await.unwrap();
    fake.seen("notifications/initialized", 2).await;
    let third = pool.client().await.unwrap();
    let _fourth = pool.client().await.unwrap();
    assert_eq!(
        (fake.dials(), pool.health().len()),
        (2, 2),
        "no more than that"
    );
    drop((first, second, third));
}

#[tokio::test(start_paused = true)]
async fn the_least_loaded_is_chosen() {
    let fake = Fake::with_tools(&["echo"]);
    let pool = pool(2, &fake);
    let (first, second) = tokio::join!(pool.client(), pool.client());
    let (first, second) = (first.unwrap(), second.unwrap());
    assert_eq!(fake.dials(), 2, "each has its own");
    first.tools().call("echo", json!({})).await.unwrap();
    second.tools().call("echo", json!({})).await.unwrap();

    // All loads are one; stopping the first client leaves only the second.
    first.stop().await;
    drop(second);
    let third = pool.client().await.unwrap();
    third.tools().call("echo", json!({})).await.unwrap();
    assert_eq!(fake.dials(), 2, "the idle one, not a new one");
}

#[tokio::test(start_paused = true)]
async fn one_that_is_down_is_passed_over() {
    let fake = Fake::with_tools(&["echo"]);
    let pool = pool(2, &fake);
    let first = pool.client().await.unwrap();
    let mut health = first.watch_health();
    fake.hang_up();
    health
        .wait_for(|health| health.consecutive_failures > 0)
        .await
        .unwrap();
    drop(first);

    let other = pool.client().await.unwrap();
    other.tools().call("echo", json!({})).await.unwrap();
    assert_eq!(other.health().consecutive_failures, 0);
    assert_eq!(other.health().sessions, 1, "not the one that fell");
    assert_eq!(pool.health().len(), 2);
}

#[tokio::test(start_paused = true)]
async fn when_all_are_down_it_says_why() {
    let fake = Fake::with_tools(&["echo"]);
    fake.set_unreachable(true);
    let pool = pool(1, &fake);
    let error = pool.client().await.unwrap_err();
    assert!(error.is_connection_error(), "{error}");
    fake.set_unreachable(false);
    pool.client().await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn what_was_stopped_is_opened_again() {
    let fake = Fake::with_tools(&["echo"]);
    let pool = pool(3, &fake);
    pool.client().await.unwrap();
    pool.stop().await;
    assert!(pool.health().is_empty());
    pool.client().await.unwrap();
    assert_eq!(fake.dials(), 2);
}
