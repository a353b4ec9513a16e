//! A reply as bytes for other processes of this host: as RESP3 writes it, which has a form for everything.

use super::json::digits;
use redis::{parse_redis_value, Value, VerbatimFormat};

/// `None` for what is no reply of a read.
pub(super) fn pack(value: &Value) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    write(value, &mut out)?;
    Some(out)
}

/// The value of bytes that `pack` made.
pub(super) fn unpack(bytes: &[u8]) -> Option<Value> {
    parse_redis_value(bytes).ok()
}

fn write(value: &Value, out: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Nil => line(b'_', "", out),
        Value::Int(number) => line(b':', &number.to_string(), out),
        Value::Double(number) => line(b',', &number.to_string(), out),
        Value::Boolean(yes) => line(b'#', if *yes { "t" } else { "f" }, out),
        Value::BigNumber(number) => line(b'(', &digits(number), out),
        Value::Okay => line(b'+', "OK", out),
        Value::SimpleString(text) => line(b'+', text, out),
        Value::BulkString(bytes) => bulk(b'$', &[bytes], out),
        Value::VerbatimString { format, text } => {
            let format = match format {
                VerbatimFormat::Text => "txt",
                VerbatimFormat::Markdown => "mkd",
                VerbatimFormat::Unknown(format) => format,
                _ => return None,
            };
            bulk(b'=', &[format.as_bytes(), b":", text.as_bytes()], out);
        }
        Value::Array(list) => return write_list(b'*', list, out),
        Value::Set(list) => return write_list(b'~', list, out),
        Value::Map(pairs) => {
            line(b'%', &pairs.len().to_string(), out);
            for (name, value) in pairs {
                write(name, out)?;
                write(value, out)?;
            }
        }
        Value::Attribute { data, .. } => return write(data, out),
        _ => return None,
    }
    Some(())
}

fn write_list(kind: u8, list: &[Value], out: &mut Vec<u8>) -> Option<()> {
    line(kind, &list.len().to_string(), out);
    list.iter().try_for_each(|one| write(one, out))
}

fn bulk(kind: u8, parts: &[&[u8]], out: &mut Vec<u8>) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    line(kind, &length.to_string(), out);
    parts.iter().for_each(|part| out.extend_from_slice(part));
    out.extend_from_slice(b"\r\n");
}

fn line(kind: u8, text: &str, out: &mut Vec<u8>) {
    out.push(kind);
    out.extend_from_slice(text.as_bytes());
    out.extend_from_slice(b"\r\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_server_answers_comes_back_as_it_was() {
        let text = |text: &str| Value::BulkString(text.into());
        let verbatim = |format, text: &str| Value::VerbatimString {
            format,
            text: text.into(),
        };
        let all = Value::Array(vec![
            Value::Nil,
            Value::Int(i64::MIN),
            Value::Double(0.1 + 0.2),
            Value::Double(f64::INFINITY),
            Value::Double(-1e300),
            Value::Double(5e-324),
            Value::Boolean(true),
            Value::Boolean(false),
            Value::Okay,
            Value::SimpleString("string".into()),
            Value::BulkString(vec![0, 255, 13, 10]),
            text(""),
            verbatim(VerbatimFormat::Text, "a\r\nb"),
            verbatim(VerbatimFormat::Markdown, ""),
            verbatim(VerbatimFormat::Unknown("abc".into()), "ö"),
            Value::Array(vec![]),
            Value::Set(vec![text("m")]),
            Value::Map(vec![
                (text("a"), Value::Map(vec![])),
                (Value::Int(1), Value::Nil),
            ]),
            unpack(b"(3492890328409238509324850943850943825024385\r\n").unwrap(),
        ]);
        assert_eq!(unpack(&pack(&all).unwrap()), Some(all));
        let push = Value::Push {
            kind: redis::PushKind::Message,
            data: vec![],
        };
        assert_eq!(pack(&push), None);
    }
}
