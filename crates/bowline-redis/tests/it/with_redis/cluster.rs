//! Clusters: all keys are in one slot, and the stores follow it to its node.

use std::time::Duration;

use bowline::testing::contract;
use bowline_redis::RedisStores;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpListener,
};

use super::connecting::{with_port, works};

/// A cluster of one node refuses scripts whose keys are in different slots.
#[tokio::test]
async fn scripts_keep_to_one_slot() {
    let (redis, _) = with_port(&["--cluster-enabled", "yes"]);
    let slots: Vec<String> = (0..16_384).map(|slot| slot.to_string()).collect();
    let mut command = vec!["CLUSTER", "ADDSLOTS"];
    command.extend(slots.iter().map(String::as_str));
    redis.run::<()>(&command);
    // It takes a while until the cluster says that it is complete.
    let patient = || redis.builder().timeout(Duration::from_secs(60));
    let connect = async || patient().connect().await.expect("it runs");
    contract::journal_store(async || connect().await.journals()).await;
    contract::task_store(async || connect().await.tasks()).await;
    contract::event_store(async || connect().await.events()).await;
    contract::used_proof_store(async || connect().await.used_proofs()).await;
}

/// A node that has none of the keys, and says who has them.
async fn other_node(port: u16) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let own_port = listener.local_addr().expect("an address").port();
    tokio::spawn(async move {
        while let Ok((mut client, _)) = listener.accept().await {
            tokio::spawn(async move {
                let mut buffer = [0; 65_536];
                while let Ok(length @ 1..) = client.read(&mut buffer).await {
                    let request = String::from_utf8_lossy(&buffer[..length]).into_owned();
                    let answer = match request.matches("SETINFO").count() {
                        0 if request.contains("INFO") => "$0\r\n\r\n".to_owned(),
                        0 => format!("-MOVED 1 127.0.0.1:{port}\r\n"),
                        settings => "+OK\r\n".repeat(settings),
                    };
                    let _ = client.write_all(answer.as_bytes()).await;
                }
            });
        }
    });
    own_port
}

#[tokio::test]
async fn the_stores_follow_their_slot_to_its_node() {
    let (redis, port) = with_port(&[]);
    let other = other_node(port).await;
    let stores = RedisStores::connect(&format!("redis://127.0.0.1:{other}")).await;
    let stores = stores.expect("the other node has the keys");
    works(&stores).await;
    assert_eq!(redis.run::<u64>(&["EXISTS", "{bowline}:j:1"]), 1);
}
