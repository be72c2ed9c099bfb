//! Embeds in Discord's form.

use dirigent::ports::{Embed, EmbedAuthor, EmbedField, EmbedFooter};
use serde_json::{Map, Value, json};

use super::moment;

/// Returns an embed of a post as Discord stores it, with trimmed texts.
pub fn written(embed: &Embed) -> Value {
    let mut kept = Map::new();
    kept.insert("type".to_owned(), "rich".into());
    let mut keep = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            kept.insert(name.to_owned(), value);
        }
    };
    keep("title", embed.title.as_deref().and_then(text));
    keep("description", embed.description.as_deref().and_then(text));
    keep("url", embed.url.as_deref().map(Value::from));
    keep("color", embed.colour.map(Value::from));
    keep("timestamp", embed.timestamp.map(|at| moment::written(at).into()));
    keep(
        "footer",
        embed.footer.as_ref().map(|EmbedFooter { text, icon_url }| {
            parts([("text", self::text(text)), ("icon_url", icon_url.as_deref().map(Value::from))])
        }),
    );
    let picture = |url: &String| json!({ "url": url });
    keep("image", embed.image.as_ref().map(picture));
    keep("thumbnail", embed.thumbnail.as_ref().map(picture));
    keep(
        "author",
        embed.author.as_ref().map(|EmbedAuthor { name, url, icon_url }| {
            parts([
                ("name", text(name)),
                ("url", url.as_deref().map(Value::from)),
                ("icon_url", icon_url.as_deref().map(Value::from)),
            ])
        }),
    );
    let field = |field: &EmbedField| json!({ "name": field.name.trim(), "value": field.value.trim(), "inline": field.inline });
    let fields: Vec<Value> = embed.fields.iter().map(field).collect();
    keep("fields", Some(fields).filter(|fields| !fields.is_empty()).map(Value::from));
    Value::Object(kept)
}

/// Reads a stored embed, as far as a post can express it.
pub fn read(written: &Value) -> Embed {
    let said = |place: &str| written.pointer(place).and_then(Value::as_str).map(str::to_owned);
    let field = |field: &Value| EmbedField {
        name: field["name"].as_str().unwrap_or_default().to_owned(),
        value: field["value"].as_str().unwrap_or_default().to_owned(),
        inline: field["inline"].as_bool().unwrap_or_default(),
    };
    let footer = said("/footer/text");
    let author = said("/author/name");
    let fields = written.get("fields").and_then(Value::as_array);
    Embed {
        title: said("/title"),
        description: said("/description"),
        url: said("/url"),
        colour: written["color"].as_u64().and_then(|colour| colour.try_into().ok()),
        timestamp: said("/timestamp").as_deref().and_then(moment::read),
        footer: footer.map(|text| EmbedFooter { text, icon_url: said("/footer/icon_url") }),
        image: said("/image/url"),
        thumbnail: said("/thumbnail/url"),
        author: author.map(|name| EmbedAuthor {
            name,
            url: said("/author/url"),
            icon_url: said("/author/icon_url"),
        }),
        fields: fields.into_iter().flatten().map(field).collect(),
    }
}

fn text(text: &str) -> Option<Value> {
    Some(text.trim()).filter(|text| !text.is_empty()).map(Value::from)
}

fn parts<const N: usize>(parts: [(&str, Option<Value>); N]) -> Value {
    let said = parts.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(said.collect())
}
