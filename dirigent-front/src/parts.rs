//! The parts of a front that every request needs.

use std::sync::Arc;

use dirigent::ports::GuildApi;
use dirigent::tools::Tools;
use dirigent::{Clock, Dirigent};

use crate::keys::Keys;
use crate::missed::Given;
use crate::seats::Seats;

pub(crate) struct FrontParts {
    pub(crate) dirigent: Dirigent,
    pub(crate) chat: Arc<dyn GuildApi>,
    pub(crate) tools: Tools,
    pub(crate) seats: Seats,
    pub(crate) keys: Keys,
    pub(crate) given: Given,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) names: Vec<String>,
    pub(crate) is_behind_tls: bool,
}
