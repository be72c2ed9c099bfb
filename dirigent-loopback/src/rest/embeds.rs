//! Embeds, with Discord's limits (resources/message, embed limits).

use serde_json::{Map, Value};

use super::ask::{number, object, only, text_of};
use super::refusal::Refusal;

/// The most embeds of a message.
const EMBEDS_MAX: usize = 10;

/// The most fields of an embed.
const FIELDS_MAX: usize = 25;

/// The most characters in the texts of all embeds of a message.
const TEXTS_MAX: usize = 6_000;

const TITLE: (usize, usize) = (0, 256);
const DESCRIPTION: (usize, usize) = (0, 4_096);
const FOOTER: (usize, usize) = (0, 2_048);
const AUTHOR: (usize, usize) = (0, 256);
const FIELD_NAME: (usize, usize) = (1, 256);
const FIELD_VALUE: (usize, usize) = (1, 1_024);

/// The texts of an embed that count towards this limit.
const TEXTS: [&str; 4] = ["/title", "/description", "/footer/text", "/author/name"];

/// The fields of an embed that only Discord writes.
const WRITTEN: [&str; 5] = ["type", "video", "provider", "flags", "content_scan_version"];

/// Returns the embeds of a body, or `None` if the body has no such field.
pub(super) fn read(fields: &Map<String, Value>) -> Result<Option<Vec<Value>>, Refusal> {
    let list = match fields.get("embeds") {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::Array(list)) => list,
        Some(_) => {
            let message = "Only lists may be used.";
            return Err(Refusal::invalid("embeds", "LIST_TYPE_CONVERT", message));
        }
    };
    if list.len() > EMBEDS_MAX {
        let message = format!("Must be {EMBEDS_MAX} or fewer in length.");
        return Err(Refusal::invalid("embeds", "BASE_TYPE_MAX_LENGTH", &message));
    }
    let read = list
        .iter()
        .enumerate()
        .map(|(place, embed)| Within(format!("embeds.{place}")).embed(embed));
    let embeds: Vec<Value> = read.collect::<Result<_, _>>()?;
    if embeds.iter().map(length).sum::<usize>() > TEXTS_MAX {
        let message = format!("Embed size exceeds maximum size of {TEXTS_MAX}");
        return Err(Refusal::invalid("embeds", "MAX_EMBED_SIZE_EXCEEDED", &message));
    }
    Ok(Some(embeds))
}

/// Returns the number of characters in an embed's texts.
fn length(embed: &Value) -> usize {
    let text =
        |value: Option<&Value>| value.and_then(Value::as_str).map_or(0, |it| it.chars().count());
    let own: usize = TEXTS.iter().map(|place| text(embed.pointer(place))).sum();
    let fields = embed.get("fields").and_then(Value::as_array).into_iter().flatten();
    own + fields.map(|field| text(field.get("name")) + text(field.get("value"))).sum::<usize>()
}

/// The place of something in the body.
struct Within(String);

impl Within {
    fn embed(&self, embed: &Value) -> Result<Value, Refusal> {
        let said = self.object(embed)?;
        let known = [
            &WRITTEN[..],
            &["title", "description", "url", "timestamp", "color", "footer", "image", "thumbnail"],
            &["author", "fields"],
        ]
        .concat();
        only(said, &known)?;
        let mut kept = Map::new();
        kept.insert("type".to_owned(), "rich".into());
        self.text(said, "title", TITLE, &mut kept)?;
        self.text(said, "description", DESCRIPTION, &mut kept)?;
        self.address(said, "url", &mut kept)?;
        self.timestamp(said, &mut kept)?;
        if let Some(color) = self.named(number(said, "color"), "color")? {
            if color > 0xff_ff_ff {
                return Err(Refusal::out_of_bounds(&self.field("color"), 0, 0xff_ff_ff));
            }
            kept.insert("color".to_owned(), color.into());
        }
        self.part(said, "footer", &mut kept, |within, said, part| {
            within.text(said, "text", FOOTER, part)?;
            within.address(said, "icon_url", part)
        })?;
        for name in ["image", "thumbnail"] {
            self.part(said, name, &mut kept, |within, said, part| {
                within.address(said, "url", part)
            })?;
        }
        self.part(said, "author", &mut kept, |within, said, part| {
            within.text(said, "name", AUTHOR, part)?;
            within.address(said, "url", part)?;
            within.address(said, "icon_url", part)
        })?;
        self.fields(said, &mut kept)?;
        if kept.len() == 1 {
            let message = "This field is required";
            return Err(Refusal::invalid(
                &self.field("description"),
                "BASE_TYPE_REQUIRED",
                message,
            ));
        }
        Ok(Value::Object(kept))
    }

    fn fields(
        &self,
        said: &Map<String, Value>,
        kept: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        let Some(list) = said.get("fields").filter(|list| !list.is_null()) else { return Ok(()) };
        let wrong = || {
            let message = "Only lists may be used.";
            Refusal::invalid(&self.field("fields"), "LIST_TYPE_CONVERT", message)
        };
        let list = list.as_array().ok_or_else(wrong)?;
        if list.len() > FIELDS_MAX {
            let message = format!("Must be {FIELDS_MAX} or fewer in length.");
            let field = self.field("fields");
            return Err(Refusal::invalid(&field, "BASE_TYPE_MAX_LENGTH", &message));
        }
        let mut fields = Vec::new();
        for (place, entry) in list.iter().enumerate() {
            let within = Self(self.field(&format!("fields.{place}")));
            let said = within.object(entry)?;
            only(said, &["name", "value", "inline"])?;
            let mut field = Map::new();
            within.text(said, "name", FIELD_NAME, &mut field)?;
            within.text(said, "value", FIELD_VALUE, &mut field)?;
            for name in ["name", "value"] {
                if !field.contains_key(name) {
                    let message = "This field is required";
                    let field = within.field(name);
                    return Err(Refusal::invalid(&field, "BASE_TYPE_REQUIRED", message));
                }
            }
            let is_inline = said.get("inline") == Some(&Value::Bool(true));
            field.insert("inline".to_owned(), is_inline.into());
            fields.push(Value::Object(field));
        }
        if !fields.is_empty() {
            kept.insert("fields".to_owned(), fields.into());
        }
        Ok(())
    }

    /// Reads a part of an embed, and stores it unless it is empty.
    fn part(
        &self,
        said: &Map<String, Value>,
        name: &str,
        kept: &mut Map<String, Value>,
        read: impl FnOnce(&Self, &Map<String, Value>, &mut Map<String, Value>) -> Result<(), Refusal>,
    ) -> Result<(), Refusal> {
        let Some(part) = said.get(name).filter(|part| !part.is_null()) else { return Ok(()) };
        let within = Self(self.field(name));
        let mut read_part = Map::new();
        read(&within, within.object(part)?, &mut read_part)?;
        if !read_part.is_empty() {
            kept.insert(name.to_owned(), Value::Object(read_part));
        }
        Ok(())
    }

    fn text(
        &self,
        said: &Map<String, Value>,
        name: &str,
        length: (usize, usize),
        kept: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        let text = self.named(text_of(said, name, length), name)?.map(str::trim);
        if let Some(text) = text.filter(|text| !text.is_empty()) {
            kept.insert(name.to_owned(), text.into());
        }
        Ok(())
    }

    /// Reads an address on the web, or of an uploaded file.
    fn address(
        &self,
        said: &Map<String, Value>,
        name: &str,
        kept: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        let address = self.named(text_of(said, name, (0, 2_048)), name)?;
        let Some(address) = address.filter(|address| !address.is_empty()) else { return Ok(()) };
        let is_web =
            ["http://", "https://", "attachment://"].iter().any(|it| address.starts_with(it));
        if !is_web {
            let message = "Not a well formed URL.";
            return Err(Refusal::invalid(&self.field(name), "URL_TYPE_INVALID_URL", message));
        }
        kept.insert(name.to_owned(), address.into());
        Ok(())
    }

    /// Reads a time, and stores it as it was given.
    fn timestamp(
        &self,
        said: &Map<String, Value>,
        kept: &mut Map<String, Value>,
    ) -> Result<(), Refusal> {
        let moment = self.named(text_of(said, "timestamp", (0, 64)), "timestamp")?;
        let Some(moment) = moment.filter(|moment| !moment.is_empty()) else { return Ok(()) };
        let mut bytes = moment.bytes();
        let is_date = "dddd-dd-dd".bytes().all(|expected| match bytes.next() {
            Some(byte) if expected == b'd' => byte.is_ascii_digit(),
            other => other == Some(expected),
        });
        if !is_date {
            let message = format!("Could not parse {moment}. Should be ISO8601.");
            let field = self.field("timestamp");
            return Err(Refusal::invalid(&field, "DATETIME_TYPE_PARSE", &message));
        }
        kept.insert("timestamp".to_owned(), moment.into());
        Ok(())
    }

    fn object<'a>(&self, value: &'a Value) -> Result<&'a Map<String, Value>, Refusal> {
        object(value, &self.0)
    }

    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.0)
    }

    /// Returns the refusal with the full name of the field.
    fn named<T>(&self, read: Result<T, Refusal>, name: &str) -> Result<T, Refusal> {
        read.map_err(|refusal| refusal.of_field(name, &self.field(name)))
    }
}
