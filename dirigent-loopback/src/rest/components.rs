//! Components of messages, with Discord's limits (components/reference). They are shown, but cannot be used.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::ask::{number, object, text_of};
use super::refusal::Refusal;

/// The flag of a message that has only components.
pub(super) const IS_COMPONENTS_V2: u64 = 1 << 15;

/// The most components of such a message, including nested ones.
const COMPONENTS_MAX: usize = 40;

/// The most characters of all its texts.
const TEXTS_MAX: usize = 4_000;

/// The most rows of buttons and menus in any other message.
const ROWS_MAX: usize = 5;

/// Discord's numbers for kinds of components.
mod kind {
    pub(super) const ROW: u64 = 1;
    pub(super) const BUTTON: u64 = 2;
    pub(super) const STRING_SELECT: u64 = 3;
    pub(super) const CHANNEL_SELECT: u64 = 8;
    pub(super) const SECTION: u64 = 9;
    pub(super) const TEXT: u64 = 10;
    pub(super) const THUMBNAIL: u64 = 11;
    pub(super) const GALLERY: u64 = 12;
    pub(super) const FILE: u64 = 13;
    pub(super) const SEPARATOR: u64 = 14;
    pub(super) const CONTAINER: u64 = 17;
}

const IN_ROW: &[u64] = &[kind::BUTTON, kind::STRING_SELECT, 5, 6, 7, kind::CHANNEL_SELECT];
const IN_CONTAINER: &[u64] =
    &[kind::ROW, kind::SECTION, kind::TEXT, kind::GALLERY, kind::FILE, kind::SEPARATOR];
const ON_TOP: &[u64] = &[
    kind::ROW,
    kind::SECTION,
    kind::TEXT,
    kind::GALLERY,
    kind::FILE,
    kind::SEPARATOR,
    kind::CONTAINER,
];

/// Returns the components of a body as they are shown, or `None` if the body has no such field. `flags` are
/// those of the message.
pub(super) fn read(fields: &Map<String, Value>, flags: u64) -> Result<Option<Vec<Value>>, Refusal> {
    let Some(said) = fields.get("components").filter(|said| !said.is_null()) else {
        return Ok(None);
    };
    let is_v2 = flags & IS_COMPONENTS_V2 != 0;
    let (kinds, most) = if is_v2 { (ON_TOP, COMPONENTS_MAX) } else { (&[kind::ROW][..], ROWS_MAX) };
    let mut walk = Walk::default();
    walk.list(said, "components", kinds, (0, most))?;
    let mut shown = said.as_array().cloned().unwrap_or_default();
    if walk.count > COMPONENTS_MAX {
        return Err(Refusal::wrong_length("components", 1, COMPONENTS_MAX));
    }
    if walk.chars > TEXTS_MAX {
        let message = format!("Must be {TEXTS_MAX} or fewer in length.");
        return Err(Refusal::invalid("components", "BASE_TYPE_MAX_LENGTH", &message));
    }
    let mut next = 1;
    for component in &mut shown {
        complete(component, &walk.ids, &mut next);
    }
    Ok(Some(shown))
}

/// Refuses what a message of only components cannot have.
pub(super) fn check_alone(flags: u64, has_more: bool) -> Result<(), Refusal> {
    if flags & IS_COMPONENTS_V2 == 0 || !has_more {
        return Ok(());
    }
    let code = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2";
    let message =
        "The fields content, embeds, sticker_ids and poll cannot be used with IS_COMPONENTS_V2";
    Err(Refusal::invalid("flags", code, message))
}

/// The totals of all components so far.
#[derive(Default)]
struct Walk {
    count: usize,
    chars: usize,
    ids: BTreeSet<u64>,
    custom_ids: BTreeSet<String>,
}

impl Walk {
    /// Reads a list of components of these kinds.
    fn list(
        &mut self,
        said: &Value,
        within: &str,
        kinds: &[u64],
        (least, most): (usize, usize),
    ) -> Result<(), Refusal> {
        let wrong = || Refusal::invalid(within, "LIST_TYPE_CONVERT", "Only lists may be used.");
        let list = said.as_array().ok_or_else(wrong)?;
        if !(least..=most).contains(&list.len()) {
            return Err(Refusal::wrong_length(within, least, most));
        }
        let mut each = list.iter().enumerate();
        each.try_for_each(|(place, component)| {
            self.component(component, &format!("{within}.{place}"), kinds)
        })
    }

    fn component(&mut self, said: &Value, within: &str, kinds: &[u64]) -> Result<(), Refusal> {
        let said = object(said, within)?;
        let kind = number(said, "type")?.filter(|kind| kinds.contains(kind)).ok_or_else(|| {
            let message = format!("Value of field \"type\" must be one of {kinds:?}.");
            Refusal::invalid(&format!("{within}.type"), "UNION_TYPE_CHOICES", &message)
        })?;
        self.count += 1;
        if number(said, "id")?.is_some_and(|id| id != 0 && !self.ids.insert(id)) {
            let message = "Component id cannot be duplicated";
            return Err(Refusal::invalid(within, "COMPONENT_ID_DUPLICATED", message));
        }
        let place = Place { said, within };
        match kind {
            kind::ROW => {
                let components = place.field("components")?;
                self.list(components, &place.named("components"), IN_ROW, (1, 5))?;
                let menus = components.as_array().into_iter().flatten();
                let menus = menus.filter(|it| it.get("type") != Some(&json!(kind::BUTTON)));
                let count = components.as_array().map_or(0, Vec::len);
                if count > 1 && menus.count() > 0 {
                    return Err(Refusal::wrong_length(&place.named("components"), 1, 1));
                }
            }
            kind::BUTTON => self.button(&place)?,
            kind::STRING_SELECT..=kind::CHANNEL_SELECT => {
                self.custom_id(&place)?;
                if kind == kind::STRING_SELECT {
                    let count = place.field("options")?.as_array().map_or(0, Vec::len);
                    if !(1..=25).contains(&count) {
                        return Err(Refusal::wrong_length(&place.named("options"), 1, 25));
                    }
                }
            }
            kind::SECTION => {
                let texts = place.field("components")?;
                self.list(texts, &place.named("components"), &[kind::TEXT], (1, 3))?;
                let beside = [kind::BUTTON, kind::THUMBNAIL];
                self.component(place.field("accessory")?, &place.named("accessory"), &beside)?;
            }
            kind::TEXT => self.chars += place.text("content", (1, TEXTS_MAX))?.chars().count(),
            kind::THUMBNAIL => place.media("media")?,
            kind::GALLERY => {
                let items = place.field("items")?.as_array().map_or(&[][..], Vec::as_slice);
                if !(1..=10).contains(&items.len()) {
                    return Err(Refusal::wrong_length(&place.named("items"), 1, 10));
                }
                for (number, item) in items.iter().enumerate() {
                    let within = place.named(&format!("items.{number}"));
                    Place { said: object(item, &within)?, within: &within }.media("media")?;
                }
            }
            kind::FILE => place.media("file")?,
            kind::CONTAINER => {
                let components = place.field("components")?;
                let most = (1, COMPONENTS_MAX);
                self.list(components, &place.named("components"), IN_CONTAINER, most)?;
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads a button. A link has an address; other buttons have an id of their own.
    fn button(&mut self, place: &Place<'_>) -> Result<(), Refusal> {
        const LINK: u64 = 5;
        let style = number(place.said, "style")?.unwrap_or(0);
        if !(1..=6).contains(&style) {
            return Err(Refusal::out_of_bounds(&place.named("style"), 1, 6));
        }
        place.optional("label", (0, 80))?;
        match style {
            LINK => place.text("url", (1, 512)).map(|_| ()),
            6 => place.field("sku_id").map(|_| ()),
            _ => self.custom_id(place),
        }
    }

    fn custom_id(&mut self, place: &Place<'_>) -> Result<(), Refusal> {
        if self.custom_ids.insert(place.text("custom_id", (1, 100))?.to_owned()) {
            return Ok(());
        }
        let message = "Component custom id cannot be duplicated";
        let field = place.named("custom_id");
        Err(Refusal::invalid(&field, "COMPONENT_CUSTOM_ID_DUPLICATED", message))
    }
}

/// A component, and its place in the body.
struct Place<'a> {
    said: &'a Map<String, Value>,
    within: &'a str,
}

impl<'a> Place<'a> {
    fn named(&self, name: &str) -> String {
        format!("{}.{name}", self.within)
    }

    fn field(&self, name: &str) -> Result<&'a Value, Refusal> {
        let required =
            || Refusal::invalid(&self.named(name), "BASE_TYPE_REQUIRED", "This field is required");
        self.said.get(name).filter(|value| !value.is_null()).ok_or_else(required)
    }

    fn optional(&self, name: &str, length: (usize, usize)) -> Result<Option<&'a str>, Refusal> {
        text_of(self.said, name, length)
            .map_err(|refusal| refusal.of_field(name, &self.named(name)))
    }

    fn text(&self, name: &str, length: (usize, usize)) -> Result<&'a str, Refusal> {
        self.field(name)?;
        self.optional(name, length).map(Option::unwrap_or_default)
    }

    /// Reads an object with the address of something on the web, or of an uploaded file.
    fn media(&self, name: &str) -> Result<(), Refusal> {
        let within = self.named(name);
        let media = Place { said: object(self.field(name)?, &within)?, within: &within };
        let url = media.text("url", (1, 2_048))?;
        let known = ["http://", "https://", "attachment://"];
        if known.iter().any(|scheme| url.starts_with(scheme)) {
            return Ok(());
        }
        let message = "Not a well formed URL.";
        Err(Refusal::invalid(&media.named("url"), "URL_TYPE_INVALID_URL", message))
    }
}

/// Adds what Discord writes into each component: the next free id, and default values.
fn complete(component: &mut Value, taken: &BTreeSet<u64>, next: &mut u64) {
    let Some(fields) = component.as_object_mut() else { return };
    if fields.get("id").and_then(Value::as_u64).is_none_or(|id| id == 0) {
        while taken.contains(next) {
            *next += 1;
        }
        fields.insert("id".to_owned(), json!(*next));
        *next += 1;
    }
    let media = json!({ "description": null, "spoiler": false });
    let usual = match fields.get("type").and_then(Value::as_u64) {
        Some(kind::THUMBNAIL) => media,
        Some(kind::FILE) => json!({ "name": null, "size": null, "spoiler": false }),
        Some(kind::SEPARATOR) => json!({ "spacing": 1, "divider": true }),
        Some(kind::CONTAINER) => json!({ "accent_color": null, "spoiler": false }),
        Some(kind::GALLERY) => {
            let items = fields.get_mut("items").and_then(Value::as_array_mut);
            items.into_iter().flatten().for_each(|item| add(item, &media));
            json!({})
        }
        Some(kind::STRING_SELECT..=kind::CHANNEL_SELECT) => {
            json!({ "min_values": 1, "max_values": 1 })
        }
        Some(_) | None => json!({}),
    };
    add(component, &usual);
    let inner = component.get_mut("components").and_then(Value::as_array_mut);
    inner.into_iter().flatten().for_each(|it| complete(it, taken, next));
    component.get_mut("accessory").into_iter().for_each(|it| complete(it, taken, next));
}

/// Adds fields that are missing or null.
fn add(to: &mut Value, usual: &Value) {
    let (Some(fields), Some(usual)) = (to.as_object_mut(), usual.as_object()) else { return };
    for (name, value) in usual {
        let said = fields.entry(name).or_insert(Value::Null);
        if said.is_null() {
            said.clone_from(value);
        }
    }
}
