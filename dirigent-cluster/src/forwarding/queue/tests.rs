//! In which order events are told, wherever they wait.

use std::time::Duration;

use dirigent::MessageId;
use dirigent_testkit::Random;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn at(seconds: u64) -> Timestamp {
    Timestamp::from_millis(1_000_000) + SECOND * u32::try_from(seconds).unwrap()
}

fn host(name: &str) -> HostId {
    name.parse().unwrap()
}

fn channel(number: u64) -> ChannelId {
    ChannelId::new(100 + number)
}

fn event(of: u64, number: u64) -> GatewayEvent {
    GatewayEvent::NewestMessage {
        channel: channel(of),
        message: MessageId::new(number),
        parent: None,
    }
}

fn number(event: &GatewayEvent) -> u64 {
    let GatewayEvent::NewestMessage { message, .. } = event else {
        panic!("not an event of these tests");
    };
    message.get()
}

fn numbers(events: &[GatewayEvent]) -> Vec<u64> {
    events.iter().map(number).collect()
}

fn named(hosts: &[&str]) -> Queue {
    let mut queue = Queue::default();
    queue.name(&hosts.iter().map(|name| host(name)).collect::<Vec<_>>());
    queue
}

/// The next batch and its process: whether it names a gap, and the numbers of its events.
fn next(queue: &mut Queue, now: Timestamp) -> Option<(Batch, bool, Vec<u64>)> {
    let batch = queue.next_batch(now)?;
    let (missed, numbers) = (batch.missed, numbers(&batch.events));
    Some((batch, missed, numbers))
}

#[test]
fn a_later_event_does_not_overtake_one_whose_channel_had_no_owner() {
    let mut queue = named(&["x"]);
    queue.push(at(0), None, event(1, 1));
    queue.push(at(0), Some(host("x")), event(1, 2));
    // Another channel, in which nothing waits.
    queue.push(at(0), Some(host("x")), event(2, 1));
    let (batch, _, numbers) = next(&mut queue, at(0)).unwrap();
    assert_eq!(batch.parts, [(channel(1), 2), (channel(2), 1)]);
    assert_eq!(numbers, [1, 2, 1]);
}

#[test]
fn a_later_event_does_not_overtake_one_that_was_not_taken() {
    let mut queue = named(&["x"]);
    queue.push(at(0), Some(host("x")), event(1, 1));
    let (batch, ..) = next(&mut queue, at(0)).unwrap();
    queue.push(at(0), Some(host("x")), event(1, 2));
    queue.answered(at(0), &batch, &[0]);
    queue.push(at(0), Some(host("x")), event(1, 3));
    let (_, _, numbers) = next(&mut queue, at(0)).unwrap();
    assert_eq!(numbers, [1, 2, 3]);
}

#[test]
fn a_later_event_does_not_overtake_one_that_is_sent_again() {
    let mut queue = named(&["x", "y"]);
    queue.push(at(0), Some(host("x")), event(1, 1));
    let (batch, ..) = next(&mut queue, at(0)).unwrap();
    queue.push(at(0), Some(host("x")), event(1, 2));
    queue.failed(at(0), &batch);
    queue.push(at(0), Some(host("x")), event(1, 3));
    queue.push(at(0), Some(host("x")), event(2, 1));
    assert!(queue.next_batch(at(0)).is_none(), "the process is not asked again at once");
    let (batch, _, numbers) = next(&mut queue, at(1)).unwrap();
    assert_eq!(batch.parts, [(channel(1), 3), (channel(2), 1)]);
    assert_eq!(numbers, [1, 2, 3, 1]);
}

/// The asked process does not answer. Then another owns the channel, and gets all events.
#[test]
fn the_next_owner_is_told_what_is_under_way_to_the_last_one() {
    for by_event in [true, false] {
        let mut queue = named(&["x", "y"]);
        queue.push(at(0), Some(host("x")), event(1, 1));
        let (to_x, ..) = next(&mut queue, at(0)).unwrap();
        if by_event {
            queue.push(at(0), Some(host("y")), event(1, 2));
        } else {
            queue.push(at(0), None, event(1, 2));
            queue.look_up(at(0), |_| None);
            assert!(queue.next_batch(at(0)).is_none(), "its answer may still come");
            queue.look_up(at(0), |_| Some(host("y")));
        }
        let (to_y, _, numbers) = next(&mut queue, at(0)).unwrap();
        assert_eq!((to_y.to.as_str(), numbers), ("y", vec![1, 2]));
        // The answer of the last owner no longer counts.
        queue.answered(at(0), &to_x, &[]);
        assert_eq!((queue.waiting(), queue.carried), (2, 0));
        queue.answered(at(0), &to_y, &[]);
        assert_eq!((queue.waiting(), queue.carried), (0, 2));
        assert!(queue.next_batch(at(9)).is_none());
    }
}

/// For a moment no owner of the channel is known.
#[test]
fn what_is_under_way_to_a_process_counts_as_taken_while_no_other_one_is_known() {
    let mut queue = named(&["x"]);
    queue.push(at(0), Some(host("x")), event(1, 1));
    let (batch, ..) = next(&mut queue, at(0)).unwrap();
    queue.look_up(at(0), |_| None);
    queue.answered(at(0), &batch, &[]);
    assert_eq!((queue.waiting(), queue.carried), (0, 1));
}

#[test]
fn a_process_that_is_named_no_more_is_told_what_it_missed_when_it_is_back() {
    let mut queue = named(&["x", "y"]);
    queue.open_gap();
    let [(to_x, missed, _), (to_y, also_missed, _)] =
        [(); 2].map(|()| next(&mut queue, at(0)).unwrap());
    assert!(missed && also_missed);
    queue.failed(at(0), &to_x);
    queue.answered(at(0), &to_y, &[]);
    queue.name(&[host("y")]);
    assert!(queue.next_batch(at(100)).is_none(), "it is not asked");
    assert_eq!(queue.next_deadline(), None);
    queue.name(&[host("x"), host("y")]);
    let (again, missed, _) = next(&mut queue, at(100)).unwrap();
    assert_eq!((again.to.as_str(), missed), ("x", true));
    queue.answered(at(100), &again, &[]);
    queue.name(&[host("x"), host("y")]);
    assert!(queue.next_batch(at(200)).is_none(), "once");
}

/// It may act for channels until it has ended.
#[test]
fn a_process_that_is_named_no_more_is_told_of_events() {
    let mut queue = named(&["x"]);
    queue.name(&[]);
    queue.push(at(0), Some(host("x")), event(1, 1));
    let (batch, ..) = next(&mut queue, at(0)).unwrap();
    queue.failed(at(0), &batch);
    queue.name(&[]);
    assert!(queue.next_deadline().is_some());
    assert!(queue.next_batch(at(1)).is_some());
}

/// At the start no other process is known for a moment.
#[test]
fn a_process_that_becomes_known_after_a_gap_is_told_of_it_once() {
    let mut queue = Queue::default();
    queue.name(&[host("x")]);
    assert!(queue.next_batch(at(0)).is_none(), "there was no gap");
    queue.open_gap();
    queue.name(&[host("x"), host("y")]);
    let batches = [(); 2].map(|()| queue.next_batch(at(0)).unwrap());
    assert!(batches.iter().all(|batch| batch.missed));
    for batch in &batches {
        queue.answered(at(0), batch, &[]);
    }
    queue.name(&[host("x"), host("y")]);
    assert!(queue.next_batch(at(0)).is_none());
}

#[test]
fn where_too_many_events_have_no_owner_all_processes_read_what_they_missed() {
    let mut queue = named(&["x", "y"]);
    for number in 0..=10_000 {
        queue.push(at(0), None, event(number % 7, number));
    }
    assert_eq!((queue.dropped, queue.waiting()), (10_001, 0));
    let batches = [(); 2].map(|()| queue.next_batch(at(0)).unwrap());
    assert!(batches.iter().all(|batch| batch.missed && batch.events.is_empty()));
    assert!(queue.missed_here());
    assert!(!queue.missed_here(), "once");
}

#[test]
fn where_too_many_events_wait_for_a_process_only_that_one_reads_what_it_missed() {
    let mut queue = named(&["x", "y"]);
    queue.push(at(0), Some(host("y")), event(8, 1));
    for number in 0..=10_000 {
        queue.push(at(0), Some(host("x")), event(number % 7, number));
    }
    assert_eq!((queue.dropped, queue.waiting()), (10_001, 1));
    let (to_x, missed, numbers) = next(&mut queue, at(0)).unwrap();
    assert_eq!((to_x.to.as_str(), missed, numbers.len()), ("x", true, 0));
    let (to_y, missed, numbers) = next(&mut queue, at(0)).unwrap();
    assert_eq!((to_y.to.as_str(), missed, numbers), ("y", false, vec![1]));
    assert!(!queue.missed_here());
}

/// The seconds at which a process that never takes the event is asked, looked at twice a second.
#[test]
fn what_is_always_refused_is_asked_about_less_and_less_often() {
    let mut queue = named(&["x"]);
    queue.push(at(0), Some(host("x")), event(1, 1));
    let mut asked = Vec::new();
    for half in 0..60 {
        let now = at(0) + SECOND / 2 * half;
        queue.look_up(now, |_| Some(host("x")));
        if let Some((batch, ..)) = next(&mut queue, now) {
            asked.push(half);
            queue.answered(now, &batch, &[0]);
        }
    }
    assert_eq!(asked, [0, 1, 3, 7, 15, 25, 35, 45, 55]);
    assert_eq!(queue.refused(), 1);
    // A later event does not change that, and another owner is asked at once.
    queue.push(at(30), Some(host("x")), event(1, 2));
    assert!(queue.next_batch(at(30)).is_none());
    queue.push(at(30), Some(host("y")), event(1, 3));
    let (batch, _, numbers) = next(&mut queue, at(30)).unwrap();
    assert_eq!((batch.to.as_str(), numbers), ("y", vec![1, 2, 3]));
    queue.answered(at(30), &batch, &[]);
    assert_eq!((queue.refused(), queue.waiting()), (0, 0));
}

/// If the process takes some events and not the next one, it is asked again soon.
#[test]
fn what_is_taken_in_part_is_asked_about_soon() {
    let mut queue = named(&["x"]);
    let mut now = at(0);
    for number in 0..4 {
        queue.push(now, Some(host("x")), event(1, number));
    }
    for refused in [vec![0, 1, 2, 3], vec![0, 1, 2, 3], vec![1, 2, 3]] {
        let (batch, ..) = next(&mut queue, now).unwrap();
        queue.answered(now, &batch, &refused);
        now = now + SECOND * 5;
        queue.look_up(now, |_| Some(host("x")));
    }
    let (batch, _, numbers) = next(&mut queue, now).unwrap();
    assert_eq!(numbers, [1, 2, 3]);
    queue.answered(now, &batch, &[1, 2]);
    queue.look_up(now, |_| Some(host("x")));
    assert!(queue.next_batch(now).is_some());
}

#[test]
fn what_is_told_here_waits_behind_what_is_not_taken() {
    let mut queue = named(&["x"]);
    for number in 1..=3 {
        queue.push(at(0), None, event(1, number));
    }
    assert!(queue.next_here(at(0), |_| false).is_empty(), "another process acts for it");
    let mut tell = |now, taken, is_refused| {
        let mut to_tell = queue.next_here(now, |_| true);
        let Some(EventsToSend { channel, round, events }) = to_tell.pop() else {
            return Vec::new();
        };
        assert!(queue.next_here(now, |_| true).is_empty(), "it is under way");
        let told = Told { channel, round, events: events.len(), taken, is_refused };
        queue.told_here(now, &told);
        numbers(&events)
    };
    assert_eq!(tell(at(0), 1, false), [1, 2, 3]);
    assert_eq!(tell(at(0), 0, true), [2, 3]);
    assert_eq!(tell(at(0), 0, true), [2, 3]);
    assert!(tell(at(0), 0, true).is_empty(), "the store is not asked again at once");
    assert_eq!(tell(at(1), 2, false), [2, 3]);
    assert!(tell(at(9), 0, false).is_empty());
    assert_eq!((queue.waiting(), queue.carried, queue.dropped), (0, 0, 0));
}

/// A process takes a channel over while this one tells it what waited.
#[test]
fn what_is_under_way_here_goes_to_another_process_that_takes_the_channel_over() {
    let mut queue = named(&["x"]);
    queue.push(at(0), None, event(1, 1));
    let EventsToSend { channel, round, .. } = queue.next_here(at(0), |_| true).pop().unwrap();
    queue.look_up(at(0), |_| Some(host("x")));
    queue.told_here(at(0), &Told { channel, round, events: 1, taken: 1, is_refused: false });
    let (_, _, numbers) = next(&mut queue, at(0)).unwrap();
    assert_eq!(numbers, [1]);
}

#[test]
fn events_that_will_never_be_taken_make_room_for_those_behind_them() {
    let mut queue = named(&["x"]);
    queue.push(at(0), Some(host("x")), event(1, 1));
    let (batch, ..) = next(&mut queue, at(0)).unwrap();
    queue.push(at(0), Some(host("x")), event(1, 2));
    queue.give_up(at(0), &batch);
    assert_eq!((queue.dropped, queue.waiting()), (1, 1));
    let (_, missed, numbers) = next(&mut queue, at(1)).unwrap();
    assert_eq!((missed, numbers), (true, vec![2]));
}

/// A batch has a bounded number of events, and each channel has its turn.
#[test]
fn a_channel_with_much_to_tell_does_not_keep_others_waiting() {
    let mut queue = named(&["x"]);
    for number in 0..250 {
        queue.push(at(0), Some(host("x")), event(1, number));
    }
    queue.push(at(0), Some(host("x")), event(2, 0));
    let (batch, _, first) = next(&mut queue, at(0)).unwrap();
    queue.answered(at(0), &batch, &[]);
    let (batch, ..) = next(&mut queue, at(0)).unwrap();
    assert_eq!(first, (0..100).collect::<Vec<_>>());
    assert_eq!(batch.parts, [(channel(2), 1), (channel(1), 99)]);
}

/// One answer that is still to come.
enum Open {
    Carried(Batch),
    Here(EventsToSend),
}

/// Whatever happens, an event goes only after those before it were taken, or behind them; and in the end each was taken.
#[test]
fn no_event_is_told_before_an_earlier_one_of_its_channel_was_taken() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let mut queue = named(&["x", "y"]);
        let hosts = [None, Some(host("x")), Some(host("y"))];
        let (mut owners, mut pushed, mut taken) = ([0_usize; 3], [0_u64; 3], [0_u64; 3]);
        let mut open: Vec<Open> = Vec::new();
        for step in 0..400_u32 {
            let now = at(0) + SECOND / 10 * step;
            let calm = step > 300;
            let of = random.below(3);
            let place = usize::try_from(of).unwrap();
            match random.below(9) {
                0..=2 if !calm => {
                    // The known owner may be a moment old.
                    let owner = hosts[owners[place]].clone();
                    queue.push(now, owner, event(of, pushed[place]));
                    pushed[place] += 1;
                }
                3 if !calm => owners[place] = usize::try_from(random.below(3)).unwrap(),
                4 => queue.look_up(now, |id| {
                    hosts[owners[usize::try_from(id.get() - 100).unwrap()]].clone()
                }),
                5 => open.extend(queue.next_batch(now).map(Open::Carried)),
                6 => open.extend(queue.next_here(now, |_| true).into_iter().map(Open::Here)),
                _ if !open.is_empty() => {
                    let which = usize::try_from(random.below(open.len() as u64)).unwrap();
                    let fate = if calm { 2 } else { random.below(4) };
                    answer(&mut queue, now, open.swap_remove(which), fate, &mut taken);
                }
                _ => {}
            }
            for it in &open {
                check(it, &taken, seed);
            }
        }
        for step in 0..400_u32 {
            let now = at(100) + SECOND * step;
            queue.look_up(now, |_| Some(host("x")));
            open.extend(queue.next_batch(now).map(Open::Carried));
            for it in open.drain(..) {
                check(&it, &taken, seed);
                answer(&mut queue, now, it, 2, &mut taken);
            }
        }
        assert_eq!(queue.waiting(), 0, "seed {seed}");
        assert_eq!(taken, pushed, "seed {seed}");
    }
}

/// What is under way begins with what was not taken, or earlier, and leaves nothing out.
fn check(open: &Open, taken: &[u64; 3], seed: u64) {
    let parts: Vec<(ChannelId, &[GatewayEvent])> = match open {
        Open::Here(it) => vec![(it.channel, &it.events)],
        Open::Carried(batch) => {
            let mut first = 0;
            let parts = batch.parts.iter().map(|(channel, count)| {
                first += count;
                (*channel, &batch.events[first - count..first])
            });
            parts.collect()
        }
    };
    for (channel, events) in parts {
        let numbers = numbers(events);
        let next = taken[usize::try_from(channel.get() - 100).unwrap()];
        assert!(numbers[0] <= next, "seed {seed}: {numbers:?} told, {next} was not taken");
        assert!(numbers.is_sorted_by(|one, other| one + 1 == *other), "seed {seed}: {numbers:?}");
    }
}

fn answer(queue: &mut Queue, now: Timestamp, open: Open, fate: u64, taken: &mut [u64; 3]) {
    let mut take = |channel: ChannelId, event: Option<&GatewayEvent>| {
        let taken = &mut taken[usize::try_from(channel.get() - 100).unwrap()];
        *taken = (*taken).max(event.map_or(0, |event| number(event) + 1));
    };
    match (open, fate) {
        (Open::Here(EventsToSend { channel, round, events }), fate) => {
            let count = if fate == 2 { events.len() } else { events.len() / 2 };
            take(channel, events.get(..count).and_then(<[_]>::last));
            let is_refused = fate == 1;
            let told = Told { channel, round, events: events.len(), taken: count, is_refused };
            queue.told_here(now, &told);
        }
        (Open::Carried(batch), 0) => queue.failed(now, &batch),
        (Open::Carried(batch), fate) => {
            let (mut first, mut elsewhere) = (0, Vec::new());
            for (channel, count) in &batch.parts {
                let end = first + count;
                let until = if fate == 2 { end } else { first + count / 2 };
                take(*channel, batch.events[first..until].last());
                elsewhere.extend(until..end);
                first = end;
            }
            queue.answered(now, &batch, &elsewhere);
        }
    }
}
