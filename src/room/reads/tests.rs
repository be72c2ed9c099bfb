use super::*;

const NOW: Timestamp = Timestamp::from_millis(1_000_000);
const SECOND: Duration = Duration::from_secs(1);

fn id(number: u64) -> MessageId {
    MessageId::new(number)
}

fn span(first: u64, last: u64) -> Span {
    Span { first: id(first), last: id(last) }
}

#[test]
fn a_read_that_another_has_replaced_says_nothing() {
    let mut reads = Reads::default();
    reads.want_words(span(5, 104));
    let Some(read @ Read::Words(_)) = reads.wanted(ReadKind::Words) else { panic!() };
    reads.begin(read, ActionId(1));
    reads.want_words(span(5, 105));
    assert_eq!(reads.end(ActionId(1)), None);
    let wider = reads.wanted(ReadKind::Words).unwrap();
    reads.begin(wider, ActionId(2));
    assert_eq!(reads.end(ActionId(2)), Some(wider));
    assert_eq!(reads.end(ActionId(2)), None, "once");
}

#[test]
fn each_call_waits_for_its_own_time() {
    let mut reads = Reads::default();
    let (agent, turn) = (AgentKey::new(1), TurnId::new(1));
    reads.wait_for_words(NOW, agent, turn);
    reads.wait_for_words(NOW + SECOND * 9, agent, turn);
    let over = NOW + WORDS_MAX;
    assert!(!reads.is_given_up(over.saturating_sub(SECOND), agent, turn, true));
    assert!(reads.is_given_up(over, agent, turn, true));
    assert!(!reads.is_given_up(over, agent, turn, false), "not while the chat is away");
    assert!(!reads.is_given_up(over, agent, TurnId::new(2), true));
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
    reads.want_words(span(5, 104));
    let (agent, turn) = (AgentKey::new(1), TurnId::new(2));
    reads.wait_for_words(NOW, agent, turn);
    for _ in 0..9 {
        reads.back_off(ReadKind::Words, NOW + SECOND * 29, None);
    }
    let back = NOW + SECOND * 30;
    reads.chat_back();
    assert!(!reads.is_given_up(back, agent, turn, true));
    let commit = CommitState::new(crate::record::channel::Revision::default(), 0, 0);
    assert!(reads.due(back, &commit).any(|read| read == Read::Words(span(5, 104))), "at once");
    reads.give_words_up();
    assert!(reads.is_given_up(back, agent, turn, false) && reads.is_idle());
    reads.handed();
    assert!(!reads.is_given_up(back, agent, turn, false), "the next one has it read again");
}
