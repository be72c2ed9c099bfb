//! The contract that every [`DiscordApi`](dirigent::DiscordApi) keeps.

use super::report::{ContractReport, Failures, checks, left_out};

mod access;
mod doubt;
mod embeds;
mod harness;
mod posting;
mod reading;

use access::{
    a_channel_that_is_not_there_is_gone, a_stranger_to_the_channel_is_forbidden,
    many_accounts_may_be_asked_about, the_account_knows_itself,
    those_who_see_the_channel_are_its_members, typing_in_an_own_channel_works,
};
use doubt::{
    a_lost_answer_leaves_doubt_and_the_nonce_ends_it, a_post_that_never_arrived_leaves_doubt_too,
    a_rate_limit_says_how_long_to_wait, a_server_error_leaves_doubt,
};
use embeds::{
    chosen_mentions_are_no_obstacle, embeds_are_shown_beside_the_text_or_the_post_is_refused,
    embeds_need_no_text_and_a_known_nonce_shows_them_once,
    files_come_with_the_post_and_a_known_nonce_brings_them_once,
};
use posting::{
    a_deleted_message_is_gone, a_known_nonce_makes_no_second_message,
    a_longest_content_is_taken_and_a_longer_one_refused, a_message_of_another_stays,
    a_posted_message_is_read_back, a_reply_is_marked_and_survives_a_lost_original,
    an_empty_content_is_refused, an_error_shows_no_text, another_nonce_makes_another_message,
    ids_rise_over_all_accounts, nonces_of_different_accounts_do_not_meet,
    posts_at_the_same_time_all_arrive, the_id_of_a_message_says_when_it_was_sent,
};
use reading::{
    a_page_has_one_to_a_hundred_messages, a_persons_message_is_a_persons,
    a_quiet_channel_has_an_empty_history, nothing_comes_after_the_newest,
    pages_after_a_message_follow_on_each_other, without_a_start_the_newest_come,
};

pub use harness::DiscordHarness;

/// Runs all checks of the contract.
///
/// # Errors
///
/// Returns the checks that failed.
pub async fn discord_api(harness: &dyn DiscordHarness) -> Result<ContractReport, Failures> {
    let mut report = ContractReport::new("discord_api");
    checks!(report, harness;
        the_account_knows_itself,
        a_posted_message_is_read_back,
        ids_rise_over_all_accounts,
        the_id_of_a_message_says_when_it_was_sent,
        a_known_nonce_makes_no_second_message,
        another_nonce_makes_another_message,
        nonces_of_different_accounts_do_not_meet,
        an_empty_content_is_refused,
        a_longest_content_is_taken_and_a_longer_one_refused,
        a_reply_is_marked_and_survives_a_lost_original,
        embeds_are_shown_beside_the_text_or_the_post_is_refused,
        embeds_need_no_text_and_a_known_nonce_shows_them_once,
        files_come_with_the_post_and_a_known_nonce_brings_them_once,
        chosen_mentions_are_no_obstacle,
        posts_at_the_same_time_all_arrive,
        a_deleted_message_is_gone,
        a_message_of_another_stays,
        an_error_shows_no_text,
        a_quiet_channel_has_an_empty_history,
        without_a_start_the_newest_come,
        pages_after_a_message_follow_on_each_other,
        nothing_comes_after_the_newest,
        a_page_has_one_to_a_hundred_messages,
        a_persons_message_is_a_persons,
        those_who_see_the_channel_are_its_members,
        many_accounts_may_be_asked_about,
        typing_in_an_own_channel_works,
        a_channel_that_is_not_there_is_gone,
    );
    if harness.stranger().is_some() {
        checks!(report, harness; a_stranger_to_the_channel_is_forbidden);
    } else {
        left_out!(report; a_stranger_to_the_channel_is_forbidden);
    }
    if harness.can_break_posts() {
        checks!(report, harness;
            a_lost_answer_leaves_doubt_and_the_nonce_ends_it,
            a_post_that_never_arrived_leaves_doubt_too,
            a_server_error_leaves_doubt,
            a_rate_limit_says_how_long_to_wait,
        );
    } else {
        left_out!(report;
            a_lost_answer_leaves_doubt_and_the_nonce_ends_it,
            a_post_that_never_arrived_leaves_doubt_too,
            a_server_error_leaves_doubt,
            a_rate_limit_says_how_long_to_wait,
        );
    }
    report.finish()
}
