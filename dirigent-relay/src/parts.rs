//! What `dirigent-cluster` shares with [`Slave`](crate::Slave) and [`Master`](crate::Master). It is hidden, since the two crates are
//! released together and it may change with each version: no other crate is to use it.

pub use crate::client::WAY;
pub use crate::master::{bound, refused};
pub use crate::permission::{Asking, Way};
pub use crate::rule::{read, write};
pub use crate::rules::ChannelRule;
pub use crate::server::ServerCounts;
pub use crate::tool_use::{ToolAnswer, UseTool};
