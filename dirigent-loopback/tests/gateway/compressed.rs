//! Payloads that are packed.

use flate2::{Decompress, FlushDecompress, Status};

use super::*;

fn inflate(inflater: &mut Decompress, packed: &[u8]) -> (Value, Status) {
    let mut text = Vec::with_capacity(1 << 20);
    let status = inflater.decompress_vec(packed, &mut text, FlushDecompress::Sync).unwrap();
    (serde_json::from_slice(&text).unwrap(), status)
}

async fn packed(client: &mut Client) -> Vec<u8> {
    let heard = client.hear().await;
    let Heard::Packed(packed) = heard else {
        panic!("bytes were expected, and they were {heard:?}");
    };
    packed
}

#[tokio::test]
async fn a_zlib_stream_runs_through_the_whole_connection() {
    let scene = Scene::new().await;
    let query = "?v=10&encoding=json&compress=zlib-stream";
    let mut client = Client::open(scene.server.address(), query).await;
    let mut inflater = Decompress::new(true);
    let hello = packed(&mut client).await;
    assert_eq!(inflate(&mut inflater, &hello).0["op"], 10);
    client.send(&scene.identify(1 << 9)).await;
    let ready = packed(&mut client).await;
    assert!(ready.ends_with(&[0, 0, 0xff, 0xff]));
    assert_eq!(inflate(&mut inflater, &ready).0["t"], "READY");
    let long = json!({ "text": "x".repeat(200_000) });
    scene.server.push(scene.bot, None, "LONG", &long);
    let (payload, status) = inflate(&mut inflater, &packed(&mut client).await);
    assert_eq!((&payload["d"], status), (&long, Status::Ok));
}

#[tokio::test]
async fn large_payloads_are_packed_by_themselves_where_the_client_can_read_that() {
    let scene = Scene::new().await;
    let mut client = scene.connect().await;
    let mut identify = scene.identify(1 << 9);
    identify["d"]["compress"] = json!(true);
    client.send(&identify).await;
    client.event("READY").await;
    scene.mark(1);
    client.mark(1).await;
    for length in [5_000, 100_000] {
        let long = json!({ "text": "x".repeat(length) });
        scene.server.push(scene.bot, None, "LONG", &long);
        let bytes = packed(&mut client).await;
        let (payload, status) = inflate(&mut Decompress::new(true), &bytes);
        assert_eq!((&payload["d"], status), (&long, Status::StreamEnd));
    }
}
