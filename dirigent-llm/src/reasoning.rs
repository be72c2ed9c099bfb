//! Removes the reasoning that a model wrote into its answer, because it must never be posted. If it is unclear what is
//! reasoning, the unclear text is removed, too.
//!
//! A mark is known by a word in its name, for example `<think>`, `<seed:think>`, `[THINK]` or `<|END_THINKING|>`; some
//! models have tokens of their own. A block at the very beginning is reasoning whatever its name is, unless the name is
//! one of HTML's or stands for an answer. Marks that a text only mentions stay: in quotation marks, in code, or in the
//! middle of a clause.

use std::borrow::Cow;
use std::ops::Range;

use crate::code::Code;

/// Words in the names of marks.
const WORDS: [&str; 6] = ["think", "thinking", "thought", "thoughts", "reasoning", "antthinking"];
/// Characters that separate the words of a mark's name.
const BETWEEN_WORDS: [char; 4] = [':', '_', '.', '▁'];
/// Brackets around a mark: `<think>`, `[THINK]`, `◁think▷`.
const BRACKETS: [(char, char); 3] = [('<', '>'), ('[', ']'), ('◁', '▷')];
/// Marks without such a word, and whether they open: those of Gemma, Apertus and `MedGemma`.
const TOKENS: [(&str, bool); 6] = [
    ("<|channel>", true),
    ("<channel|>", false),
    ("<|inner_prefix|>", true),
    ("<|inner_suffix|>", false),
    ("<unused94>", true),
    ("<unused95>", false),
];

/// Marks with which some models begin and end the part that is said.
const SAID: &str = "<|channel|>final<|message|>";
const CHANNEL: &str = "<|channel|>";
const ENDS: [&str; 3] = ["<|return|>", "<|end|>", "<|start|>"];

/// Tokens around an answer that a server should remove, but not every server does.
const FRAME_BEGINS: [&str; 9] = [
    "<|im_start|>assistant",
    "<|start_header_id|>assistant<|end_header_id|>",
    "<|start|>assistant<|message|>",
    "<|begin_of_text|>",
    "<|assistant|>",
    "<|begin_of_solution|>",
    "<|begin_of_box|>",
    "<|START_RESPONSE|>",
    "<start_of_turn>model",
];
const FRAME_ENDS: [&str; 10] = [
    "<|im_end|>",
    "<|eot_id|>",
    "<|endoftext|>",
    "<|end_of_text|>",
    "<end_of_turn>",
    "<|end_of_solution|>",
    "<|end_of_box|>",
    "<|END_RESPONSE|>",
    "<|return|>",
    "</s>",
];

/// Names of tags that contain no reasoning: an answer, or HTML.
const ANSWERS: &str = "answer response final final_answer output reply message solution speech say said text result \
    conclusion assistant";
const HTML: &str = "a abbr article aside audio b blockquote body br button canvas center code dd del details div dl \
    dt em font footer form h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label li \
    link main mark meta nav ol option p pre q s script section small span strong style sub sup table \
    u ul";
/// First parts of names that Discord shows as something else: `<a:wave:1>`, `<t:1>`, `<id:customize>`.
const DISCORD: [&str; 4] = ["a", "t", "id", "sound"];

/// A mark of reasoning in a text.
pub(crate) struct Mark<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) opens: bool,
    /// The text inside the brackets, or empty for a model's own token.
    name: &'a str,
}

/// The most times that the remaining text is searched again. If it still has marks after that, all of it is removed.
const PASSES_MAX: usize = 8;

/// Returns the text without reasoning and trimmed, and whether it had any reasoning.
///
/// Reasoning is the text between `<think>` and `</think>`, everything before a `</think>` that was never opened, and
/// everything after a `<think>` that is never closed. A block of any other name at the very beginning is reasoning,
/// too.
pub(crate) fn without_reasoning(text: &str) -> (Cow<'_, str>, bool) {
    let (mut said, mut any) = (Cow::Borrowed(without_frame(text)), false);
    // The remaining text can form another mark.
    for _ in 0..=PASSES_MAX {
        let Some(less) = with_less(&said) else {
            return (said, any);
        };
        (said, any) = (Cow::Owned(without_frame(&less).to_owned()), true);
    }
    (Cow::Borrowed(""), true)
}

/// Returns the text without some of its reasoning, or `None` if it has none.
fn with_less(text: &str) -> Option<String> {
    match said_part(text) {
        (said, true) => Some(said.to_owned()),
        (_, false) => after_leading_block(text).map(str::to_owned).or_else(|| without_marked(text)),
    }
}

/// Returns the text without reasoning that the model wrote and its server did not remove. That is a block of `<think>`,
/// or of a model's own tokens, at the beginning. If the block is never closed, the result is empty. Tags that you may
/// have asked for stay, for example `<thinking>`.
pub(crate) fn without_leading_think(text: &str) -> (Cow<'_, str>, bool) {
    let (mut text, mut any) = said_part(without_frame(text));
    let is_models = |mark: &Mark<'_>| {
        let name = mark.name.to_ascii_lowercase();
        !matches!(&*name, "thinking" | "thought" | "thoughts" | "reasoning")
    };
    while let Some(mark) = mark_at(text, 0).filter(|mark| mark.opens && is_models(mark)) {
        let closes = |other: &Mark<'_>| !other.opens && other.name.eq_ignore_ascii_case(mark.name);
        let close = marks(text).find(closes);
        (text, any) = (close.map_or("", |close| trimmed(from(text, close.end))), true);
    }
    // This one was opened in the prompt.
    let mut own = marks(text).filter(is_models);
    if let Some(close) = own.next().filter(|first| !first.opens) {
        if !is_quoted(text, &close) && !Code::of(text).holds(&close) {
            (text, any) = (trimmed(from(text, close.end)), true);
        }
    }
    (Cow::Borrowed(text), any)
}

/// Returns true if a text contains any mark of reasoning, in whatever form. Use it for texts that should have none, for
/// example the words of a character in a scene. A mark also counts in quotation marks, in code, and written as
/// `&lt;think&gt;`. A block of any name counts, unless the name is one of HTML's or stands for an answer.
///
/// ```
/// use dirigent_llm::has_reasoning;
///
/// assert!(has_reasoning("Hello. <think>Not him.</think>") && has_reasoning("Hello. <musing>Not him.</musing>"));
/// assert!(!has_reasoning("I <b>think</b> so. *[thinks]* <3"));
/// ```
pub fn has_reasoning(text: &str) -> bool {
    // These characters are invisible, so they must not hide a mark.
    let is_unseen = |c: char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}');
    let mut text = Cow::Borrowed(text);
    if text.contains(is_unseen) || text.contains("&lt;") || text.contains('＜') {
        let seen: String = text.chars().filter(|c| !is_unseen(*c)).collect();
        let seen = seen.replace("&lt;", "<").replace("&gt;", ">");
        text = Cow::Owned(seen.replace('＜', "<").replace('＞', ">"));
    }
    marks(&text).next().is_some() || without_reasoning(&text).1 || has_unknown_block(&text)
}

/// Returns true if a block of an unknown name begins or ends in the text: a closing tag, a tag on a line of its own, or
/// the end of a block in brackets.
fn has_unknown_block(text: &str) -> bool {
    let is_block = |at: usize| {
        let Some(tag) = Tag::at(text, at).filter(|tag| !tag.is_harmless()) else {
            return false;
        };
        let is_space = [' ', '\t', '\r'];
        let before = text.get(..at).unwrap_or_default().trim_end_matches(is_space);
        let after = from(text, tag.end).trim_start_matches(is_space);
        let begins = before.is_empty() || before.ends_with('\n');
        let is_alone = begins && (after.is_empty() || after.starts_with('\n'));
        tag.closes || tag.is_about_reasoning() || is_alone
    };
    let ends_in_brackets = |at: usize| {
        let name = from(text, at + 2).split(']').next().unwrap_or_default();
        WORDS.iter().any(|known| known.eq_ignore_ascii_case(name.trim()))
    };
    text.match_indices('<').any(|(at, _)| is_block(at))
        || text.match_indices("[/").any(|(at, _)| ends_in_brackets(at))
}

fn trimmed(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
}

fn from(text: &str, at: usize) -> &str {
    text.get(at..).unwrap_or_default()
}

/// Returns the text trimmed, and without the tokens of a chat template around it.
fn without_frame(text: &str) -> &str {
    let mut text = trimmed(text);
    while let Some(rest) = FRAME_BEGINS.iter().find_map(|token| text.strip_prefix(token)) {
        text = trimmed(rest);
    }
    while let Some(rest) = FRAME_ENDS.iter().find_map(|token| text.strip_suffix(token)) {
        text = trimmed(rest);
    }
    text
}

/// Returns the text without its marked parts, or `None` if there are none.
fn without_marked(text: &str) -> Option<String> {
    marks(text).next()?;
    let code = Code::of(text);
    let closing = marks(text).filter(|mark| !mark.opens && !is_quoted(text, mark));
    let last_plain = closing.last().map(|mark| mark.start);
    let mut said = String::new();
    let (mut at, mut is_open, mut any, mut spoke_of_one) = (0, false, false, false);
    for mark in marks(text) {
        if is_open {
            // Reasoning may mention marks and quote them. But `"so"</think>"Yes"` ends it if no other mark does.
            let is_spoken_of = mark.opens
                || is_in_backticks(text, &mark)
                || (is_quoted(text, &mark) && last_plain.is_some_and(|last| last > mark.start));
            if !is_spoken_of {
                (is_open, at) = (false, mark.end);
            }
            continue;
        }
        // A closing mark in a clause belongs to an opening mark that the text mentioned.
        let is_spoken_of = is_quoted(text, &mark)
            || code.holds(&mark)
            || (is_in_a_clause(text, &mark) && (mark.opens || spoke_of_one));
        if is_spoken_of {
            spoke_of_one |= mark.opens;
            continue;
        }
        any = true;
        if mark.opens {
            said.push_str(text.get(at..mark.start).unwrap_or_default());
        } else {
            // No mark opened it, so everything before it is reasoning.
            said.clear();
        }
        (is_open, at) = (mark.opens, mark.end);
    }
    if !is_open {
        said.push_str(from(text, at));
    }
    any.then_some(said)
}

/// Returns true if the mark stands in a clause, for example `models write <think> before they answer`. There are words
/// before it, and more words or the clause's end after it, each with a space between. No model opens or closes its
/// reasoning there.
fn is_in_a_clause(text: &str, mark: &Mark<'_>) -> bool {
    let before = text.get(..mark.start).unwrap_or_default();
    let words = before.strip_suffix(' ').and_then(|words| words.chars().next_back());
    let mut after = from(text, mark.end).chars();
    let goes_on = match after.next() {
        None | Some('.' | ',' | ';' | ':' | '!' | '?' | ')') => true,
        Some(' ') => after.next().is_some_and(|c| c.is_alphanumeric() && !c.is_uppercase()),
        Some(_) => false,
    };
    goes_on && words.is_some_and(char::is_alphanumeric)
}

/// Returns true if the mark stands in quotation marks or brackets of its own.
pub(crate) fn is_quoted(text: &str, mark: &Mark<'_>) -> bool {
    let before = text.get(..mark.start).and_then(|before| before.chars().next_back());
    let after = from(text, mark.end).chars().next();
    matches!(
        (before, after),
        (Some('`'), Some('`'))
            | (Some('"'), Some('"'))
            | (Some('\''), Some('\''))
            | (Some('('), Some(')'))
            | (Some('“'), Some('”'))
            | (Some('‘'), Some('’'))
            | (Some('«'), Some('»'))
            | (Some('„'), Some('“'))
            | (Some('「'), Some('」'))
    )
}

fn is_in_backticks(text: &str, mark: &Mark<'_>) -> bool {
    text.get(..mark.start).is_some_and(|before| before.ends_with('`'))
        && from(text, mark.end).starts_with('`')
}

/// Returns the part of the answer that is said. If an answer has channels, that is the final one, even if a server has
/// removed the tokens and left the words. Also returns whether there were channels, or headings for a plan and an
/// answer.
fn said_part(text: &str) -> (&str, bool) {
    if let Some(said) = after_plain_channels(text) {
        return (trimmed(said), true);
    }
    if !text.contains(CHANNEL) || speaks_of_channels(text) {
        return (text, false);
    }
    let Some((_, said)) = text.rsplit_once(SAID) else {
        return ("", true);
    };
    let end = ENDS.iter().filter_map(|end| said.find(end)).min().unwrap_or(said.len());
    (trimmed(said.get(..end).unwrap_or(said)), true)
}

/// Returns true if every token of a channel stands in code.
fn speaks_of_channels(text: &str) -> bool {
    let code = Code::of(text);
    text.match_indices(CHANNEL).all(|(at, token)| code.spans(&(at..at + token.len())))
}

/// Returns the answer of an output that has lost its tokens. Examples are `analysisThe user … assistantfinalYes.`,
/// `thought` on a line of its own (Gemma's, whose end is lost), and Granite's two headings.
fn after_plain_channels(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix("analysis") {
        // Before a capital letter it is not the English word.
        if rest.starts_with(char::is_uppercase) {
            return Some(rest.rsplit_once("assistantfinal").map_or("", |(_, said)| said));
        }
    }
    if text == "thought" || text.starts_with("thought\n") || text.starts_with("thought\r\n") {
        return Some("");
    }
    let plans = ["Here is my thought process:", "Here's my thought process:"];
    let answers = ["Here is my response:", "Here's my response:"];
    let rest = plans.iter().find_map(|plan| text.strip_prefix(plan))?;
    answers.iter().find_map(|answer| rest.split_once(answer)).map(|(_, said)| said)
}

/// Returns the text after a leading block of an unknown name. The result is empty if the end of the block is unknown.
fn after_leading_block(text: &str) -> Option<&str> {
    match text.chars().next()? {
        _ if mark_at(text, 0).is_some() => None,
        '<' => after_leading_tag(text),
        '[' => {
            let (name, rest) = text.strip_prefix('[')?.split_once(']')?;
            let is_loud =
                name.len() > 1 && name.bytes().all(|c| c.is_ascii_uppercase() || c == b'_');
            let close = format!("[/{name}]");
            rest.split_once(&close).filter(|_| is_loud).map(|(_, said)| said)
        }
        '◁' => {
            let (name, rest) = text.strip_prefix('◁')?.split_once('▷')?;
            let close = format!("◁/{name}▷");
            Some(rest.split_once(&close).map_or("", |(_, said)| said))
        }
        _ => None,
    }
}

fn after_leading_tag(text: &str) -> Option<&str> {
    let tag = Tag::at(text, 0).filter(|tag| !tag.closes)?;
    let name = tag.name.to_ascii_lowercase();
    let rest = from(text, tag.end);
    if tag.is_token {
        let closes = [
            format!("<{}|>", tag.name),
            format!("<|/{}|>", tag.name),
            format!("</{}>", tag.name),
            format!("<|end_{}|>", tag.name),
        ];
        let end = closes.iter().filter_map(|close| Some(rest.find(close)? + close.len())).min();
        return Some(end.map_or("", |end| from(rest, end)));
    }
    if tag.is_harmless() {
        return None;
    }
    let close = format!("</{name}>");
    if let Some(end) = rest.to_ascii_lowercase().rfind(&close) {
        return Some(from(rest, end + close.len()));
    }
    // In `<name> is what you write there` neither a line of its own nor a word shows that this is a block.
    let is_block = name.contains(':') || tag.is_about_reasoning() || rest.starts_with(['\n', '\r']);
    is_block.then_some("")
}

/// A tag in angle brackets, for example `<think>`, `</seed:think>` or `<|END_THINKING|>`.
struct Tag<'a> {
    end: usize,
    name: &'a str,
    /// The text between the name and the closing bracket.
    rest: &'a str,
    closes: bool,
    is_token: bool,
}

impl<'a> Tag<'a> {
    fn at(text: &'a str, start: usize) -> Option<Self> {
        let inner = from(text, start).strip_prefix('<')?;
        let (inner, begins_as_token) = match inner.strip_prefix(['|', '｜']) {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let (inner, closes) = match inner.strip_prefix('/') {
            Some(inner) => (inner, true),
            None => (inner, false),
        };
        let is_name = |c: char| c.is_ascii_alphanumeric() || BETWEEN_WORDS.contains(&c) || c == '-';
        let length = inner.find(|c| !is_name(c)).unwrap_or(inner.len());
        let name = inner.get(..length)?;
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        let after = from(inner, length);
        let close = after.find(['>', '<', '\n'])?;
        let rest = after.get(..close)?;
        let end = from(after, close).strip_prefix('>')?;
        let ends_as_token = rest.ends_with(['|', '｜']);
        let rest = rest.trim_end_matches(['|', '｜']).trim();
        // `<think>`, `<think >`, `<details type="reasoning">` and `<br/>` are tags, but `<think of it>` is not.
        if !(rest.is_empty() || rest == "/" || rest.contains('=')) {
            return None;
        }
        let is_token = begins_as_token || ends_as_token;
        let closes =
            closes || (is_token && name.get(..3).is_some_and(|it| it.eq_ignore_ascii_case("end")));
        Some(Self { end: text.len() - end.len(), name, rest, closes, is_token })
    }

    /// Returns true if an attribute says that the tag contains reasoning, for example `<details type="reasoning">`.
    fn is_about_reasoning(&self) -> bool {
        ["reason", "think", "thought"].iter().any(|word| self.rest.contains(word))
    }

    /// Returns true if the tag contains no reasoning, because it is Discord's, HTML's, an answer, or empty.
    fn is_harmless(&self) -> bool {
        let name = self.name.to_ascii_lowercase();
        let first = name.split(':').next().unwrap_or_default();
        let is_discords = name.contains(':') && DISCORD.contains(&first);
        let mut known = ANSWERS.split(' ').chain(HTML.split(' '));
        let is_known = known.any(|known| known == name);
        is_discords || self.rest.ends_with('/') || (is_known && !self.is_about_reasoning())
    }
}

/// Returns the marks of a text, in order.
pub(crate) fn marks(text: &str) -> impl Iterator<Item = Mark<'_>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        loop {
            let start = at + from(text, at).find(BRACKETS.map(|(open, _)| open))?;
            match mark_at(text, start) {
                Some(mark) => {
                    at = mark.end;
                    return Some(mark);
                }
                None => at = start + from(text, start).chars().next().map_or(1, char::len_utf8),
            }
        }
    })
}

fn mark_at(text: &str, start: usize) -> Option<Mark<'_>> {
    let here = from(text, start);
    for (token, opens) in TOKENS {
        if here.starts_with(token) {
            return Some(Mark { start, end: start + token.len(), opens, name: "" });
        }
    }
    let open = here.chars().next()?;
    if open == '<' {
        let tag = Tag::at(text, start)?;
        let is_known = |word: &str| WORDS.iter().any(|known| known.eq_ignore_ascii_case(word));
        let name = if tag.is_token { "" } else { tag.name };
        return tag.name.split(BETWEEN_WORDS).any(is_known).then_some(Mark {
            start,
            end: tag.end,
            opens: !tag.closes,
            name,
        });
    }
    let (_, close) = BRACKETS.into_iter().find(|(bracket, _)| *bracket == open)?;
    let inner = from(here, open.len_utf8());
    let (body, opens) = match inner.strip_prefix('/') {
        Some(body) => (body, false),
        None => (inner, true),
    };
    let letters = body.bytes().take_while(u8::is_ascii_alphabetic).count();
    let word = body.get(..letters)?;
    WORDS.iter().find(|known| known.eq_ignore_ascii_case(word))?;
    // `[thought]` is an English word in brackets. Models that use these brackets write in capitals.
    let is_loud = open != '[' || word.bytes().all(|letter| letter.is_ascii_uppercase());
    let rest =
        from(body, letters).trim_start_matches(' ').strip_prefix(close).filter(|_| is_loud)?;
    Some(Mark { start, end: text.len() - rest.len(), opens, name: "" })
}

impl Mark<'_> {
    pub(crate) const fn range(&self) -> Range<usize> {
        self.start..self.end
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn said(text: &str) -> String {
        without_reasoning(text).0.into_owned()
    }

    #[test]
    fn what_stands_between_the_marks_is_not_said() {
        for text in [
            "<think>Hm.</think>Yes.",
            "<think>\nHm.\n</think>\n\nYes.\n",
            "<THINK>Hm.</THINK> Yes.",
            "<thinking>Hm.</thinking>Yes.",
            "<thought>Hm.</thought>Yes.",
            "<reasoning >Hm.</reasoning >Yes.",
            "[THINK]Hm.[/THINK]Yes.",
            "◁think▷Hm.◁/think▷Yes.",
            "<think></think>Yes.",
            "<think>The tag <think> opens.</think>Yes.",
            "<think>a<think>b</think>c</think>Yes.",
            "<think>```\n</think>\nYes.",
        ] {
            assert_eq!(said(text), "Yes.", "{text}");
            assert!(without_reasoning(text).1, "{text}");
        }
        assert_eq!(said("Yes, <think>hm</think>of course."), "Yes, of course.");
        let late = "Let me see. <think> The user wants words. </think> Here they are.";
        assert_eq!(said(late), "Let me see.  Here they are.");
    }

    /// LM2: the marks of all models whose makers document them.
    #[test]
    fn the_marks_of_all_known_models_are_known() {
        for text in [
            "<|channel>thought\nHm.<channel|>Yes.",
            "<|channel>thought\n<channel|>Yes.",
            "<seed:think>Hm.<seed:cot_budget_reflect>2 of 5</seed:cot_budget_reflect> So.</seed:think>Yes.",
            "<|START_THINKING|>Hm.<|END_THINKING|><|START_RESPONSE|>Yes.<|END_RESPONSE|>",
            "<|begin_of_thought|>Hm.<|end_of_thought|>\n<|begin_of_solution|>Yes.<|end_of_solution|>",
            "<|inner_prefix|>Hm.<|inner_suffix|>Yes.",
            "<unused94>thought\nHm.<unused95>Yes.",
            "<antThinking>Hm.</antThinking>Yes.",
            "<ant_thinking>Hm.</ant_thinking>Yes.",
            "<longcat_think>Hm.</longcat_think>Yes.",
            "<mm:think>Hm.</mm:think>Yes.",
            "<|think|>Hm.<|/think|>Yes.",
            "<think type=\"deep\">Hm.</think>Yes.",
            "analysisThe user says hello.assistantfinalYes.",
            "Here is my thought process: Hm. Here is my response: Yes.",
            "<details type=\"reasoning\" done=\"true\"><summary>Thought</summary>Hm.</details>Yes.",
            "<|im_start|>assistant\n<think>Hm.</think>Yes.<|im_end|>",
            "Hm.<channel|>Yes.",
            "Hm.<|END_THINKING|>Yes.",
        ] {
            assert_eq!(without_reasoning(text), (Cow::Borrowed("Yes."), true), "{text}");
        }
        for text in [
            "<|channel>thought\nHm",
            "<seed:think>Hm",
            "analysisThe user",
            "thought\nThe user",
            "<|START_THINKING|>Hm",
        ] {
            assert_eq!(without_reasoning(text), (Cow::Borrowed(""), true), "{text}");
        }
        assert_eq!(without_reasoning("Yes.<|eot_id|>"), (Cow::Borrowed("Yes."), false));
    }

    /// LM2: what a block at the beginning is called does not matter.
    #[test]
    fn an_unknown_block_at_the_beginning_is_held_back() {
        for text in [
            "<musing>Hm.</musing>Yes.",
            "<scratch_pad>Hm.</scratch_pad>\nYes.",
            "<x:plan>Hm.</x:plan>Yes.",
            "<|ponder>Hm.<ponder|>Yes.",
            "<|ponder|>Hm.<|end_ponder|>Yes.",
            "[PLAN]Hm.[/PLAN]Yes.",
            "◁plan▷Hm.◁/plan▷Yes.",
            "<think>Hm.</think><musing>Hm.</musing>Yes.",
        ] {
            assert_eq!(without_reasoning(text), (Cow::Borrowed("Yes."), true), "{text}");
        }
        for text in [
            "<musing>Hm.</musing>",
            "<musing>\nHm.",
            "<x:plan>Hm.",
            "<|ponder|>Hm. Yes.",
            "◁plan▷Hm.",
        ] {
            assert_eq!(without_reasoning(text), (Cow::Borrowed(""), true), "{text}");
        }
        for text in [
            "<b>Yes</b>, of course.",
            "<answer>Yes.</answer>",
            "<a:wave:123> Hello.",
            "<t:1700000000:R> it began.",
            "<@123> Hello.",
            "<:wave:123> Hello.",
            "<https://example.org>",
            "<T> is a parameter of the type.",
            "<br/>Yes.",
            "[note] and [/note]",
            "Yes: <musing>Hm.</musing>",
        ] {
            assert_eq!(without_reasoning(text), (Cow::Borrowed(text), false));
        }
    }

    /// LM2: code in an answer may hold marks, and code in reasoning does not save the reasoning.
    #[test]
    fn marks_in_code_are_code_and_code_does_not_hide_an_end_of_reasoning() {
        for text in [
            "Take them off:\n```python\nre.sub(r'<think>.*?</think>', '', text)\n```\nThat is all.",
            "```xml\n<think>\nHm.\n</think>\n```",
            "Split at `text.split(\"</think>\")[1]`, then trim.",
            "It begins with `<think>Hm` and goes on.",
            "```\nif text.startswith('<think>'):\n    pass\n```\nIt is that simple.",
            "The models write ``<|channel|>analysis<|message|>`` first.",
            "Both \"<think>\" and \"</think>\" are marks.",
        ] {
            assert_eq!(without_reasoning(text), (Cow::Borrowed(text), false));
        }
        for text in [
            "Hm: ```\ncode\n</think>\nYes.",
            "Hm, `a\n</think>Yes.",
            "Hm: `x` and `</think>Yes.",
            "```\nHm\n</think>\n```\n</think>Yes.",
        ] {
            assert_eq!(said(text), "Yes.", "{text}");
        }
        assert!(!said("```\nHm\n</think>\nYes:\n```\ncode\n```").contains("Hm"));
    }

    #[test]
    fn what_stands_before_a_closing_mark_alone_is_not_said() {
        for text in ["Hm.</think>Yes.", "Hm.\n```\nx\n</think>\n\nYes.", "a</think>b</think> Yes."]
        {
            assert_eq!(said(text), "Yes.", "{text}");
        }
        assert_eq!(without_reasoning("Hm.</think>"), (Cow::Borrowed(""), true));
    }

    #[test]
    fn reasoning_that_is_never_closed_leaves_nothing() {
        assert_eq!(without_reasoning("<think>Hm. And then"), (Cow::Borrowed(""), true));
        assert_eq!(said("So. <think>Hm. `</think>` ends it."), "So.");
    }

    #[test]
    fn a_leading_think_is_left_out_and_the_tags_of_others_stay() {
        fn written(text: &str) -> String {
            without_leading_think(text).0.into_owned()
        }
        let tags = "<thinking>Hm.</thinking>\n<speech>Yes.</speech>";
        assert_eq!(written(tags), tags);
        assert_eq!(written(&format!("<think>\nSo.\n</think>\n\n{tags}\n")), tags);
        assert_eq!(without_leading_think("<think>So. And"), (Cow::Borrowed(""), true));
        for own in [
            "<|channel>thought\nSo.<channel|>",
            "<seed:think>So.</seed:think>",
            "So.</think>",
            "[THINK]So.[/THINK]",
        ] {
            assert_eq!(written(&format!("{own}{tags}")), tags, "{own}");
        }
        assert_eq!(without_reasoning(tags).0, "<speech>Yes.</speech>", "which is why");
    }

    #[test]
    fn of_channels_the_final_one_is_said() {
        let text = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>Yes.<|return|>";
        assert_eq!(without_reasoning(text), (Cow::Borrowed("Yes."), true));
        assert_eq!(said("<|channel|>analysis<|message|>Hm."), "");
        let said_part = "<|channel|>final<|message|>Yes.";
        for end in ["<|return|>", "<|end|>", "<|start|>assistant<|channel|>analysis<|message|>Hm."]
        {
            assert_eq!(said(&format!("{said_part}{end}")), "Yes.", "{end}");
        }
    }

    #[test]
    fn a_text_that_only_speaks_of_it_is_said() {
        for text in [
            "I think so.",
            "The mark is `<think>`, and `</think>` ends it.",
            "Models write <think> before they answer, and </think> after it.",
            "The first token is <think>.",
            "a < b > c, [thought] and [x]",
            "<thinker>",
            "A <b>thought</b>.",
        ] {
            assert_eq!(without_reasoning(text), (Cow::Borrowed(text), false));
        }
    }

    /// SC3: where there should be no reasoning, any mark of it counts, also of a kind that no model is known to write.
    #[test]
    fn whatever_marks_reasoning_counts_where_there_should_be_none() {
        for text in [
            "Yes. <think>No.</think>",
            "Yes. `<think>No.</think>`",
            "Yes. \"<think>\" No.",
            "Yes. <think>No.",
            "No.</think> Yes.",
            "Yes. &lt;think&gt;No.&lt;/think&gt;",
            "Yes. ＜think＞No.＜/think＞",
            "Yes. <th\u{200b}ink>No.</th\u{200b}ink>",
            "Yes. <seed:think>No.</seed:think>",
            "Yes. <scratchpad>No.</scratchpad>",
            "Yes. <inner_monologue mood=\"cold\">No.</inner_monologue>",
            "Yes.\n<analysis>\nNo.",
            "<musing>\nNo.",
            "Yes. [THINK]No.[/THINK]",
            "Yes. [thinking]No.[/thinking]",
            "Yes. ◁think▷No.◁/think▷",
            "Yes. <|channel>thought\nNo.<channel|>",
            "<|channel|>analysis<|message|>No.<|end|>",
            "Yes. <details type=\"reasoning\">No.</details>",
            "analysisNo.assistantfinalYes.",
        ] {
            assert!(has_reasoning(text), "{text}");
        }
        for text in [
            "",
            "I think so.",
            "*[thinks]* A thought: no.",
            "[thinking] Well.",
            "I <3 you > all < b.",
            "<sighs> I <b>know</b>.<br/>",
            "<a:wave:1> <@1> <#2> <t:1>",
            "Tea & biscuits &lt;3",
            "1 < 2, 3 > 2.",
            "</3",
        ] {
            assert!(!has_reasoning(text), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_mark_is_left_whatever_the_text(parts in prop::collection::vec(
            prop::sample::select(vec![
                "<think>", "</think>", "<thi", "nk>", "a", "`", "\n", "◁/think▷", "[/THINK]", "<", ">", "é",
            ]),
            0..20,
        )) {
            let text = parts.concat();
            let (said, _) = without_reasoning(&text);
            prop_assert_eq!(without_reasoning(&said), (Cow::Borrowed(&*said), false), "{:?}", text);
        }
    }

    proptest! {
        /// LM2: whatever stands in reasoning, none of it is said, whether its mark is in the answer or in the prompt.
        #[test]
        fn nothing_of_reasoning_is_said_whatever_stands_in_it(
            parts in prop::collection::vec(
                prop::sample::select(vec![
                    "secret", " ", "\n", "`", "\n```\n", "<think>", "the tag <think> opens", "\"</think>\"", "`</think>`",
                    "<b>", "[x]", "(", "é", ".",
                ]),
                0..20,
            ),
            (open, close) in prop::sample::select(vec![
                ("<think>", "</think>"), ("", "</think>"), ("<seed:think>", "</seed:think>"), ("<|channel>thought\n", "<channel|>"),
                ("", "<channel|>"), ("<musing>", "</musing>"), ("[THINK]", "[/THINK]"),
            ]),
            answer in prop::sample::select(vec!["Yes.", "Yes:\n```\ncode\n```\nDone.", "Use `x`.", ""]),
        ) {
            // Where the prompt opened it, a mark that opens in it begins it once more.
            let is_open = |part: &&&str| **part != "<think>" || !open.is_empty();
            let reasoning: String = parts.iter().filter(is_open).copied().collect();
            let text = format!("{open}{reasoning}\n{close}\n{answer}");
            let (said, _) = without_reasoning(&text);
            prop_assert!(!said.contains("secret"), "{:?} leaves {:?}", text, said);
        }
    }

    #[test]
    fn a_long_text_of_marks_costs_little() {
        for part in [
            "a <think> b ",
            "`<think>` ",
            "`<think></think>`",
            "<a",
            "<think ",
            "<x> ",
            "\"</think>\" ",
            "```\n<think>\n```\n",
        ] {
            let text = part.repeat(256 * 1_024 / part.len());
            let time = cpu_time::ThreadTime::now();
            let _ = (without_reasoning(&text), has_reasoning(&text));
            assert!(time.elapsed().as_secs() < 5, "{part:?}: {:?}", time.elapsed());
        }
    }

    #[test]
    fn a_text_that_hides_marks_in_marks_is_not_said() {
        let hidden =
            (0..50).fold(String::from("secret"), |text, _| format!("<thi<think></think>nk>{text}"));
        assert_eq!(without_reasoning(&hidden).0, "");
    }
}
