//! Commands as they go over the wire: arrays of bulk strings (RESP,
//! <https://redis.io/docs/latest/develop/reference/protocol-spec/>).

use std::borrow::Cow;

use crate::rules::Words;

/// Splits what redis-rs has encoded into commands again; None where it is something else.
pub(crate) fn unpack(mut bytes: &[u8]) -> Option<Vec<Words<'_>>> {
    let mut commands = Vec::new();
    while !bytes.is_empty() {
        let (count, rest) = number(bytes, b'*')?;
        bytes = rest;
        let mut words = Vec::with_capacity(count);
        for _ in 0..count {
            let (size, rest) = number(bytes, b'$')?;
            let (word, rest) = rest.split_at_checked(size)?;
            words.push(Cow::Borrowed(word));
            bytes = rest.strip_prefix(b"\r\n")?;
        }
        commands.push(words);
    }
    Some(commands)
}

/// Appends a command.
pub(crate) fn pack(words: &[Cow<'_, [u8]>], into: &mut Vec<u8>) {
    header(b'*', words.len(), into);
    for word in words {
        header(b'$', word.len(), into);
        into.extend_from_slice(word);
        into.extend_from_slice(b"\r\n");
    }
}

fn number(bytes: &[u8], kind: u8) -> Option<(usize, &[u8])> {
    let bytes = bytes.strip_prefix(&[kind])?;
    let end = bytes.iter().position(|&byte| byte == b'\r')?;
    let (digits, rest) = bytes.split_at(end);
    let mut number: usize = 0;
    for digit in digits {
        let digit = digit.checked_sub(b'0').filter(|digit| *digit < 10)?;
        number = number.checked_mul(10)?.checked_add(usize::from(digit))?;
    }
    Some((number, rest.strip_prefix(b"\r\n")?))
}

fn header(kind: u8, number: usize, into: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    into.push(kind);
    into.extend_from_slice(&digits[at..]);
    into.extend_from_slice(b"\r\n");
}
