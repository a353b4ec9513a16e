//! Values for people.

use crate::human;
use crate::output::{Output, Style};
use crate::text;
use polycache::{CompressorId, Facts, TtlLeft, Value};
use polycache_json::{compressor_name, hex, rfc3339, type_name, uuid};

/// A list or map that fits is written on one line of this many characters.
const WIDTH: usize = 78;
/// Number of bytes shown for a byte string within a value.
const BYTES_SHOWN: usize = 16;

/// A whole value on one or more lines, the last without a line end, harmless to a terminal.
pub fn value(output: &Output, value: &Value<'_>) -> String {
    match value {
        Value::Text(text) => text::block(text),
        Value::Bytes(bytes) => dump(bytes),
        other => nested(output, other, 0),
    }
}

/// What an entry records about its value, on one line.
///
/// Without a value when it cannot be decrypted.
pub fn facts(value: Option<&Value<'_>>, facts: &Facts) -> String {
    let mut kind = match value {
        Some(Value::List(values)) => {
            human::counted(values.len() as u64, "value in a list", "values in a list")
        }
        Some(Value::Set(values)) => {
            human::counted(values.len() as u64, "value in a set", "values in a set")
        }
        Some(Value::Map(pairs)) => {
            human::counted(pairs.len() as u64, "pair in a map", "pairs in a map")
        }
        Some(Value::Named(named)) => format!("a value of the type {}", quoted(&named.name)),
        Some(other) => type_name(other).to_owned(),
        None => "a value".to_owned(),
    };
    match facts.encryption_key {
        Some(id) => kind += &format!(", encrypted under the key {id}"),
        None if value.is_none() => kind += ", not encrypted",
        None => {}
    }
    let mut size = format!(
        "{} of {}",
        human::size(facts.payload),
        facts.serializer.name()
    );
    if facts.compressor != CompressorId::None {
        size += &format!(
            " in {} of {}",
            human::size(facts.size),
            compressor_name(facts.compressor)
        );
    }
    format!("{kind} · {size} · {} · {}", age(facts), left(facts))
}

/// `3m old`.
pub fn age(facts: &Facts) -> String {
    format!("{} old", human::duration(facts.age))
}

/// `2m left`.
pub fn left(facts: &Facts) -> String {
    match facts.ttl {
        TtlLeft::Forever => "does not expire".into(),
        TtlLeft::For(left) => format!("{} left", human::duration(left)),
    }
}

/// 16 bytes per line: offset, hexadecimal, text.
fn dump(bytes: &[u8]) -> String {
    let lines = bytes.chunks(16).enumerate().map(|(line, chunk)| {
        let (left, right) = chunk.split_at(chunk.len().min(8));
        let spaced = |half: &[u8]| {
            half.iter()
                .map(|byte| hex(&[*byte]))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let text: String = chunk
            .iter()
            .map(|byte| match byte {
                0x20..0x7f => char::from(*byte),
                _ => '.',
            })
            .collect();
        format!(
            "{:08x}  {:<23}  {:<23}  {text}",
            line * 16,
            spaced(left),
            spaced(right)
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn nested(output: &Output, value: &Value<'_>, indent: usize) -> String {
    match value {
        Value::List(values) => {
            let items = values.iter().map(|value| nested(output, value, indent + 1));
            enclosed("[", items.collect(), "]", indent)
        }
        Value::Set(values) => {
            let items = values.iter().map(|value| nested(output, value, indent + 1));
            enclosed("set [", items.collect(), "]", indent)
        }
        Value::Map(pairs) => {
            let items = pairs.iter().map(|(key, value)| {
                let key = output.paint(Style::Name, &quoted(key));
                format!("{key}: {}", nested(output, value, indent + 1))
            });
            enclosed("{", items.collect(), "}", indent)
        }
        Value::Named(named) => format!(
            "{} {}",
            output.paint(Style::Name, &quoted(&named.name)),
            nested(output, &named.value, indent)
        ),
        Value::Text(text) => output.paint(Style::Text, &quoted(text)),
        Value::Null => output.paint(Style::Dim, "null"),
        other => output.paint(Style::Other, &scalar(other)),
    }
}

fn scalar(value: &Value<'_>) -> String {
    match value {
        Value::Bool(value) => value.to_string(),
        Value::Int(value) => value.to_string(),
        Value::BigInt(digits) => digits.to_string(),
        Value::Float(value) => format!("{value:?}"),
        Value::Bytes(bytes) if bytes.len() <= BYTES_SHOWN => format!("bytes {}", hex(bytes)),
        Value::Bytes(bytes) => {
            let shown = hex(&bytes[..BYTES_SHOWN]);
            format!("bytes {shown}… ({})", human::size(bytes.len() as u64))
        }
        Value::Timestamp { seconds, nanos } => rfc3339(*seconds, *nanos),
        Value::Decimal(text) => format!("decimal {text}"),
        Value::Uuid(bytes) => uuid(bytes),
        other => type_name(other).to_owned(),
    }
}

fn quoted(whole: &str) -> String {
    let mut shown = String::from("\"");
    for character in whole.chars() {
        match character {
            '"' | '\\' | '\n' | '\t' | '\r' => shown.extend(character.escape_default()),
            control if text::is_unsafe(control) => shown.extend(control.escape_default()),
            other => shown.push(other),
        }
    }
    shown + "\""
}

/// Items on one line if that is short enough, else one per line.
fn enclosed(open: &str, items: Vec<String>, close: &str, indent: usize) -> String {
    let short = items
        .iter()
        .map(|item| visible_len(item) + 2)
        .sum::<usize>()
        + 2 * indent
        + open.len();
    if short <= WIDTH && !items.iter().any(|item| item.contains('\n')) {
        return format!("{open}{}{close}", items.join(", "));
    }
    let inner = "  ".repeat(indent + 1);
    let lines: Vec<_> = items.iter().map(|item| format!("{inner}{item}")).collect();
    format!(
        "{open}\n{}\n{}{close}",
        lines.join(",\n"),
        "  ".repeat(indent)
    )
}

/// Characters of `text` without its colours.
fn visible_len(text: &str) -> usize {
    let mut colour = false;
    text.chars()
        .filter(|character| {
            let visible = !colour && *character != '\x1b';
            colour = *character == '\x1b' || (colour && *character != 'm');
            visible
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use polycache::Named;

    fn shown(shown: Value<'_>) -> String {
        value(&Output::new(false), &shown)
    }

    #[test]
    fn text_cannot_steer_the_terminal() {
        assert_eq!(
            shown("a\nb\tc\u{1b}[31m\u{9b}\r\u{202e}".into()),
            "a\nb\tc\\u{1b}[31m\\u{9b}\\r\\u{202e}"
        );
        let named = Value::from(Named::new("\u{1b}[31m", "a".into()));
        assert_eq!(shown(named), r#""\u{1b}[31m" "a""#);
        let list = Value::List(vec!["\u{1b}]0;\n\"\u{2067}".into()]);
        assert_eq!(shown(list), r#"["\u{1b}]0;\n\"\u{2067}"]"#);
    }

    #[test]
    fn bytes_are_dumped() {
        let bytes: Vec<u8> = (0x2e..0x40).collect();
        assert_eq!(
            shown(bytes.into()),
            "00000000  2e 2f 30 31 32 33 34 35  36 37 38 39 3a 3b 3c 3d  ./0123456789:;<=\n\
             00000010  3e 3f                                             >?"
        );
        assert_eq!(shown(Value::from(vec![])), "");
    }

    #[test]
    fn short_values_take_one_line_and_long_ones_several() {
        let pairs = vec![
            ("id".into(), Value::from(7i64)),
            ("key".into(), Value::Uuid([0; 16])),
        ];
        assert_eq!(
            shown(Value::Map(pairs.clone())),
            r#"{"id": 7, "key": 00000000-0000-0000-0000-000000000000}"#
        );
        let long = Value::List(vec![
            Value::Map(pairs),
            Value::from("x".repeat(60)),
            Value::Set(vec![]),
        ]);
        let expected = format!(
            "[\n  {{\"id\": 7, \"key\": 00000000-0000-0000-0000-000000000000}},\n  \"{}\",\n  set []\n]",
            "x".repeat(60)
        );
        assert_eq!(shown(long), expected);
    }

    #[test]
    fn colours_take_no_room() {
        assert_eq!(visible_len("\x1b[32mab\x1b[0mc"), 3);
    }
}
