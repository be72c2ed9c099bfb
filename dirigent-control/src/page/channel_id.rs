//! The channel that an address or a form names.

use dirigent::ChannelId;

use crate::page::problem::Problem;

pub(crate) fn channel_id(text: &str) -> Result<ChannelId, Problem> {
    text.parse().map_err(|_| Problem::not_found("channel"))
}
