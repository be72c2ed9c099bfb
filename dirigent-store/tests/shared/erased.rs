//! Texts that were erased are in no file.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use dirigent::MessageId;
use dirigent::hooks::{RunId, TurnId};
use dirigent::ports::{Embed, Extras, Nonce};
use dirigent::snapshot::AgentKey;
use dirigent::store::{ChannelStore, Commit, Durability, Outgoing, OutgoingPart, ReplyEnd};

use crate::shared::commits::{HERE, THERE, request, stored};

/// What no file may hold.
const SECRET: &str = "meet me at the old mill";

/// A commit of a record with a reply that is being posted.
fn reply(expected: u64) -> Commit {
    let part = |number| OutgoingPart {
        content: format!("{number} {SECRET} ").repeat(60).into(),
        nonce: Nonce::from_parts(1, 2, number),
        posted: None,
    };
    let outgoing = Outgoing {
        agent: AgentKey::new(1),
        turn: TurnId::new(1),
        run: RunId::new(5),
        end: ReplyEnd::Finished,
        parts: (0..8).map(part).collect(),
        after: Some(MessageId::new(8)),
        composed_at: None,
        doubt_since: None,
        waiting_since: None,
        extras: Some(Arc::new(Extras {
            embeds: vec![Embed::new().title("plan").field("where", SECRET, true)],
            ..Extras::default()
        })),
    };
    let mut commit = request(HERE, expected, 1);
    Arc::make_mut(&mut commit.record).outgoing = Some(Arc::new(outgoing));
    commit
}

/// The files below a folder that hold the text.
pub(crate) fn holders(folder: &Path) -> Vec<String> {
    let mut holders = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            holders.extend(self::holders(&path));
        } else {
            let content = fs::read(&path).unwrap();
            if content.windows(SECRET.len()).any(|window| window == SECRET.as_bytes()) {
                holders.push(path.file_name().unwrap().to_string_lossy().into_owned());
            }
        }
    }
    holders
}

/// Replies come and go, as turns and as facts.
pub(crate) async fn talk(store: &dyn ChannelStore, folder: &Path) {
    for (revision, durability) in (0..).zip([Durability::Turn, Durability::Fact, Durability::Turn])
    {
        let commit = Commit { durability, ..reply(2 * revision) };
        store.commit(commit).await.unwrap();
        assert!(!holders(folder).is_empty(), "a reply that is being posted is kept");
        store.commit(request(HERE, 2 * revision + 1, 2)).await.unwrap();
    }
}

/// A reply is still there when its channel is deleted; another channel stays.
pub(crate) async fn delete(store: &dyn ChannelStore, folder: &Path) {
    store.commit(request(THERE, 0, 7)).await.unwrap();
    talk(store, folder).await;
    store.commit(reply(6)).await.unwrap();
    assert!(store.delete(HERE).await.unwrap());
    assert_eq!(holders(folder), [] as [&str; 0]);
    assert_eq!(stored(store, THERE).await, Some((1, 7)));
    assert_eq!(stored(store, HERE).await, None);
    store.commit(Commit { record: Arc::default(), ..request(HERE, 0, 1) }).await.unwrap();
}
