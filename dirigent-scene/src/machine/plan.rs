//! What a scene is to be.

use std::fmt;
use std::sync::Arc;

use crate::actor::CastRole;
use crate::cue::SpeechFrame;
use crate::ending::CloseSigns;
use crate::judge::SpokenLine;
use crate::protocol::Speech;
use crate::slug::Slug;

/// A character's place in a scene: the cast first, then those who wait.
///
/// ```
/// use dirigent_scene::machine::CastPlace;
/// assert_eq!(CastPlace::new(1).index(), 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CastPlace(u8);

impl CastPlace {
    /// The place with this index.
    pub const fn new(index: u8) -> Self {
        Self(index)
    }

    /// Returns the index.
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// The frame that a listener hears a speaker's speech in, given both names and nothing else.
type FrameOf = Arc<dyn Fn(&str, &str) -> Option<SpeechFrame> + Send + Sync>;

/// How speech is framed when it is routed.
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
    /// Frames as this function says, which is given the names of speaker and listener. It cannot see the speech, which
    /// stands unchanged within the frame. `None`: no frame.
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

/// What a scene is to be, as far as the machine is concerned. [`Scene::builder`](crate::Scene::builder) checks and makes
/// one; a driver of your own makes it with [`Plan::new`] and changes fields.
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
    /// All characters: those who are there from the beginning, then those who wait to enter. At most 64, of unique slugs.
    pub roles: Vec<CastRole>,
    /// How many of them are there from the beginning; at least 2.
    pub present: usize,
    /// Who speaks first. Default: the first of the cast.
    pub first_speaker: CastPlace,
    /// Speeches for each character present, on average, after which the next actor is given the wind-down prompt.
    /// Default 40; at most the hard cap.
    pub soft_cap: u32,
    /// Speeches for each character present, on average, after which the scene ends. Default 60; at least 1.
    pub hard_cap: u32,
    /// How many speeches follow one that closes the scene naturally. Default 1.
    pub closing_replies: u32,
    /// How often an actor is asked to reformat one output. Default 3.
    pub corrections_max: u32,
    /// What closes a scene naturally.
    pub signs: CloseSigns,
    /// How speech is framed. Default: not between two, and with the speaker's name among more.
    pub frame: FrameRule,
    /// Whether malformed outputs are kept in the log. Default: no.
    pub keep_raw: bool,
    /// Decides the order in which three or more speak, which is drawn anew for each round. Default 0.
    pub seed: u64,
}

impl Plan {
    /// The most characters of a scene.
    pub const CHARACTERS_MAX: usize = dirigent_core::config::AGENTS_MAX;

    /// Plans a scene of these characters with the default rules.
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

    /// Returns all places, those who wait included.
    pub fn seats(&self) -> impl Iterator<Item = CastPlace> + use<> {
        (0..=u8::MAX).map(CastPlace).take(self.roles.len())
    }

    /// Those who are there from the beginning.
    pub(super) fn cast(&self) -> impl Iterator<Item = CastPlace> + use<> {
        self.seats().take(self.present)
    }

    /// The cast, the first speaker first.
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

    /// Something that was said to all.
    pub(super) fn line(&self, seat: CastPlace, speech: Speech, number: u32) -> SpokenLine {
        SpokenLine { number, speaker: self.known(seat).clone(), speech, is_whisper: false }
    }
}
