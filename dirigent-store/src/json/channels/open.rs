//! What is found in a store's folder when it is opened.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use dirigent::ChannelId;
use dirigent::store::Revision;

use super::agents::{self, Agents};
use super::folders::Folders;
use super::history::Histories;
use super::options::ChannelOptions;
use super::problem::ChannelProblem;
use super::records::Records;
use super::sync::{SyncQueue, Waiting};
use super::turn_log::TurnLog;
use super::work::Work;
use crate::disk::Lock;
use crate::disk::{ReadError, keep_aside, keep_copy, read, remove_strays};
use crate::error::{Action, BadFile, OpenError, StoreError};
use crate::problems::Problems;
use crate::record::{LARGEST, parse_channel};
use crate::worker::Receiver;

impl Work {
    /// Locks the folder, which is made where it is missing, and looks it through. With it comes what waits for the disk.
    pub(super) fn open(options: ChannelOptions) -> Result<(Self, Receiver<Waiting>), OpenError> {
        let ChannelOptions { path: root, durability, sync_after, history_max } = options;
        let folders = Arc::new(Folders::below(root.clone())?);
        let lock = Lock::on_folder(&root)?;
        remove_strays(&root, None)?;
        let (mut revisions, made) = find_channels(&folders)?;
        let problems = Problems::default();
        let (log, damaged) = TurnLog::open(&root)?;
        for path in damaged {
            let (kept, reason) = (keep_copy(&path)?, BadFile::Checksum);
            problems.push(ChannelProblem { channel: None, kept, reason, bars: None });
        }
        for channel in log.channels() {
            revisions.entry(channel).or_default();
        }
        let agents = read_agents(&folders, &revisions, &log, &problems)?;
        let (queue, given) = SyncQueue::new(made.iter().copied().collect(), sync_after);
        let histories = Histories::new(history_max, Arc::clone(&folders));
        let records = Records {
            queue: Arc::new(queue),
            problems: Arc::new(problems),
            extras: HashMap::new(),
            copies: HashMap::new(),
            folders,
            durability,
            revisions,
            log,
            made,
        };
        Ok((Self::new(records, histories, agents, lock), given))
    }
}

/// The channels that have a record; none was read yet.
type Revisions = HashMap<ChannelId, Option<Revision>>;

/// Which channels have files, and which folders are there.
fn find_channels(folders: &Folders) -> Result<(Revisions, BTreeSet<u8>), StoreError> {
    let mut channels = Revisions::new();
    let mut made = BTreeSet::new();
    for number in 0..=u8::MAX {
        let is_there = folders.scan(number, |channel| {
            channels.entry(channel).or_default();
        })?;
        if is_there {
            made.insert(number);
        }
    }
    Ok((channels, made))
}

/// Who has which key. Lost, the file is put together again: what else the keys in the channels'
/// files meant would not be known.
fn read_agents(
    folders: &Folders,
    channels: &Revisions,
    log: &TurnLog,
    problems: &Problems<ChannelProblem>,
) -> Result<Agents, StoreError> {
    let path = folders.agents();
    let read_all = read(&path, agents::LARGEST);
    let reason = match read_all {
        Ok(None) if channels.is_empty() => return Ok(Agents::default()),
        Ok(None) => None,
        Ok(Some(content)) => match Agents::parse(&content) {
            Ok(agents) => return Ok(agents),
            Err(source @ BadFile::OtherVersion { .. }) => {
                return Err(StoreError::BadFile { path, source });
            }
            Err(reason) => Some(reason),
        },
        Err(ReadError::Bad(reason)) => Some(reason),
        Err(ReadError::Io(source)) => {
            return Err(StoreError::not_done(Action::Read, &path, source));
        }
    };
    if let Some(reason) = reason {
        let kept = keep_aside(&path)?;
        problems.push(ChannelProblem { channel: None, kept, reason, bars: None });
    }
    let mut names = BTreeMap::new();
    for channel in channels.keys() {
        let file = read(&folders.file(*channel), LARGEST).ok().flatten();
        let turn = log.read(*channel).and_then(|(_, content)| content.ok());
        for content in file.into_iter().chain(turn) {
            let parsed = parse_channel(&content).ok();
            names.extend(parsed.into_iter().flat_map(|parsed| parsed.agents));
        }
    }
    Ok(agents::rebuild(&names))
}
