//! Draws long conversations by chance, and shrinks counterexamples.

use std::ops::ControlFlow;

use super::world::{Act, Reply, World};
use super::{Explored, Inquiry, Told};

/// The most steps of a drawn world.
const STEPS: usize = 400;

/// The number of steps between two checks of claims about the future, because such a check plays up to 1,000 turns.
const LOOK: usize = 40;

/// Draws worlds until each claim is broken, or until the caller ends it.
pub(super) fn draw(
    inquiry: &Inquiry,
    told: &mut Told,
    goes_on: &mut dyn FnMut(Explored) -> ControlFlow<()>,
) {
    for number in 0..inquiry.worlds {
        if goes_on(told.explored).is_break() {
            told.is_ended = true;
            return;
        }
        let mut dice = Dice(number);
        let mut world = World::begin(&inquiry.room(), number);
        world.allow(WORDS, inquiry.failures);
        // Agents are talkative in some worlds and quiet in others. People write often in some, and once in others.
        let (talk, words) = (dice.below(11), dice.below(4));
        let mut acts = vec![Act::Says(None)];
        world.apply(Act::Says(None));
        for step in 0..STEPS {
            for claim in inquiry.open(told).collect::<Vec<_>>() {
                let is_look = step % LOOK == 0;
                if world.breaches(claim) || is_look && world.breaches_from_here(claim).is_some() {
                    let ends = &mut || goes_on(told.explored).is_break();
                    let acts = shrunk(inquiry, number, acts.clone(), claim, ends);
                    told.broken.push(inquiry.broken(number, &acts, claim, true));
                }
            }
            let Some(act) = pick(&world, &mut dice, talk, words) else { break };
            world.apply(act);
            acts.push(act);
        }
        told.explored.worlds += 1;
        if told.broken.len() == inquiry.claims.len() {
            return;
        }
    }
}

/// The most messages of people in a drawn world.
pub(super) const WORDS: u32 = 40;

fn pick(world: &World, dice: &mut Dice, talk: u64, words: u64) -> Option<Act> {
    let acts = world.acts();
    let says: Vec<_> = acts.iter().copied().filter(|act| matches!(act, Act::Says(_))).collect();
    let does: Vec<_> = acts.into_iter().filter(|act| !matches!(act, Act::Says(_))).collect();
    let is_word = does.is_empty() || dice.below(20) < words;
    if is_word {
        let at = usize::try_from(dice.below(says.len() as u64)).ok()?;
        return says.get(at).copied();
    }
    if dice.below(12) == 0 {
        let at = usize::try_from(dice.below(does.len() as u64)).ok()?;
        return does.get(at).copied();
    }
    let wanted = if dice.below(10) < talk { Act::Speaks(Reply::Plain) } else { Act::Passes };
    let usual = [Act::Begins, wanted, Act::Arrives, Act::TimePasses];
    usual.into_iter().find(|act| does.contains(act)).or_else(|| does.first().copied())
}

/// Removes the acts that the claim does not need to break, until the caller ends it.
fn shrunk(
    inquiry: &Inquiry,
    shuffle: u64,
    mut acts: Vec<Act>,
    claim: super::Claim,
    ends: &mut dyn FnMut() -> bool,
) -> Vec<Act> {
    let mut size = acts.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < acts.len() {
            if ends() {
                return acts;
            }
            let mut fewer = acts.clone();
            fewer.drain(at..(at + size).min(acts.len()));
            if inquiry.breaks(shuffle, &fewer, claim) {
                acts = fewer;
            } else {
                at += size;
            }
        }
        size /= 2;
    }
    acts
}

/// A generator of random numbers, `SplitMix64`. The same seed always draws the same world.
struct Dice(u64);

impl Dice {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)).checked_rem(limit).unwrap_or_default()
    }
}
