//! `dirigent move`: moves another store into PostgreSQL.

#![expect(clippy::print_stdout, reason = "long work shows its progress")]

use std::path::Path;

use dirigent_cluster::PostgresOptions;
use dirigent_store::{JsonChannels, SqliteStore};

use crate::bot::Result;
use crate::cluster::Cluster;
use crate::config::BotConfig;

/// Moves a SQLite file or a JSON folder into the database of the configuration.
pub(crate) async fn move_in(path: &Path, from: &Path) -> Result {
    let (config, text) = BotConfig::read(path)?;
    let Some(address) = &config.store.postgres else {
        let what = "moving ends in PostgreSQL: write postgres = { env = \"DATABASE_URL\" }";
        return Err(text.bad([("store".to_owned(), what.to_owned())]).into());
    };
    if !from.exists() {
        return Err(format!(
            "{} does not exist: name the SQLite file or the JSON folder",
            from.display()
        )
        .into());
    }
    let mut options = PostgresOptions::new(&address.value);
    if let Some(cluster) = &config.cluster {
        options = options.cluster(&cluster.name);
    }
    let joined = Cluster::open(&address.value, options).await;
    let joined = joined.map_err(|(key, what)| text.bad([(key.to_owned(), what)]))?;
    let (store, Some(link)) = (joined.store, joined.link) else { return Ok(()) };
    let link = tokio::spawn(link.run());
    let progress = |done: usize, all: usize| {
        if done == all || done.is_multiple_of(1_000) {
            println!("{done} of {all} channels");
        }
    };
    let moved = if from.is_dir() {
        store.move_from(&JsonChannels::open(from)?, None, progress).await
    } else {
        let from = SqliteStore::open(from)?;
        store.move_from(&from, Some(&from), progress).await
    };
    store.close().await;
    link.await?;
    let moved = moved?;
    println!(
        "moved: {} channels, {} agents, {} lines of histories",
        moved.channels, moved.agents, moved.transitions
    );
    Ok(())
}
