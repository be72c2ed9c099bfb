//! Connects the page with `dirigent-store`, for example for the scan of `ego.json` and for recordings from
//! files.

use dirigent_control::{EgoFile, RecordingFile, ScanReport};
use dirigent_store::ChannelRecording;
use dirigent_store::JsonIdentities;
use dirigent_store::ego::ScannedIdentities;

pub(crate) struct Ego(pub(crate) ScannedIdentities<JsonIdentities>);

#[dirigent::async_trait]
impl EgoFile for Ego {
    async fn is_there(&self) -> bool {
        self.0.is_detected()
    }

    async fn scan(&self) -> Result<ScanReport, String> {
        let report = self.0.rescan().await.map_err(|error| error.to_string())?;
        let mut told = ScanReport::default();
        told.added.extend(report.added.iter().map(|own| own.agent_id.to_string()));
        told.changed.extend(report.changed.iter().map(|own| own.agent_id.to_string()));
        told.unchanged.extend(report.unchanged.iter().map(ToString::to_string));
        told.skipped.extend(report.skipped.iter().map(|(agent, why)| format!("{agent} ({why})")));
        let conflict = |conflict: &dirigent_store::ego::Conflict| conflict.agent.to_string();
        told.conflicts.extend(report.conflicts.iter().map(conflict));
        Ok(told)
    }
}

pub(crate) fn read(text: &str) -> Result<RecordingFile, String> {
    let recording = ChannelRecording::parse(text).map_err(|error| error.to_string())?;
    Ok(RecordingFile { agents: recording.agents, recorded: recording.recorded })
}
