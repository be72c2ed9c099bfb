//! JSON schemas of the arguments, simple enough for every model's function calling.

use std::borrow::Cow;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::Value;

use crate::values::id::GuildId;
use crate::{ChannelId, UserId};

/// The pattern of a Discord id.
const DIGITS: &str = "^[0-9]{15,20}$";

macro_rules! id_schema {
    ($($id:ident)*) => {$(
        impl JsonSchema for $id {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($id).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": DIGITS })
            }
        }
    )*};
}

id_schema! { ChannelId GuildId UserId }

/// Returns the schema of a tool's arguments. It is one object without references.
pub(super) fn parameters<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    plain(&mut schema);
    // The tool's own description says more than the type's.
    if let Value::Object(root) = &mut schema {
        root.remove("description");
    }
    schema
}

/// Removes the parts that some models' interfaces refuse: titles, defaults, and lists of types. It also removes line
/// breaks of a description, because they only come from its source.
fn plain(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    schema.remove("title");
    schema.remove("default");
    if let Some(Value::String(description)) = schema.get_mut("description") {
        *description = description.replace('\n', " ");
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".to_owned(), only);
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().for_each(plain);
    }
    if let Some(items) = schema.get_mut("items") {
        plain(items);
    }
}
