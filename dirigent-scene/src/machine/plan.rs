//! The plan of a scene.

use std::fmt;
use std::sync::Arc;

use crate::actor::CastRole;
use crate::cue::SpeechFrame;
use crate::ending::CloseSigns;
use crate::judge::SpokenLine;
use crate::protocol::Speech;
use crate::slug::Slug;

/// A character's place in a scene: first the cast, then the waiting characters.
///
/// ```
/// use dirigent_scene::machine::CastPlace;
/// assert_eq!(CastPlace::new(1).index(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CastPlace(u8);

impl CastPlace {
    /// Creates a place with this index.
    pub const fn new(index: u8) -> Self {
        Self(index)
    }

    /// Returns the index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Makes the frame of a speech from the names of speaker and listener.
type FrameOf = Arc<dyn Fn(&str, &str) -> Option<SpeechFrame> + Send + Sync>;

/// The rule for frames around speech.
///
/// ```
/// use dirigent_scene::machine::FrameRule;
/// use dirigent_scene::SpeechFrame;
///
/// let rule = FrameRule::custom(|speaker, _listener| Some(SpeechFrame { before: format!("{speaker}: ").into(), behind: "".into() }));
/// # let _ = rule;
/// ```
#[derive(Clone, Default)]
pub struct FrameRule(Option<FrameOf>);

impl FrameRule {
    /// Frames speech with your function, which gets the names of speaker and listener. It cannot see the speech, which
    /// stays unchanged within the frame. Return `None` for no frame.
    pub fn custom(
        rule: impl Fn(&str, &str) -> Option<SpeechFrame> + Send + Sync + 'static,
    ) -> Self {
        Self(Some(Arc::new(rule)))
    }

    pub(super) fn frame(&self, speaker: &str, listener: &str, present: u32) -> Option<SpeechFrame> {
        match &self.0 {
            Some(rule) => rule(speaker, listener),
            None => (present > 2).then(|| SpeechFrame::named(speaker)),
        }
    }
}

impl fmt::Debug for FrameRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "FrameRule(custom)" } else { "FrameRule(default)" })
    }
}

/// The plan of a scene, as far as the machine needs it. [`Scene::builder`](crate::Scene::builder) checks and makes one.
/// If you write your own driver, make it with [`Plan::new`] and change the fields.
///
/// ```
/// use dirigent_scene::machine::Plan;
/// use dirigent_scene::{CastRole, Slug};
///
/// let role = |name: &str| CastRole::new(Slug::of_name(name).unwrap(), name);
/// let mut plan = Plan::new([role("Maria"), role("Sam")]);
/// plan.soft_cap = 10;
/// assert_eq!((plan.hard_cap, plan.closing_replies, plan.corrections_max), (60, 1, 3));
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Plan {
    /// All characters: first those present from the beginning, then those waiting to enter. At most 64, each with its
    /// own slug.
    pub roles: Vec<CastRole>,
    /// The number of characters present from the beginning, at least 2.
    pub present: usize,
    /// The first speaker. By default it is the first of the cast.
    pub first_speaker: CastPlace,
    /// The mean number of speeches for each character present, after which the next actor gets the wind-down prompt.
    /// Default 40; at most the hard cap.
    pub soft_cap: u32,
    /// The mean number of speeches for each character present, after which the scene ends. Default 60; at least 1.
    pub hard_cap: u32,
    /// The number of speeches that may follow a natural close. Default 1.
    pub closing_replies: u32,
    /// The most times that an actor is asked to reformat one output. Default 3.
    pub corrections_max: u32,
    /// The words and actions that close a scene naturally.
    pub signs: CloseSigns,
    /// The rule for frames. By default there is no frame between two characters, and one with the speaker's name among
    /// more.
    pub frame: FrameRule,
    /// True if malformed outputs are stored in the log. Default false.
    pub keep_raw: bool,
    /// The seed for the order of three or more speakers, which is drawn anew in each round. Default 0.
    pub seed: u64,
}

impl Plan {
    /// The most characters of a scene.
    pub const CHARACTERS_MAX: usize = dirigent_core::config::AGENTS_MAX;

    /// Creates a plan for these characters, with the default rules.
    pub fn new(cast: impl IntoIterator<Item = CastRole>) -> Self {
        let roles: Vec<CastRole> = cast.into_iter().collect();
        Self {
            present: roles.len(),
            roles,
            first_speaker: CastPlace(0),
            soft_cap: 40,
            hard_cap: 60,
            closing_replies: 1,
            corrections_max: 3,
            signs: CloseSigns::default(),
            frame: FrameRule::default(),
            keep_raw: false,
            seed: 0,
        }
    }

    /// Returns all places, including those of waiting characters.
    pub fn seats(&self) -> impl Iterator<Item = CastPlace> + use<> {
        (0..=u8::MAX).map(CastPlace).take(self.roles.len())
    }

    /// Returns the places of the characters present from the beginning.
    pub(super) fn cast(&self) -> impl Iterator<Item = CastPlace> + use<> {
        self.seats().take(self.present)
    }

    /// Returns the places of the cast, first speaker first.
    pub(super) fn opening_order(&self) -> Vec<CastPlace> {
        let mut order: Vec<CastPlace> = self.cast().collect();
        order.sort_by_key(|seat| *seat != self.first_speaker);
        order
    }

    /// Returns the place of a character.
    pub fn seat(&self, slug: &Slug) -> Option<CastPlace> {
        self.seats().find(|seat| self.role(*seat).is_some_and(|role| role.slug() == slug))
    }

    /// Returns the character in a place.
    pub fn role(&self, seat: CastPlace) -> Option<&CastRole> {
        self.roles.get(seat.index())
    }

    #[expect(clippy::expect_used, reason = "a seat is made of the plan's roles")]
    fn known(&self, seat: CastPlace) -> &CastRole {
        self.role(seat).expect("a seat of this plan")
    }

    pub(crate) fn slug(&self, seat: CastPlace) -> &Slug {
        self.known(seat).slug()
    }

    pub(super) fn name(&self, seat: CastPlace) -> Arc<str> {
        self.known(seat).shared_name()
    }

    /// Returns a speech to all.
    pub(super) fn line(&self, seat: CastPlace, speech: Speech, number: u32) -> SpokenLine {
        SpokenLine { number, speaker: self.known(seat).clone(), speech, is_whisper: false }
    }
}
