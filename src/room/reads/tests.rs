use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const SECOND: Duration = Duration::from_secs(1);

fn id(number: u64) -> MessageId {
    MessageId::new(number)
}

/// A full page after this message.
fn page(after: u64) -> Vec<ChatMessage> {
    let message =
        |number| ChatMessage::new(id(number), ChannelId::new(1), crate::UserId::new(2), "");
    (after + 1..=after + u64::from(PAGE)).map(message).collect()
}

fn is_known(reads: &Reads, first: u64, last: u64) -> Option<(usize, bool)> {
    let (said, is_all) = reads.fetched.as_ref()?.of(id(first), id(last))?;
    Some((said.count(), is_all))
}

#[test]
fn a_read_that_another_has_replaced_says_nothing() {
    let mut reads = Reads::default();
    reads.fetch(id(5), id(104));
    let Some(read @ Read::Pending(_)) = reads.wanted(ReadKind::Pending) else { panic!() };
    reads.begin(read, ActionId(1));
    reads.fetch(id(5), id(105));
    assert_eq!(reads.end(ActionId(1)), None);
    let wider = reads.wanted(ReadKind::Pending).unwrap();
    reads.begin(wider, ActionId(2));
    assert_eq!(reads.end(ActionId(2)), Some(wider));
    assert_eq!(reads.end(ActionId(2)), None, "once");
}

#[test]
fn a_range_is_known_once_its_last_page_was_read_and_is_kept_until_it_is_handed_over() {
    let mut reads = Reads::default();
    reads.fetch(id(5), id(150));
    let Some(Read::Pending(first)) = reads.wanted(ReadKind::Pending) else { panic!() };
    reads.fetched(first, page(4));
    assert_eq!(is_known(&reads, 5, 150), None, "there is more");
    let Some(Read::Pending(second)) = reads.wanted(ReadKind::Pending) else { panic!() };
    assert_eq!(second.after, id(104));
    reads.fetched(second, page(104));
    assert_eq!(is_known(&reads, 5, 150), Some((146, true)));
    assert_eq!(is_known(&reads, 5, 150), Some((146, true)), "still");
    assert_eq!(is_known(&reads, 4, 150), None, "not that one");
    reads.handed();
    assert_eq!(is_known(&reads, 5, 150), None);
}

#[test]
fn what_could_not_be_read_is_not_all() {
    let mut reads = Reads::default();
    reads.fetch(id(5), id(9));
    reads.give_fetching_up();
    assert_eq!(is_known(&reads, 5, 9), Some((0, false)));
    assert!(reads.is_idle());
}

#[test]
fn two_that_read_at_once_read_both_ranges() {
    let mut reads = Reads::default();
    reads.fetch(id(5), id(9));
    reads.fetch(id(7), id(12));
    let Some(Read::Pending(read)) = reads.wanted(ReadKind::Pending) else { panic!() };
    assert_eq!((read.first, read.last, read.after), (id(5), id(12), id(4)));
}

#[test]
fn each_call_waits_for_its_own_time() {
    let mut reads = Reads::default();
    let (agent, turn) = (AgentKey::new(1), TurnId::new(1));
    assert_eq!(reads.pending_until(NOW, agent, turn), NOW + CONTEXT_MAX);
    let later = NOW + SECOND * 9;
    assert_eq!(reads.pending_until(later, agent, turn), NOW + CONTEXT_MAX);
    assert_eq!(reads.pending_until(later, agent, TurnId::new(2)), later + CONTEXT_MAX);
}

#[test]
fn the_ticket_of_a_read_that_is_replaced_is_told_and_its_own_repetition_is_not() {
    let mut reads = Reads::default();
    let members = |ticket| Read::Members(Ticket::new(ticket));
    reads.want(members(1), Stamp::default());
    reads.want(members(1), Stamp::default());
    assert_eq!(reads.replaced, []);
    reads.want(members(2), Stamp::default());
    assert_eq!(reads.replaced, [Ticket::new(1)]);
}

#[test]
fn when_the_chat_is_back_what_a_call_waits_for_is_waited_for_anew() {
    let mut reads = Reads::default();
    reads.want_context(NOW);
    reads.fetch(id(5), id(104));
    let (agent, turn) = (AgentKey::new(1), TurnId::new(2));
    assert_eq!(reads.pending_until(NOW, agent, turn), NOW + CONTEXT_MAX);
    for _ in 0..9 {
        reads.back_off(ReadKind::Context, NOW + SECOND * 29, None);
    }
    reads.give_fetching_up();
    assert_eq!(is_known(&reads, 5, 104), Some((0, false)));
    let back = NOW + SECOND * 30;
    reads.chat_back(back);
    assert_eq!(is_known(&reads, 5, 104), None, "it can be read now");
    assert_eq!(reads.context_until, Some(back + CONTEXT_MAX));
    assert_eq!(reads.pending_until(back, agent, turn), back + CONTEXT_MAX);
    let commit = CommitState::new(crate::record::channel::Revision::default(), 0, 0);
    assert!(reads.due(back, &commit).any(|read| read == Read::Context), "at once");
}
