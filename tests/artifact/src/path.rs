//! Where a number is in JSON.

use serde_json::Value;

/// The number at a path: names with dots between; behind a name `[3]`, or `[name=host;loss=0]` for the first element that is so.
pub fn number(value: &Value, path: &str) -> Option<f64> {
    let (mut value, mut inside) = (value, false);
    // A dot in brackets is a name's.
    let between = |c: char| {
        inside = (inside || c == '[') && c != ']';
        c == '.' && !inside
    };
    for step in path.split(between) {
        let (name, rest) = step.split_once('[').unwrap_or((step, ""));
        value = value.get(name)?;
        if let Some(which) = rest.strip_suffix(']') {
            value = element(value.as_array()?, which)?;
        }
    }
    value.as_f64()
}

fn element<'a>(list: &'a [Value], which: &str) -> Option<&'a Value> {
    if let Ok(at) = which.parse::<usize>() {
        return list.get(at);
    }
    let is = |one: &Value, condition: &str| {
        let (name, wanted) = condition.split_once('=')?;
        // A name may be one of an object inside.
        let found = name.split('/').try_fold(one, |one, name| one.get(name))?;
        let found = match found {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(found == wanted)
    };
    let all = |one: &&Value| which.split(';').all(|each| is(one, each) == Some(true));
    list.iter().find(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_found_by_place_and_by_what_is_beside_it() {
        let value = serde_json::json!({
            "runs": [
                {"of": {"name": "a"}, "loss": 0, "gbps": 1.5},
                {"of": {"name": "a"}, "loss": 10, "gbps": [2.5]},
            ]
        });
        assert_eq!(number(&value, "runs[0].gbps"), Some(1.5));
        let dots = serde_json::json!({"a": [{"b": 0.5, "c": [7]}]});
        assert_eq!(number(&dots, "a[b=0.5].c[0]"), Some(7.0));
        assert_eq!(number(&value, "runs[of/name=a;loss=10].gbps[0]"), Some(2.5));
        for nowhere in [
            "",
            "runs",
            "runs[2].gbps",
            "runs[loss=1].gbps",
            "runs[",
            "runs[=].a",
            "runs[0].of",
        ] {
            assert_eq!(number(&value, nowhere), None, "{nowhere}");
        }
    }
}
