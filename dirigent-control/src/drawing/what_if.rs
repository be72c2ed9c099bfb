//! Shows one evening under several rule sets: the scores above each other, and the differences in numbers.

use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::drawing::svg::escaped;

/// A recorded evening beside the same evening under other rules. It is plain data that a laboratory fills, for example
/// `dirigent_lab::program::compare`.
///
/// ```
/// use dirigent_control::drawing::{WhatIf, WhatIfFigure};
///
/// let calls = WhatIfFigure { name: "model calls".into(), values: vec!["20".into(), "8".into()] };
/// let what_if = WhatIf { figures: vec![calls], ..WhatIf::default() };
/// assert!(what_if.part().contains("<td>8</td>"));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts build")]
pub struct WhatIf {
    /// The evenings. The recorded one comes first.
    pub evenings: Vec<WhatIfEvening>,
    /// The figures that can be compared.
    pub figures: Vec<WhatIfFigure>,
    /// Sentences about what the recording cannot show.
    pub notes: Vec<String>,
}

/// An evening under one rule set.
///
/// ```
/// use dirigent_control::drawing::WhatIfEvening;
/// assert!(WhatIfEvening::default().ways.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts build")]
pub struct WhatIfEvening {
    /// The rules, for example `ceilings.chat.turns=8`.
    pub name: String,
    /// The score as HTML, as [`Score::sheet`](crate::drawing::Score::sheet) returns it. It is not escaped again.
    pub score: String,
    /// The points at which the evening takes another way, each with the assumption that it goes on by.
    pub ways: Vec<String>,
}

/// A figure with one value for each evening.
///
/// ```
/// use dirigent_control::drawing::WhatIfFigure;
/// assert!(WhatIfFigure::default().values.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::exhaustive_structs, reason = "an answer that hosts build")]
pub struct WhatIfFigure {
    /// The figure, for example `model calls`.
    pub name: String,
    /// The values, in the order of the evenings.
    pub values: Vec<String>,
}

/// The rules that somebody wants to try on a recording, as they typed them.
///
/// ```
/// use dirigent_control::drawing::WhatIfAsked;
/// let asked = WhatIfAsked { set: "order.skip_passed=true".into(), ..WhatIfAsked::default() };
/// assert!(asked.assume.is_empty());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[expect(clippy::exhaustive_structs, reason = "the fields of a form")]
pub struct WhatIfAsked {
    /// One rule set a line. A rule set consists of `key=value` with commas between them, for example
    /// `people.mentions=only,ceilings.chat.cycles=3`.
    pub set: String,
    /// The answer of an agent that is asked as it was not then: `pass`, or `next` if it says what it said next. Empty
    /// means `pass`.
    pub assume: String,
}

impl WhatIf {
    /// Returns HTML for a part of a page. Your stylesheet must contain [`STYLE`](crate::drawing::STYLE).
    pub fn part(&self) -> String {
        let mut html = String::from("<section class=\"replay what-if\">\n");
        for evening in &self.evenings {
            let (name, score) = (escaped(&evening.name), &evening.score);
            let _ = writeln!(
                html,
                "<section>\n<h2>{name}</h2>\n<div class=\"sheet\" tabindex=\"0\" role=\"group\" aria-label=\"Score: {name}\">{score}</div>"
            );
            list(&mut html, &evening.ways);
            html.push_str("</section>\n");
        }
        self.table(&mut html);
        list(&mut html, &self.notes);
        html.push_str("</section>\n");
        html
    }

    /// Returns one HTML file that needs no network.
    pub fn html(&self, title: &str) -> String {
        crate::drawing::html::page(title, None, Some(self))
    }

    fn table(&self, html: &mut String) {
        html.push_str("<div class=\"sheet\" tabindex=\"0\" role=\"group\" aria-label=\"Figures\"><table>\n<thead><tr><th scope=\"col\">Figure</th>");
        for evening in &self.evenings {
            let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(&evening.name));
        }
        html.push_str("</tr></thead>\n<tbody>\n");
        for figure in &self.figures {
            let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escaped(&figure.name));
            for value in &figure.values {
                let _ = write!(html, "<td>{}</td>", escaped(value));
            }
            html.push_str("</tr>\n");
        }
        html.push_str("</tbody></table></div>\n");
    }
}

fn list(html: &mut String, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    html.push_str("<ul class=\"ways\">\n");
    for line in lines {
        let _ = writeln!(html, "<li>{}</li>", escaped(line));
    }
    html.push_str("</ul>\n");
}
