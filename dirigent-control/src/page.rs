//! The page, its API, its live streams and its metrics.

// A request passes `access` and `auth`, and then goes to `pages`, `api` or `live`. All three show plain data of `look`,
// which `gather` gets from the driver. `sheet` draws this data in parts, and all pages and streams with the same
// content share one drawing (`drawn`).
//
// `order` and `registry` change data. `agents` shows one agent in all channels. `acting` does the work that needs a
// person. `messages` reads the messages of a channel when a person opens its page. `kept` has the answers to forms.
// `peers`, `across`, `peer_rows` and `sign_outs` are for the pages of other processes. `metrics` and `figures` are the numbers for
// Prometheus. `ports` has the traits that your program implements, because the page does not know a store.

mod access;
mod across;
mod acting;
mod agents;
mod api;
mod assets;
mod auth;
mod channel_id;
mod control;
mod drawn;
mod extract;
mod figures;
mod gather;
mod heard_peers;
mod kept;
mod live;
mod look;
mod made_once;
mod many;
mod memory_recorder;
mod messages;
mod metrics;
mod order;
mod order_file;
mod order_log;
mod pages;
mod peer_rows;
mod peers;
mod places;
mod ports;
mod post_text;
mod problem;
mod question;
mod registry;
mod replays;
mod routes;
mod serve;
mod shared;
mod sheet;
mod sign_in;
mod sign_outs;
mod since;
mod slave;
mod visitor;

pub use auth::{EndedSession, VisitorRole};
pub use control::{Control, ControlBuildError, ControlBuilder};
pub use figures::{Figure, Figures};
pub use look::{
    AgentChannel, AgentDay, AgentLook, BudgetLook, ChangeLook, ChannelLook, DiscussionLook,
    IdentityLook, LoggedOrder, OrderLook, OutboxLook, Overview, RegistryLook, Row, WorkLook,
};
pub use memory_recorder::MemoryRecorder;
pub use order::Order;
pub use order_file::OrderFile;
pub use peers::{ChannelSheet, PageAnswer, PageQuestion, PeerError, Peers};
pub use ports::{Check, EgoFile, OrderStore, PlayWhatIf, ReadRecording, RecordingFile, ScanReport};
pub use post_text::PostText;
pub use problem::Problem;
pub use slave::on_slave;
