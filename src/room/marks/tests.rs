use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn id(number: u64) -> MessageId {
    MessageId::new(number)
}

fn at(seconds: u32) -> Timestamp {
    Timestamp::from_millis(1_000_000) + SECOND * seconds
}

/// Messages up to 10 were read, and 20 was pushed since.
fn marks() -> Marks {
    let mut marks = Marks::restored(Some(id(10)), None, [].into_iter(), at(0));
    marks.pushed(id(20));
    marks
}

#[test]
fn a_gap_that_opens_during_a_read_is_not_closed_by_it() {
    let mut marks = marks();
    marks.open_gap(at(0), None);
    marks.begin_read();
    assert_eq!(marks.gap_from(), Some(GapFrom::After(id(10))));
    marks.open_gap(at(1), None);
    assert!(!marks.read_page(Some(id(30)), false), "it may have been read before the second gap");
    marks.begin_read();
    assert_eq!(marks.gap_from(), Some(GapFrom::After(id(30))));
    assert!(marks.read_page(Some(id(40)), false));
    assert_eq!((marks.has_gap(), marks.heard()), (false, Some(id(40))));
}

#[test]
fn what_is_pushed_during_a_gap_is_heard_when_the_gap_was_read() {
    let mut marks = marks();
    marks.open_gap(at(0), None);
    marks.pushed(id(50));
    assert_eq!(marks.heard(), Some(id(20)), "something below it may be missing");
    marks.begin_read();
    assert!(marks.read_page(Some(id(40)), false));
    assert_eq!(marks.heard(), Some(id(50)));
    assert!(marks.covers(id(50)) && marks.is_known(id(50)));
}

#[test]
fn a_message_of_ours_is_known_and_does_not_count_as_heard() {
    let mut marks = marks();
    marks.note(id(30));
    assert!(marks.is_known(id(30)) && !marks.is_known(id(25)));
    assert_eq!(marks.heard(), Some(id(20)));
    assert!(!marks.covers(id(30)));
}

#[test]
fn a_gap_begins_where_the_channel_was_read_and_not_where_it_was_heard() {
    let mut read = marks();
    read.open_gap(at(0), None);
    assert_eq!(read.gap_from(), Some(GapFrom::After(id(10))));
    let mut never_read = Marks::new(None, at(0));
    never_read.open_gap(at(0), None);
    assert_eq!(never_read.gap_from(), Some(GapFrom::Start));
    let mut never_read = Marks::new(None, at(0));
    never_read.pushed(id(5));
    never_read.pushed(id(7));
    never_read.open_gap(at(0), None);
    assert_eq!(never_read.gap_from(), Some(GapFrom::After(id(5))));
}

#[test]
fn a_gap_holds_back_for_five_seconds_and_a_further_one_within_a_minute_does_not() {
    let mut marks = marks();
    marks.open_gap(at(0), None);
    assert!(marks.is_holding(at(4)) && !marks.is_holding(at(5)));
    let read = |marks: &mut Marks| {
        marks.begin_read();
        marks.read_page(None, false)
    };
    assert!(read(&mut marks));
    assert!(!marks.is_holding(at(1)), "it is read");
    marks.open_gap(at(59), None);
    assert!(!marks.is_holding(at(59)));
    assert!(read(&mut marks));
    marks.open_gap(at(60), None);
    assert!(marks.is_holding(at(60)));
}

#[test]
fn after_a_restart_a_gap_begins_where_the_channel_was_read_and_what_was_heard_is_known() {
    let mut marks = marks();
    marks.pushed(id(22));
    assert_eq!(marks.verified_behind(), Some(id(10)));
    let (heard, known) = (marks.heard(), [10, 20, 22, 30].map(id).into_iter());
    let mut marks = Marks::restored(heard, marks.verified_behind(), known, at(9));
    marks.open_gap(at(9), None);
    assert_eq!(marks.gap_from(), Some(GapFrom::After(id(10))));
    assert!([10, 20, 22].map(id).into_iter().all(|id| marks.is_known(id)));
    assert!(!marks.is_known(id(21)), "its event was lost");
    assert!(marks.is_known(id(30)), "it was pushed while a gap was open: it is not heard twice");
}

#[test]
fn what_was_heard_and_not_read_is_known_whatever_the_turn_machine_forgets() {
    let mut marks = marks();
    marks.pushed(id(22));
    let known = |marks: &Marks, up_to| marks.known_up_to(up_to).collect::<Vec<_>>();
    assert_eq!(known(&marks, None), []);
    assert_eq!(known(&marks, Some(id(22))), [20, 22].map(id));
    assert!(marks.is_unverified());
    marks.verify(Some(id(22)));
    assert!(!marks.is_unverified());
    assert_eq!(marks.verified_behind(), None, "it costs nothing where all was read");
    assert_eq!(known(&marks, Some(id(30))), []);
}

#[test]
fn after_each_page_of_messages_that_no_one_read_the_channel_is_to_be_read_whoever_posted_them() {
    let mut marks = marks();
    let mut asked = 0;
    for number in 100..1_000 {
        // Half of them are posts of ours, which only their receipts tell of.
        if number % 2 == 0 {
            marks.note(id(number));
        } else {
            marks.pushed(id(number));
        }
        asked += usize::from(marks.take_long_unread());
    }
    assert_eq!(asked, 9);
    marks.verify(Some(id(999)));
    (1_000..1_098).for_each(|number| marks.note(id(number)));
    assert!(!marks.take_long_unread());
}

#[test]
fn where_the_channel_is_not_read_few_ids_are_kept_and_stored() {
    let mut marks = marks();
    for number in 100..5_000 {
        marks.pushed(id(number));
        if marks.take_long_unread() {
            marks.do_without_reading();
        }
        assert!(marks.known_up_to(Some(id(number))).count() < IDS_UNREAD + READ_AGAIN);
    }
    assert!(marks.is_known(id(100)) && marks.is_known(id(4_999)) && !marks.is_known(id(5_000)));
    assert!(marks.verified_behind() > Some(id(4_500)));
}

/// A clock that is two minutes fast: what was said in the first two minutes counted as read before it was heard.
#[test]
fn a_conversation_begins_with_its_first_message_where_our_clock_was_ahead_of_the_chats() {
    let mut marks = Marks::new(Some(id(100)), at(0));
    marks.pushed(id(70));
    assert!(marks.is_known(id(70)) && !marks.is_known(id(80)), "it was not heard");
    marks.open_gap(at(1), None);
    assert_eq!(marks.gap_from(), Some(GapFrom::After(id(69))));
    marks.begin_read();
    assert!(marks.read_page(Some(id(80)), false));
    marks.pushed(id(75));
    assert_eq!(marks.verified(), Some(id(80)), "once it was read, nothing begins anew");
}
