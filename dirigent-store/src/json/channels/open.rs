//! What is found in a store's folder when it is opened.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use dirigent::ChannelId;

use super::agents::{self, Agents};
use super::desk::{Desk, Known};
use super::folders::Folders;
use super::options::ChannelOptions;
use super::problem::{ChannelProblem, Problems};
use super::sync::SyncQueue;
use super::turn_log::TurnLog;
use crate::disk::Lock;
use crate::disk::{ReadError, keep_aside, keep_copy, read, remove_strays};
use crate::error::{Action, BadFile, OpenError, StoreError};
use crate::json::channel_file::{LARGEST, parse_channel};

impl Desk {
    /// Locks the folder, which is made where it is missing, and looks it through.
    pub(super) fn open(options: ChannelOptions) -> Result<Self, OpenError> {
        let ChannelOptions { path: root, durability, history_max, .. } = options;
        let folders = Arc::new(Folders::below(root.clone())?);
        let lock = Lock::on_folder(&root)?;
        remove_strays(&root, None)?;
        let (mut channels, made) = find_channels(&folders)?;
        let mut problems = Problems::default();
        let (log, damaged) = TurnLog::open(&root)?;
        for path in damaged {
            let (kept, reason) = (keep_copy(&path)?, BadFile::Checksum);
            problems.push(ChannelProblem { channel: None, kept, reason, bars: None });
        }
        for channel in log.channels() {
            channels.entry(channel).or_default();
        }
        let agents = read_agents(&folders, &channels, &log, &mut problems)?;
        Ok(Self {
            queue: Arc::new(SyncQueue::new(made.iter().copied().collect())),
            problems: Arc::new(Mutex::new(problems)),
            extras: HashMap::new(),
            copies: HashMap::new(),
            folders,
            durability,
            history_max,
            agents,
            channels,
            log,
            behind: VecDeque::new(),
            made,
            _lock: lock,
        })
    }
}

/// Which channels have files, and which folders are there.
fn find_channels(
    folders: &Folders,
) -> Result<(HashMap<ChannelId, Known>, BTreeSet<u8>), StoreError> {
    let mut channels = HashMap::<ChannelId, Known>::new();
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
    channels: &HashMap<ChannelId, Known>,
    log: &TurnLog,
    problems: &mut Problems,
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
