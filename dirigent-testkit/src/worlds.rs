//! Runs worlds that are drawn from numbers. It tries many of them on every core, and reports the first that fails with
//! as few steps as possible.

use std::any::Any;
use std::cell::Cell;
use std::ops::AddAssign;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, Once};
use std::thread;

use crate::told::listed;
use crate::{Random, told};

/// The most lines of a failing world's story that are shown.
const LINES_MAX: usize = 150;

/// The most runs of a failing world with fewer steps. Usually 200 are enough.
const TRIES_MAX: u32 = 1_000;

/// The longest list in which every pair of elements is left out.
const PAIRED_MAX: usize = 24;

/// A hostile world, in which everything follows from one number.
///
/// A world may also panic. That counts as a failure with the panic's message.
///
/// ```
/// use dirigent_testkit::worlds::World;
///
/// /// A counter that must stay below ten.
/// struct Counter(u32);
///
/// impl World for Counter {
///     fn step(&mut self) -> Result<(), String> {
///         self.0 += 1;
///         if self.0 < 10 { Ok(()) } else { Err(format!("it is {}", self.0)) }
///     }
/// }
/// assert!(Counter(0).step().is_ok());
/// ```
pub trait World {
    /// Performs the next step, and checks what must be true after it.
    ///
    /// # Errors
    ///
    /// Returns what is not true.
    fn step(&mut self) -> Result<(), String>;

    /// Returns true if no more steps are possible, however many are left.
    fn is_over(&self) -> bool {
        false
    }

    /// Ends all faults, and runs the world until everything is done. No work may be left.
    ///
    /// # Errors
    ///
    /// Returns the work that is left.
    fn end(&mut self) -> Result<(), String> {
        Ok(())
    }

    /// Returns the generator that the steps draw from, or `None` if they draw from none.
    ///
    /// When the runner leaves out steps of a failing world, it sets the generator before each step to its state before
    /// the same step of the whole run. The remaining steps therefore stay the same, although fewer happened before
    /// them.
    fn dice(&mut self) -> Option<&mut Random> {
        None
    }

    /// Returns the story of the world as lines. It is called only if the world was begun with a story.
    fn story(&mut self) -> Vec<String> {
        Vec::new()
    }
}

/// Many worlds, with consecutive numbers.
///
/// You can override a test's numbers with environment variables:
///
/// | Variable | Meaning |
/// | --- | --- |
/// | `DIRIGENT_WORLDS` | how many worlds are tried |
/// | `DIRIGENT_FIRST` | the number of the first |
/// | `DIRIGENT_STEPS` | how many steps each has at most |
/// | `DIRIGENT_ONLY` | the steps that are lived through, counted from 1, such as `3-7,12`; for a single world |
///
/// A report ends with the command that repeats it:
///
/// ```text
/// world 17 fails after 3 of 1500 steps: two agents may speak
/// (the last lines of its story)
/// once more: DIRIGENT_FIRST=17 DIRIGENT_WORLDS=1 DIRIGENT_ONLY=2,40-41 cargo test --test all simulation::no_invariant_breaks
/// ```
///
/// ```
/// use dirigent_testkit::worlds::{World, Worlds};
///
/// struct Quiet;
/// impl World for Quiet {
///     fn step(&mut self) -> Result<(), String> { Ok(()) }
/// }
/// let worlds = Worlds::new("--test all quiet", 20, 5);
/// assert_eq!(worlds.live(|_, _| Quiet, |_| 1_u64), 20);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Worlds {
    test: &'static str,
    first: u64,
    count: u64,
    steps: u64,
    /// The steps to run, from 0. With `None` all of them run.
    only: Option<Vec<u64>>,
    /// True if the variables are ignored.
    is_fixed: bool,
    /// True if the variables ask for at least as much as the test.
    is_enough: bool,
}

/// A failure of one world.
#[derive(Clone, Debug)]
struct Failure {
    /// The number of steps before it.
    steps: u64,
    why: String,
}

/// A failed world, in its last state.
type Failed<W> = (Option<W>, Failure);

impl Worlds {
    /// Creates as many worlds and steps as the variables say, or otherwise these. `test` holds the arguments that let
    /// `cargo test` run only this test.
    ///
    /// # Panics
    ///
    /// Panics if a variable is not a number. It also panics if `DIRIGENT_ONLY` is set for several worlds or is not a
    /// list of steps.
    pub fn new(test: &'static str, worlds: u64, steps: u64) -> Self {
        let (first, count) = (told("DIRIGENT_FIRST"), told("DIRIGENT_WORLDS"));
        let at_most = told("DIRIGENT_STEPS").unwrap_or(steps);
        let only = listed("DIRIGENT_ONLY").map(|steps| {
            assert!(count == Some(1), "DIRIGENT_ONLY needs DIRIGENT_WORLDS=1");
            assert!(!steps.starts_with(&[0]), "DIRIGENT_ONLY counts from 1");
            steps.into_iter().map(|step| step - 1).collect()
        });
        let is_less = count.is_some_and(|count| count < worlds) || at_most < steps;
        Self {
            test,
            first: first.unwrap_or(1),
            count: count.unwrap_or(worlds),
            steps: at_most,
            is_enough: !is_less && only.is_none(),
            only,
            is_fixed: false,
        }
    }

    /// Creates these worlds without reading the variables. Use it if your test is about these very numbers, for example
    /// because they once failed.
    pub const fn fixed(test: &'static str, first: u64, worlds: u64, steps: u64) -> Self {
        let is_fixed = true;
        Self { test, first, count: worlds, steps, only: None, is_fixed, is_enough: true }
    }

    /// Returns how many worlds there are.
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// Returns true if there are at least as many and as long worlds as the test asks for. Only then can the test judge
    /// the sum of all results, for example that enough happened. The command that repeats a single world would
    /// otherwise always fail.
    pub const fn are_enough(&self) -> bool {
        self.is_enough
    }

    /// Runs all worlds, and adds up their results. `begin` gets the number of a world, and whether its story is needed.
    ///
    /// # Panics
    ///
    /// Panics if a world fails. The message has the fewest steps found that fail in the same way, the end of the story,
    /// and the command that repeats it. If several worlds fail, it reports the one with the lowest number.
    pub fn live<W: World, T: AddAssign + Default + Send>(
        &self,
        begin: impl Fn(u64, bool) -> W + Sync,
        tally: impl Fn(&W) -> T + Sync,
    ) -> T {
        let (next, end) = (AtomicU64::new(self.first), self.first.saturating_add(self.count));
        let (total, failed) = (Mutex::new(T::default()), Mutex::new(None::<(u64, Failure)>));
        let live_share = || {
            let mut share = T::default();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let is_over = number >= end || failed.lock().is_ok_and(|failed| failed.is_some());
                if is_over {
                    break;
                }
                match self.live_one(|| begin(number, false)) {
                    Ok(world) => share += tally(&world),
                    Err((_, failure)) => {
                        if let Ok(mut failed) = failed.lock() {
                            let is_first = failed.as_ref().is_none_or(|(other, _)| number < *other);
                            if is_first {
                                *failed = Some((number, failure));
                            }
                        }
                    }
                }
            }
            if let Ok(mut total) = total.lock() {
                *total += share;
            }
        };
        let cores = thread::available_parallelism().map_or(1, usize::from);
        thread::scope(|scope| (0..cores).for_each(|_| drop(scope.spawn(live_share))));
        if let Ok(Some((number, failure))) = failed.into_inner() {
            panic!("{}", self.report(number, failure, &begin));
        }
        total.into_inner().unwrap_or_default()
    }

    /// Runs one world, or only the selected steps of it.
    fn live_one<W: World>(&self, begin: impl Fn() -> W) -> Result<W, Failed<W>> {
        match &self.only {
            None => live(begin, 0..self.steps, |_, _| ()),
            Some(only) => {
                live_only(&begin, only, &recorded(&begin, only.last().map_or(0, |last| last + 1)))
            }
        }
    }

    /// Returns the report of a world that fails.
    fn report<W: World>(
        &self,
        number: u64,
        failure: Failure,
        begin: &impl Fn(u64, bool) -> W,
    ) -> String {
        let Failure { steps, mut why } = failure;
        let untold = || begin(number, false);
        let (only, again) = quietly(|| {
            let whole = self.only.clone().unwrap_or_else(|| (0..steps).collect());
            let dice = recorded(untold, whole.last().map_or(0, |last| last + 1));
            let mut tries = 0;
            let only = shrink(whole, |fewer| {
                tries += 1;
                let failed =
                    (tries <= TRIES_MAX).then(|| live_only(untold, fewer, &dice).err())??;
                let is_alike = is_alike(&failed.1.why, &why);
                is_alike.then_some(usize::try_from(failed.1.steps).unwrap_or(fewer.len()))
            });
            let again = live_only(|| begin(number, true), &only, &dice);
            (only, again)
        });
        let (world, is_repeated) = match again {
            Ok(world) => (Some(world), false),
            Err((world, failure)) => {
                let is_repeated = is_alike(&failure.why, &why);
                if is_repeated {
                    why = failure.why;
                }
                (world, is_repeated)
            }
        };
        let story = world.map(|mut world| world.story()).unwrap_or_default();
        let told = story.get(story.len().saturating_sub(LINES_MAX)..).unwrap_or_default();
        let told = told.join("\n  ");
        let note = if is_repeated { "" } else { " (and not when it was told again)" };
        format!(
            "world {number} fails after {} of {} steps: {why}{note}\n  {told}\nonce more: {}cargo test {}",
            only.len(),
            self.steps,
            self.variables(number, &only),
            self.test
        )
    }

    /// Returns the variables that select these steps of this world.
    fn variables(&self, number: u64, only: &[u64]) -> String {
        if self.is_fixed {
            return String::new();
        }
        let steps = match only {
            [] => "DIRIGENT_STEPS=0".to_owned(),
            only => format!("DIRIGENT_ONLY={}", in_ranges(only)),
        };
        format!("DIRIGENT_FIRST={number} DIRIGENT_WORLDS=1 {steps} ")
    }
}

/// Runs these steps of a world, and calls `before` before each. If it fails, returns the world in its last state.
fn live<W: World>(
    begin: impl FnOnce() -> W,
    steps: impl IntoIterator<Item = u64>,
    mut before: impl FnMut(u64, &mut W),
) -> Result<W, Failed<W>> {
    let (mut world, mut lived) = (None, 0);
    let result = catch_unwind(AssertUnwindSafe(|| {
        let world = world.insert(begin());
        for step in steps {
            if world.is_over() {
                break;
            }
            lived += 1;
            before(step, world);
            world.step()?;
        }
        world.end()
    }));
    match (result.unwrap_or_else(|panic| Err(words(&*panic))), world) {
        (Ok(()), Some(world)) => Ok(world),
        (Err(why), world) => Err((world, Failure { steps: lived, why })),
        (Ok(()), None) => Err((None, Failure { steps: 0, why: "it did not begin".to_owned() })),
    }
}

/// Returns the generator's state before each of the first steps of a whole run.
fn recorded<W: World>(begin: impl FnOnce() -> W, steps: u64) -> Vec<Random> {
    let mut dice = Vec::new();
    // The result is already known.
    let _ = live(begin, 0..steps, |_, world| dice.extend(world.dice().copied()));
    dice
}

/// Runs these steps, each with its dice from the whole run.
fn live_only<W: World>(
    begin: impl FnOnce() -> W,
    only: &[u64],
    dice: &[Random],
) -> Result<W, Failed<W>> {
    live(begin, only.iter().copied(), |step, world| {
        let then = usize::try_from(step).ok().and_then(|step| dice.get(step));
        if let (Some(dice), Some(then)) = (world.dice(), then) {
            *dice = *then;
        }
    })
}

/// Removes everything from a failing list that the failure does not need. It tries the whole list, halves, quarters and
/// so on down to single elements, and in a short list also every pair. It repeats this until every remaining element is
/// needed. `fails` returns the number of elements after which a list fails, or `None` if it does not.
///
/// ```
/// use dirigent_testkit::worlds::shrink;
///
/// let needs_three_and_seven = |list: &[u32]| {
///     (list.contains(&3) && list.contains(&7)).then_some(list.len())
/// };
/// assert_eq!(shrink((0..1_000).collect(), needs_three_and_seven), [3, 7]);
/// ```
pub fn shrink<T: Clone>(whole: Vec<T>, mut fails: impl FnMut(&[T]) -> Option<usize>) -> Vec<T> {
    let mut left = whole;
    loop {
        let before = left.len();
        let mut chunk = before;
        while chunk > 0 {
            let mut end = left.len();
            while end > 0 {
                let start = end.saturating_sub(chunk);
                let mut fewer = left.clone();
                fewer.drain(start..end);
                if let Some(needed) = fails(&fewer) {
                    fewer.truncate(needed);
                    left = fewer;
                }
                end = start.min(left.len());
            }
            chunk /= 2;
        }
        if left.len() == before && !leave_out_pair(&mut left, &mut fails) {
            return left;
        }
    }
}

/// Removes two elements that can only be removed together, for example an outage and its end, if there are such.
fn leave_out_pair<T: Clone>(
    left: &mut Vec<T>,
    fails: &mut impl FnMut(&[T]) -> Option<usize>,
) -> bool {
    let count = if left.len() > PAIRED_MAX { 0 } else { left.len() };
    for later in (1..count).rev() {
        for earlier in 0..later {
            let mut fewer = left.clone();
            fewer.remove(later);
            fewer.remove(earlier);
            if let Some(needed) = fails(&fewer) {
                fewer.truncate(needed);
                *left = fewer;
                return true;
            }
        }
    }
    false
}

/// Writes these steps, counted from 1, as `3-7,12`.
fn in_ranges(steps: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for step in steps.iter().map(|step| step + 1) {
        match ranges.last_mut() {
            Some((_, last)) if *last + 1 == step => *last = step,
            _ => ranges.push((step, step)),
        }
    }
    let told = ranges.iter().map(|(first, last)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    });
    told.collect::<Vec<_>>().join(",")
}

/// Returns true if two failures are of one kind. Their sentences begin alike, apart from numbers.
fn is_alike(one: &str, other: &str) -> bool {
    let kind = |why: &str| {
        why.chars().filter(|letter| !letter.is_ascii_digit()).take(40).collect::<String>()
    };
    kind(one) == kind(other)
}

/// Returns the message of a panic.
fn words(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
    format!("panic: {}", text.unwrap_or("without words"))
}

thread_local! {
    /// True if panics of this thread are not printed.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Prints nothing for panics in this thread, because a world that panics does so hundreds of times while it shrinks.
fn quietly<T>(work: impl FnOnce() -> T) -> T {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            if !IS_QUIET.get() {
                usual(panic);
            }
        }));
    });
    IS_QUIET.set(true);
    let done = work();
    IS_QUIET.set(false);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    /// World 23 fails in a step, by a panic, or at the end, once three of its steps drew a multiple of ten.
    struct Faulty {
        number: u64,
        lived: Vec<u64>,
        how: u8,
        dice: Random,
    }

    impl World for Faulty {
        fn step(&mut self) -> Result<(), String> {
            self.lived.push(self.dice.draw());
            match self.how {
                0 if self.fails() => Err(format!("step {} is wrong", self.lived.len())),
                1 => {
                    assert!(!self.fails(), "step {} is wrong", self.lived.len());
                    Ok(())
                }
                _ => Ok(()),
            }
        }

        fn end(&mut self) -> Result<(), String> {
            if self.how == 2 && self.fails() { Err("something is left".to_owned()) } else { Ok(()) }
        }

        fn dice(&mut self) -> Option<&mut Random> {
            Some(&mut self.dice)
        }

        fn story(&mut self) -> Vec<String> {
            self.lived.iter().map(|drawn| format!("it drew {drawn}")).collect()
        }
    }

    impl Faulty {
        fn new(number: u64, how: u8) -> Self {
            Self { number, lived: Vec::new(), how, dice: Random::new(number) }
        }

        fn fails(&self) -> bool {
            self.number == 23 && self.lived.iter().filter(|drawn| *drawn % 10 == 0).count() >= 3
        }
    }

    fn told_of<W: World>(worlds: &Worlds, begin: impl Fn(u64, bool) -> W + Sync) -> String {
        words(&*catch_unwind(AssertUnwindSafe(|| worlds.live(begin, |_| 0_u64))).unwrap_err())
    }

    /// As the variables would have it.
    fn worlds(first: u64, count: u64, steps: u64, only: Option<Vec<u64>>) -> Worlds {
        Worlds { is_fixed: false, only, ..Worlds::fixed("--test all faulty", first, count, steps) }
    }

    #[test]
    fn a_fault_is_told_with_the_fewest_steps_that_show_it_and_the_command_that_repeats_it() {
        for (how, why) in
            [(0, "step 3 is wrong"), (1, "panic: step 3 is wrong"), (2, "something is left")]
        {
            let told = told_of(&worlds(1, 100, 1_000, None), |number, _| Faulty::new(number, how));
            let first = format!("panic: world 23 fails after 3 of 1000 steps: {why}\n  it drew ");
            assert!(told.starts_with(&first), "{told}");
            let tens = told.lines().filter(|line| line.contains("drew") && line.ends_with('0'));
            assert_eq!(tens.count(), 3, "{told}");
            let (_, again) = told.split_once("once more: ").unwrap();
            let wanted = "DIRIGENT_FIRST=23 DIRIGENT_WORLDS=1 DIRIGENT_ONLY=";
            let (only, test) = again.strip_prefix(wanted).unwrap().split_once(' ').unwrap();
            assert_eq!(test, "cargo test --test all faulty");
            // The command does repeat it, with the same words.
            let only = only.split(',').map(|step| step.parse::<u64>().unwrap() - 1).collect();
            let repeated =
                told_of(&worlds(23, 1, 1_000, Some(only)), |number, _| Faulty::new(number, how));
            assert_eq!(repeated, told);
        }
    }

    /// Doors of a house with a cat that a person, the wind and the cat itself move. The cat may not be outside after dark.
    struct House {
        dice: Random,
        is_door_open: bool,
        is_cat_outside: bool,
        is_dark: bool,
        story: Vec<&'static str>,
    }

    impl House {
        fn new(number: u64) -> Self {
            let dice = Random::new(number);
            let (is_door_open, is_cat_outside, is_dark) = (false, false, false);
            Self { dice, is_door_open, is_cat_outside, is_dark, story: Vec::new() }
        }
    }

    impl World for House {
        fn step(&mut self) -> Result<(), String> {
            let mut moved = |what| self.story.push(what);
            match self.dice.below(1_000) {
                0..100 => {
                    moved("the door opens");
                    self.is_door_open = true;
                }
                100..600 => {
                    moved("the door closes");
                    self.is_door_open = false;
                }
                600..650 if self.is_door_open => {
                    moved("the cat leaves");
                    self.is_cat_outside = true;
                }
                650..900 if self.is_door_open => {
                    moved("the cat comes home");
                    self.is_cat_outside = false;
                }
                900..902 => {
                    moved("it gets dark");
                    self.is_dark = true;
                }
                902..990 => {
                    moved("it gets light");
                    self.is_dark = false;
                }
                _ => moved("it is quiet"),
            }
            let is_lost = self.is_dark && self.is_cat_outside;
            if is_lost { Err("the cat is outside".to_owned()) } else { Ok(()) }
        }

        fn dice(&mut self) -> Option<&mut Random> {
            Some(&mut self.dice)
        }

        fn story(&mut self) -> Vec<String> {
            self.story.iter().map(|what| (*what).to_owned()).collect()
        }
    }

    #[test]
    fn long_worlds_shrink_to_the_three_steps_that_they_need() {
        let mut whole = 0;
        for number in 1..=100 {
            let told = told_of(&worlds(number, 1, 1_000_000, None), |number, _| House::new(number));
            let needed = ["fails after 3 of", "the door opens", "the cat leaves", "it gets dark"];
            assert!(needed.iter().all(|line| told.contains(line)), "{told}");
            let lived = live(|| House::new(number), 0..1_000_000, |_, _| ()).err().unwrap().1;
            whole += lived.steps;
        }
        assert!(whole > 100 * 300, "they were short anyway: {whole} steps");
    }

    #[test]
    fn what_does_not_shrink_is_lived_through_a_limited_number_of_times() {
        let lives = AtomicU64::new(0);
        let begin = |_, _| {
            lives.fetch_add(1, Ordering::Relaxed);
            Needy(0)
        };
        assert!(told_of(&worlds(1, 1, 5_000, None), begin).contains("fails after 5000 of 5000"));
        assert_eq!(lives.into_inner(), u64::from(TRIES_MAX) + 3); // once, recorded, told
    }

    /// Needs all of its steps to fail.
    struct Needy(u32);

    impl World for Needy {
        fn step(&mut self) -> Result<(), String> {
            self.0 += 1;
            if self.0 < 5_000 { Ok(()) } else { Err("it is full".to_owned()) }
        }
    }

    #[test]
    fn a_world_of_a_fixed_test_is_repeated_by_the_test_alone() {
        let fixed = Worlds::fixed("--test all faulty", 23, 1, 1_000);
        let told = told_of(&fixed, |number, _| Faulty::new(number, 0));
        assert!(told.ends_with("\nonce more: cargo test --test all faulty"), "{told}");
    }

    #[test]
    fn a_world_that_fails_without_a_step_says_so() {
        let told = told_of(&worlds(7, 1, 100, None), |_, _| -> House { panic!("it is no house") });
        let repeat = "DIRIGENT_FIRST=7 DIRIGENT_WORLDS=1 DIRIGENT_STEPS=0 cargo test";
        assert!(told.contains("after 0 of 100 steps: panic: it is no house"), "{told}");
        assert!(told.contains(repeat), "{told}");
    }

    #[test]
    fn every_world_is_lived_through_once_and_all_are_added_up() {
        let worlds = Worlds::fixed("", 50, 40, 3);
        let begin = |number, _| Faulty::new(number, 0);
        assert_eq!(worlds.live(begin, |world| world.number), (50..90).sum::<u64>());
        assert_eq!(worlds.live(begin, |world| world.lived.len()), 40 * 3);
    }

    #[test]
    fn a_world_that_does_not_fail_again_says_so() {
        let lives = AtomicU64::new(0);
        let begin = |_, _| {
            let number = if lives.fetch_add(1, Ordering::Relaxed) == 0 { 23 } else { 1 };
            Faulty::new(number, 0)
        };
        let told = told_of(&worlds(1, 1, 1_000, None), begin);
        assert!(told.contains("not when it was told again"), "{told}");
    }

    /// What opens must close: neither goes without the other.
    #[test]
    fn two_that_go_only_together_are_left_out() {
        let fails = |list: &[&str]| {
            let count = |what| list.iter().filter(|one| **one == what).count();
            (count("open") == count("close") && count("break") > 0).then_some(list.len())
        };
        let whole = ["open", "wait", "open", "break", "close", "wait", "close", "wait"].to_vec();
        assert_eq!(shrink(whole, fails), ["break"]);
    }

    #[test]
    fn steps_are_listed_in_ranges_from_one() {
        assert_eq!(in_ranges(&[0, 1, 2, 5, 7, 8]), "1-3,6,8-9");
    }
}
