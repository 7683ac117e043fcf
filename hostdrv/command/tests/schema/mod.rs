//! As much of JSON Schema as `docs/json.md` has: types, required and other properties, items.

use serde_json::{json, Map, Value};

/// What is wrong with a value by a schema; nothing is.
pub fn complaints(value: &Value, schema: &Value, at: &str, all: &mut Vec<String>) {
    let is = kind(value);
    let types = names(&schema["type"]);
    let fits = |name: &String| name == is || name == "number" && is == "integer";
    if !types.is_empty() && !types.iter().any(fits) {
        all.push(format!("{at} is {is}, not {types:?}"));
        return;
    }
    match value {
        Value::Object(fields) => {
            for name in names(&schema["required"]) {
                if !fields.contains_key(&name) {
                    all.push(format!("{at} lacks {name}"));
                }
            }
            for (name, field) in fields {
                let inner = format!("{at}.{name}");
                let known = &schema["properties"][name];
                let other = &schema["additionalProperties"];
                match (known.is_null(), other.is_object()) {
                    (false, _) => complaints(field, known, &inner, all),
                    (true, true) => complaints(field, other, &inner, all),
                    (true, false) => all.push(format!("{inner} is not in the schema")),
                }
            }
        }
        Value::Array(items) => {
            for (number, item) in items.iter().enumerate() {
                complaints(item, &schema["items"], &format!("{at}[{number}]"), all);
            }
        }
        _ => {}
    }
}

fn names(value: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    match value {
        Value::Array(all) => all.iter().filter_map(text).collect(),
        one => text(one).into_iter().collect(),
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Objects whose keys are names of counters, registers or the like.
const MAPS: [&str; 3] = ["counted", "registers", "counters"];

/// A schema that these values have, for whoever writes the page anew.
pub fn of(values: &[&Value], name: &str) -> Value {
    let mut types: Vec<&str> = values.iter().map(|value| kind(value)).collect();
    types.sort_unstable();
    types.dedup();
    if types.contains(&"number") {
        types.retain(|name| *name != "integer");
    }
    let mut schema = Map::new();
    let types = match types.as_slice() {
        // What it is where it is known did not come up.
        ["null"] => None,
        [one] => Some(json!(one)),
        several => Some(json!(several)),
    };
    schema.extend(types.map(|types| ("type".to_owned(), types)));
    let objects: Vec<_> = values
        .iter()
        .filter_map(|value| value.as_object())
        .collect();
    if let Some(first) = objects.first() {
        let mut keys: Vec<&String> = Vec::new();
        for key in objects.iter().flat_map(|object| object.keys()) {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        let of_key = |key: &str| -> Vec<&Value> {
            let each = objects.iter();
            each.filter_map(|object| object.get(key)).collect()
        };
        if MAPS.contains(&name) {
            let each: Vec<_> = objects.iter().flat_map(|object| object.values()).collect();
            schema.insert("additionalProperties".into(), of(&each, ""));
        } else {
            let required: Vec<_> = first
                .keys()
                .filter(|key| objects.iter().all(|object| object.contains_key(*key)))
                .collect();
            schema.insert("required".into(), json!(required));
            let properties = keys
                .iter()
                .map(|key| ((*key).clone(), of(&of_key(key), key)));
            schema.insert("properties".into(), Value::Object(properties.collect()));
        }
    }
    let items: Vec<_> = values
        .iter()
        .filter_map(|value| value.as_array())
        .flatten()
        .collect();
    if !items.is_empty() {
        schema.insert("items".into(), of(&items, ""));
    }
    Value::Object(schema)
}

/// As the page has it: a property a line.
pub fn on_the_page(schema: &Value) -> String {
    let fields = schema["properties"].as_object().into_iter().flatten();
    let lines: Vec<_> = fields
        .map(|(name, of)| format!("  {}: {of}", json!(name)))
        .collect();
    let (types, required) = (&schema["type"], &schema["required"]);
    let properties = lines.join(",\n");
    format!(
        "{{\"type\": {types}, \"required\": {required}, \"properties\": {{\n{properties}\n}}}}\n"
    )
}
