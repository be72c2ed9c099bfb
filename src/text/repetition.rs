//! Decides whether a reply says anything new since a person last wrote.
//!
//! Rooms of models loop by content. They repeat a sentence, thank each other, agree in other words, or count on in a
//! list without content. A reply is new if it has new words, or if a fact is in another order. Facts are numbers,
//! single letters, code, pictures of a board, "left" and "right", negations, and who does what. Words that greet,
//! thank, praise, agree or connect are never new.
//!
//! A copy counts as empty at once. A reply that says the same thing in other words is an agreement or a courtesy. Each
//! agent may give one such reply after a reply that said something new, and the next one counts as empty. A loop
//! therefore ends in its second cycle, while replies that are only similar stay, for example the moves of a game. If a
//! person asked for words that come back, for example for a song with a chorus, a copy counts as a courtesy, too, and
//! each agent may give two of them.
//!
//! `verify/evenings` has the conversations that measure this.

use dirigent_core::AgentKey;

mod seen;
mod words;

use seen::Seen;
pub(crate) use words::words_of_name;
use words::{Piece, asks_for_what_comes_back, read, says_that_it_repeats, with_order};

/// The fewest words, including empty ones, of a reply that copies the agent's own words. A shorter reply may be an
/// answer.
const OWN_MIN: usize = 5;
/// The fewest words of a reply that copies another agent's. A shorter reply may be agreement.
const OTHERS_MIN: usize = 7;
/// The fewest words that count of a reply in which one word may differ.
const LONG: usize = 12;
/// The most words of a reply that may be an answer. Such a reply may be repeated once before it counts as empty.
const SHORT: usize = 3;
/// The most pieces of a reply for which memory is kept from one conversation to the next.
const KEPT: usize = 4_096;
/// The number of replies in a row without anything new before the next one counts as empty.
const IN_A_ROW: usize = 3;

/// The words of a reply, including those of its embeds, and a hash of everything else that it shows, if there is any.
pub(crate) type Said<'a> = (&'a str, Option<u64>);

/// The words since a person last wrote. It has only hashes of them, in about 5 KB however long the conversation is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    seen: Seen,
    /// The agents with replies that said nothing new, since the last reply that did.
    idle: Vec<AgentKey>,
    /// The author of the newest reply, if it asked something. The next reply of another agent is then an answer.
    asks: Option<AgentKey>,
    /// `true` if the person asked for words that come back.
    comes_back: bool,
    /// The memory for the next reply.
    reply: Reply,
}

/// The amount of new content in a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum News {
    /// The reply copies earlier words.
    Copy,
    /// The reply has no content.
    Nothing,
    /// The reply has so little that it may be the old content in other words.
    Little,
    /// The reply says something new.
    Something,
}

impl Recent {
    /// Starts again with these words of a person, so that everything before them no longer counts.
    pub(crate) fn begin(&mut self, text: &str, names: &[u64]) {
        let reply = std::mem::take(&mut self.reply);
        // A reply of a hundred pages is rare, so its memory is not kept for the next one.
        let reply = if reply.pieces.capacity() > KEPT { Reply::default() } else { reply };
        *self = Self { reply, comes_back: asks_for_what_comes_back(text), ..Self::default() };
        self.reply.read((text, None), names);
        self.reply.remember(&mut self.seen, None);
    }

    /// Checks a reply. Returns whether it says nothing new. If it does say something new, it counts as said from now
    /// on. `names` has the agents' [`words_of_name`], sorted.
    pub(crate) fn is_repeated(&mut self, author: AgentKey, said: Said<'_>, names: &[u64]) -> bool {
        self.reply.read(said, names);
        let news = self.news(author, said.0);
        let is_repeated = match news {
            News::Copy if !self.comes_back => true,
            // One thanks or agreement may stand. Only a series of them is held back.
            News::Copy | News::Nothing => {
                let before = self.idle.iter().filter(|idle| **idle == author).count();
                let may_again = self.comes_back || self.reply.length() <= SHORT;
                self.idle.len() >= IN_A_ROW && before > usize::from(may_again)
            }
            News::Little | News::Something => false,
        };
        if is_repeated {
            return true;
        }
        match news {
            News::Something => self.idle.clear(),
            News::Copy | News::Nothing => self.idle.push(author),
            News::Little => {}
        }
        self.asks = self.reply.asks.then_some(author);
        self.reply.remember(&mut self.seen, Some(author));
        false
    }

    fn news(&self, author: AgentKey, text: &str) -> News {
        let (reply, is_new) = (&self.reply, |hash: u64| !self.seen.has(hash));
        let unseen = |hashes: &[u64]| hashes.iter().filter(|hash| is_new(**hash)).count();
        let words = unseen(&reply.words);
        // Many new words decide at once.
        if words > 2 && words * 3 > reply.words.len() {
            return News::Something;
        }
        let pairs = unseen(&reply.pairs);
        let claims = reply.claims.is_some_and(is_new);
        let names_others = reply.words.len() > 1 && reply.persons.is_some_and(is_new);
        let is_vote = reply.is_vote;
        let says_same = words == 0 && !claims && !names_others;
        if !is_vote
            && (says_same && self.copies(author, pairs) || self.is_near(words, pairs, claims))
        {
            return News::Copy;
        }
        let few = words * 3 <= reply.words.len();
        let says_so = (words <= 2 || few) && !reply.asks && says_that_it_repeats(text);
        if says_so && unseen(&reply.facts) == 0 {
            return News::Nothing;
        }
        // It adds an entry to a list, or a word to a sentence that stays.
        let is_edit = words > 0 && reply.pairs.len() > 1 && pairs * 2 < reply.pairs.len();
        let is_move = reply.all_facts.is_some() && reply.words.is_empty() && reply.empty == 0;
        let asks = reply.asks && (words > 0 || reply.length() <= SHORT + 1);
        if is_vote || is_move || is_edit || asks || reply.all_facts.is_some_and(is_new) {
            return News::Something;
        }
        // An answer to another agent's question may be short. It counts neither as empty nor as new.
        if self.asks.is_some_and(|other| other != author) {
            return News::Little;
        }
        if says_same {
            return News::Nothing;
        }
        if words < 2 || few { News::Little } else { News::Something }
    }

    /// Returns whether a reply without a new word is a copy, clause by clause, or with its clauses in another order.
    fn copies(&self, author: AgentKey, new_pairs: usize) -> bool {
        let reply = &self.reply;
        let is_own = |hash: u64| self.seen.has(by(author, hash));
        let has_all = |is: &dyn Fn(u64) -> bool| {
            !reply.clauses.is_empty() && reply.clauses.iter().all(|(hash, _)| is(*hash))
        };
        let order_is_known = new_pairs * 8 <= reply.pairs.len();
        let foreign_pairs = reply.pairs.iter().filter(|pair| !is_own(**pair)).count();
        let own_words = reply.words.len() > 3 && foreign_pairs * 12 <= reply.pairs.len();
        let own = (reply.shows || reply.length() >= OWN_MIN)
            && (has_all(&is_own) && order_is_known || own_words);
        let clauses = has_all(&|hash| self.seen.has(hash)) && order_is_known;
        own || reply.length() >= OTHERS_MIN && clauses
            || reply.words.len() >= OTHERS_MIN && new_pairs == 0
    }

    /// Returns whether a long reply is a copy except for one word within a sentence.
    fn is_near(&self, new_words: usize, new_pairs: usize, claims: bool) -> bool {
        let reply = &self.reply;
        let mut changed = reply.clauses.iter().filter(|(hash, _)| !self.seen.has(*hash));
        let is_within = |words: usize| words > 3;
        let only_one =
            changed.next().is_none_or(|(_, words)| is_within(*words)) && changed.next().is_none();
        reply.words.len() >= LONG && new_words == 1 && new_pairs <= 2 && only_one && !claims
    }
}

/// The pieces of a reply that count.
#[derive(Clone, Debug, Default)]
struct Reply {
    pieces: Vec<Piece>,
    words: Vec<u64>,
    /// Pairs of neighbouring words.
    pairs: Vec<u64>,
    /// Each clause that says something, with the number of its words that count.
    clauses: Vec<(u64, usize)>,
    /// The facts, each by itself.
    facts: Vec<u64>,
    /// All facts in order as one hash, together with everything else that the reply shows.
    all_facts: Option<u64>,
    /// A hash of the facts and the negations.
    claims: Option<u64>,
    /// A hash of the persons in order, if there are several.
    persons: Option<u64>,
    /// The number of empty words.
    empty: usize,
    /// The number of words in clauses that the reply has already.
    again: usize,
    /// The number of words that are characters of a script without spaces.
    characters: usize,
    /// `true` if it shows something besides its words. A copy of it counts as one even if it has few words.
    shows: bool,
    is_vote: bool,
    asks: bool,
}

impl Reply {
    /// Returns the number of words, including empty ones. Two characters of a script without spaces count as one word.
    fn length(&self) -> usize {
        self.words.len() + self.empty + self.again - self.characters / 2
    }

    /// Reads this reply in place of the one before.
    fn read(&mut self, (text, shown): Said<'_>, names: &[u64]) {
        for hashes in [&mut self.words, &mut self.pairs, &mut self.facts] {
            hashes.clear();
        }
        self.clauses.clear();
        (self.all_facts, self.persons) = (shown, None);
        // The same words with a picture, and without it, are two different replies.
        self.claims = Some(shown.unwrap_or(NOTHING_SHOWN));
        (self.empty, self.again, self.characters, self.is_vote) = (0, 0, 0, false);
        self.asks = text.trim_end().ends_with(['?', '？']);
        let mut pieces = std::mem::take(&mut self.pieces);
        read(text, names, &mut pieces);
        self.take(&pieces);
        self.pieces = pieces;
        self.shows = shown.is_some();
        self.clauses.extend(shown.map(|shown| (shown, 0)));
    }

    fn take(&mut self, pieces: &[Piece]) {
        let (mut newest, mut counted, mut denies) = (None, 0, false);
        let (mut first, mut several) = (None, false);
        let mut before = None;
        for piece in pieces {
            match *piece {
                Piece::Word(hash) | Piece::Character(hash) => {
                    self.characters += usize::from(matches!(piece, Piece::Character(_)));
                    if std::mem::take(&mut denies) {
                        add(&mut self.claims, hash);
                    }
                    self.pairs.extend(newest.map(|newest| with_order(newest, hash)));
                    newest = Some(hash);
                    self.words.push(hash);
                }
                Piece::Fact(hash) => {
                    self.facts.push(with_order(FACT, hash));
                    add(&mut self.all_facts, hash);
                    add(&mut self.claims, hash);
                }
                Piece::Negation => denies = true,
                Piece::Person(hash) => {
                    self.empty += 1;
                    several |= *first.get_or_insert(hash) != hash;
                    add(&mut self.persons, hash);
                }
                Piece::Empty => self.empty += 1,
                Piece::Again(words) => self.again += words,
                // "I vote", "my vote" and "Vote: yes" are votes, but "a vote by the pupils" is not.
                Piece::Vote => self.is_vote |= matches!(before, None | Some(Piece::Person(_))),
                Piece::End(hash) => {
                    self.clauses.push((hash, self.words.len() - counted));
                    counted = self.words.len();
                }
            }
            before = Some(*piece);
        }
        if denies {
            add(&mut self.claims, 1);
        }
        // A question with the words of an earlier statement once counted as its copy.
        if self.asks {
            add(&mut self.claims, ASKS);
        }
        self.persons = self.persons.filter(|_| several);
    }

    /// Records that its author, or a person, said this.
    fn remember(&self, seen: &mut Seen, author: Option<AgentKey>) {
        let clauses = || self.clauses.iter().map(|(hash, _)| *hash);
        let claims = self.claims.filter(|_| author.is_some());
        let wholes = [self.all_facts, claims, self.persons].into_iter().flatten();
        let parts = self.words.iter().chain(&self.pairs).chain(&self.facts).copied();
        clauses().chain(parts).chain(wholes).for_each(|hash| seen.put(hash));
        if let Some(author) = author {
            let own = clauses().chain(self.pairs.iter().copied());
            own.for_each(|hash| seen.put(by(author, hash)));
        }
    }
}

/// Replaces the hash of what a reply shows besides its words, if it shows nothing.
const NOTHING_SHOWN: u64 = 3;
/// The claim of a reply that asks something.
const ASKS: u64 = 2;
/// Distinguishes single facts from equal words.
const FACT: u64 = 5;

/// Makes a hash specific to one agent.
fn by(author: AgentKey, hash: u64) -> u64 {
    with_order(hash, u64::from(author.get()) + 1)
}

/// Adds one entry to a list that is stored as one hash.
fn add(list: &mut Option<u64>, hash: u64) {
    *list = Some(with_order(list.unwrap_or_default(), hash));
}

#[cfg(test)]
mod tests;
