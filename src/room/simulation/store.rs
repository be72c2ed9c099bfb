//! The store: one record, replaced by comparing revisions.

use std::sync::Arc;

use dirigent_core::Timestamp;

use super::chat::Answers;
use crate::ports::store::Commit;
use crate::record::channel::{ChannelRecord, Revision, StoredChannel};

#[derive(Debug, Default)]
pub(super) struct Store {
    pub(super) revision: Revision,
    pub(super) record: Option<Arc<ChannelRecord>>,
    /// A commit that takes effect after its time-out.
    pub(super) late: Option<Commit>,
    pub(super) answers: Answers,
    /// Until when it answers like this.
    pub(super) until: Timestamp,
}

impl Store {
    /// Replaces the record, or says which revision is in the way.
    pub(super) fn commit(&mut self, commit: Commit) -> Result<Revision, Revision> {
        if commit.expected != self.revision {
            return Err(self.revision);
        }
        self.revision = self.revision.next();
        self.record = Some(commit.record);
        Ok(self.revision)
    }

    pub(super) fn load(&self) -> Option<StoredChannel> {
        let record = ChannelRecord::clone(self.record.as_ref()?);
        Some(StoredChannel { revision: self.revision, record })
    }
}
