//! Recognises answers without content: a pass with a remark, or a word-for-word copy of the briefing.

use std::collections::HashSet;

use dirigent::Turn;

/// The word that the briefing gives an agent for a pass.
const PASS: &str = "NO_REPLY";

/// Returns true if an answer only passes and says why in brackets, for example `NO_REPLY (nothing to add)`.
pub(crate) fn passes_with_a_remark(said: &str) -> bool {
    let is_around = |c: char| matches!(c, '*' | '_' | '`' | '"' | '.') || c.is_whitespace();
    let said = said.trim_matches(is_around);
    let Some((word, remark)) = said.split_at_checked(PASS.len()) else {
        return false;
    };
    let remark = remark.trim_start_matches(is_around);
    let brackets = [('(', ')'), ('[', ']'), ('（', '）')];
    let is_remark = brackets.iter().any(|(open, close)| {
        let inner = remark.strip_prefix(*open).and_then(|inner| inner.strip_suffix(*close));
        inner.is_some_and(|inner| !inner.contains(*close))
    });
    word.eq_ignore_ascii_case(PASS) && is_remark
}

/// This many equal words in a row are no coincidence, and an answer needs this many copied words to count as a copy.
const RUN: usize = 8;
const REPEATED_MIN: usize = 12;

/// The library's words to a model about its turn. It does not include a discussion's guide, because a member may repeat
/// that.
pub(crate) struct Briefing {
    /// Who the agent is, and who else is here. Each of these words may stand in an answer, but not all of them in a
    /// row.
    who: Vec<String>,
    how: Vec<String>,
}

impl Briefing {
    pub(crate) fn of(turn: &Turn) -> Self {
        let mut text = turn.briefing();
        if let Some(guide) = turn.guide().filter(|guide| !guide.is_empty()) {
            text = text.replace(&guide, "\n");
        }
        let (who, how) = text.split_once('\n').unwrap_or((&text, ""));
        Self { who: words(who), how: words(how) }
    }

    /// Returns true if runs of words from the briefing make up most of the answer.
    pub(crate) fn is_repeated_by(&self, said: &str) -> bool {
        let said = words(said);
        if said.len() < REPEATED_MIN {
            return false;
        }
        let known: HashSet<&[String]> = self.how.windows(RUN).collect();
        let mut is_repeated = vec![false; said.len()];
        let mut mark = |at: usize, length: usize| {
            is_repeated.iter_mut().skip(at).take(length).for_each(|it| *it = true);
        };
        for (at, run) in said.windows(RUN).enumerate() {
            if known.contains(run) {
                mark(at, RUN);
            }
        }
        let length = self.who.len().max(RUN);
        for (at, run) in said.windows(length).enumerate() {
            if run == self.who.as_slice() {
                mark(at, length);
            }
        }
        let repeated = is_repeated.iter().filter(|it| **it).count();
        repeated >= REPEATED_MIN && repeated * 4 >= said.len() * 3
    }
}

fn words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use dirigent::hooks::TurnId;
    use dirigent::ports::Identity;
    use dirigent::{ChannelId, UserId};

    use super::*;

    /// LM8: a pass with a remark is a pass, and a sentence about the word is a sentence.
    #[test]
    fn a_remark_in_brackets_makes_a_pass_no_answer() {
        for text in [
            "NO_REPLY (nothing to add)",
            "**NO_REPLY** (nothing to add).",
            "no_reply [nothing to add]",
            "NO_REPLY\n\n(I have said what I think.)",
            "NO_REPLY（没有补充）",
        ] {
            assert!(passes_with_a_remark(text), "{text}");
        }
        for text in [
            "NO_REPLY",
            "NO_REPLY (that is the word) passes the turn",
            "NO_REPLY (one) and (two)",
            "NO_REPLYING (is rude)",
            "NO_REPLY is the word (for passing)",
            "日本語日本語 (nothing)",
            "",
        ] {
            assert!(!passes_with_a_remark(text), "{text}");
        }
    }

    fn turn() -> Turn {
        let identity = |user: u64, id: &str| Identity {
            discord_user_id: UserId::new(user),
            agent_id: id.into(),
            agent_name: id.to_owned(),
        };
        let agents = ["poet", "critic", "sceptic", "optimist"];
        let agents = agents.iter().zip(1..).map(|(id, user)| identity(user, id)).collect();
        let turn = Turn::new(ChannelId::new(1), "poet".into(), TurnId::new(1)).with_agents(agents);
        turn.with_guide(
            "Find out whether cats should be allowed in the office, and write down all reasons.",
        )
    }

    /// LM8: what the library told a model is no answer of the model's.
    #[test]
    fn a_briefing_is_known_word_for_word_and_what_is_in_it_may_be_spoken_of() {
        let (turn, briefing) = (turn(), Briefing::of(&turn()));
        let text = turn.briefing();
        let (who, rest) = text.split_once('\n').unwrap();
        let how = rest.split_once('\n').unwrap().1;
        for text in [
            text.clone(),
            how.to_owned(),
            who.to_owned(),
            how.to_uppercase(),
            format!("Sure: {how}"),
        ] {
            assert!(briefing.is_repeated_by(&text), "{text}");
        }
        assert!(briefing.is_repeated_by(&how[..how.len() / 2]));
        for text in [
            "You are right.",
            "The other agents here are critic (<@2>), sceptic (<@3>) and optimist (<@4>); people may be here, too.",
            "This channel is a discussion with this guide: Find out whether cats should be allowed in the office, and write down all reasons.",
            "One agent speaks at a time, so let us hear the critic first, and then the sceptic and the optimist, please.",
            "",
        ] {
            assert!(!briefing.is_repeated_by(text), "{text}");
        }
        let long = format!("{how} {}", "I have much of my own to say about it. ".repeat(10));
        assert!(!briefing.is_repeated_by(&long), "a quotation");
    }
}
