//! Reads the channel in an address or a form.

use dirigent::ChannelId;

use crate::page::problem::Problem;

pub(crate) fn channel_id(text: &str) -> Result<ChannelId, Problem> {
    text.parse().map_err(|_| Problem::not_found("channel"))
}
