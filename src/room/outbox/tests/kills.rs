//! Whatever is lost, and whenever the process is killed, every part is posted once and in order.

use proptest::prelude::*;

use super::*;

fn both() -> Vec<OutboxMessage> {
    vec![guide(3), result(2)]
}

#[test]
fn after_a_kill_at_any_step_every_part_is_posted_once() {
    let faults =
        [Fault::None, Fault::Lost(Duration::ZERO), Fault::Lost(SECOND * 14), Fault::NotDelivered];
    for (faulty, fault) in (0..5).flat_map(|post| faults.map(|fault| (post, fault))) {
        for (away, memory) in
            [(0, 120), (60, 120), (119, 120), (130, 120), (400, 600), (3_600, 600)]
        {
            for (step, is_commit_stored) in (0..45).flat_map(|step| [(step, true), (step, false)]) {
                let mut world = World::stored(both());
                world.chat.nonce_memory = SECOND * memory;
                world.chat.say(CALLBACK, PERSON, "hello");
                world.post_faults.extend(std::iter::repeat_n(Fault::None, faulty));
                world.post_faults.push_back(fault);
                let _ = (0..step).all(|_| world.step());
                world.kill(SECOND * u32::try_from(away).unwrap(), is_commit_stored);
                world.run();
                world.assert_posted_once(&both());
            }
        }
    }
}

/// Faults of every kind, kills, silence and talk, from one seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963);
        (self.0 >> 33) % most.max(1)
    }

    fn fault(&mut self) -> Fault {
        match self.below(8) {
            0 => Fault::Lost(Duration::ZERO),
            1 => Fault::Lost(Duration::from_millis(self.below(15_000))),
            2 => Fault::NotDelivered,
            3 => Fault::Limited(SECOND * u32::try_from(self.below(200)).unwrap()),
            4 => Fault::Refused(ErrorKind::Forbidden),
            5 => Fault::Refused(if self.below(4) == 0 {
                ErrorKind::Gone
            } else {
                ErrorKind::Unavailable
            }),
            _ => Fault::None,
        }
    }
}

fn disturb(world: &mut World, chance: &mut Chance, may_hide: bool) {
    match chance.below(30) {
        0 => {
            let away = Duration::from_millis(chance.below(400_000));
            world.kill(away, chance.below(2) == 0);
        }
        1 => world.kill(Duration::ZERO, chance.below(2) == 0),
        2 => world.start_commit(),
        3 if may_hide => world.chat.hidden.extend([CALLBACK]),
        4 => world.chat.hidden.clear(),
        5 => {
            let to = if chance.below(2) == 0 { OWN } else { CALLBACK };
            let words = result(2).parts[0].content.clone();
            // At times more than a page.
            let most = if chance.below(4) == 0 { 250 } else { 9 };
            for _ in 0..chance.below(most) {
                world.chat.say(to, PERSON, &words);
            }
        }
        6..=9 => world.post_faults.push_back(chance.fault()),
        10..=12 => world.read_faults.push_back(chance.fault()),
        _ => {}
    }
}

proptest! {
    #[test]
    fn every_part_is_posted_once_and_in_order_in_any_world(
        seed: u64,
        memory in 120..600_u64,
        shows_nonces: bool,
        says_what_is_readable: bool,
        may_hide: bool,
        steps in 0..400_usize,
    ) {
        let mut chance = Chance(seed);
        let mut world = World::stored(both());
        world.chat.nonce_memory = Duration::from_secs(memory);
        (world.chat.shows_nonces, world.chat.says_what_is_readable) =
            (shows_nonces, says_what_is_readable);
        world.chat.say(CALLBACK, PERSON, "hello");
        for _ in 0..steps {
            disturb(&mut world, &mut chance, may_hide);
            let _ = world.step();
        }
        world.chat.hidden.clear();
        world.post_faults.clear();
        world.read_faults.clear();
        // What cannot arrive in one process does in the next.
        world.run();
        world.kill(SECOND, true);
        world.run();
        world.assert_posted_once(&both());
    }
}
