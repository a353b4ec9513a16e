//! Chooses a content coding by the field Accept-Encoding (RFC 9110 12.5.3).

use crate::Coding;

/// What a client gets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Choice {
    Identity,
    Coded(Coding),
    /// It accepts nothing that there is.
    Nothing,
}

/// Weights in thousandths, by what they are for.
#[derive(Default)]
struct Weights {
    codings: [Option<u16>; Coding::ALL.len()],
    identity: Option<u16>,
    /// `*`, which stands for those that are not named.
    others: Option<u16>,
}

/// The coding for a request: of `codings`, which are in the server's order of preference.
///
/// A client without the field gets the bytes as they are, though it would have to accept any coding. Small bytes gain little
/// by compression, so they are compressed only for a client that accepts nothing else.
pub(crate) fn choose(field: Option<&str>, codings: &[Coding], is_small: bool) -> Choice {
    let Some(field) = field.filter(|field| !field.is_empty()) else {
        return Choice::Identity;
    };
    let weights = weights(field);
    let accepts_identity = match weights.identity {
        Some(weight) => weight > 0,
        None => weights.others != Some(0),
    };
    if is_small && accepts_identity {
        return Choice::Identity;
    }
    let mut best = None;
    // An identity that is not named is acceptable, and less so than a coding that is.
    let mut weight = match weights.identity {
        Some(weight) if accepts_identity => weight,
        _ => 0,
    };
    for coding in codings {
        let its = weights.codings[coding.index()]
            .or(weights.others)
            .unwrap_or(0);
        let is_better = match best {
            None => its > 0 && its >= weight,
            Some(_) => its > weight,
        };
        if is_better {
            best = Some(*coding);
            weight = its;
        }
    }
    match best {
        Some(coding) => Choice::Coded(coding),
        None if accepts_identity => Choice::Identity,
        None => Choice::Nothing,
    }
}

/// What is no coding with a weight is skipped; the last of repeated ones counts.
fn weights(field: &str) -> Weights {
    let mut weights = Weights::default();
    for element in field.split(',') {
        let Some((name, weight)) = element_of(element) else {
            continue;
        };
        let is = |other: &str| name.eq_ignore_ascii_case(other);
        if is("identity") {
            weights.identity = Some(weight);
        } else if name == "*" {
            weights.others = Some(weight);
        } else if let Some(coding) = Coding::ALL
            .into_iter()
            .find(|one| is(one.name()) || (*one == Coding::Gzip && is("x-gzip")))
        {
            weights.codings[coding.index()] = Some(weight);
        }
    }
    weights
}

fn element_of(element: &str) -> Option<(&str, u16)> {
    let blank = [' ', '\t'];
    let (name, parameter) = match element.split_once(';') {
        None => (element, None),
        Some((name, parameter)) => (name, Some(parameter.trim_matches(blank))),
    };
    let name = name.trim_matches(blank);
    let weight = match parameter {
        None => 1000,
        Some(text) => weight_of(text.strip_prefix(['q', 'Q'])?.strip_prefix('=')?)?,
    };
    (!name.is_empty()).then_some((name, weight))
}

/// `0`, `1`, and up to three digits after a point (RFC 9110 12.4.2), in thousandths.
fn weight_of(text: &str) -> Option<u16> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
    let whole = match whole {
        "0" => 0,
        "1" => 1000,
        _ => return None,
    };
    if fraction.len() > 3 || !fraction.bytes().all(|digit| digit.is_ascii_digit()) {
        return None;
    }
    let scale = [0, 100, 10, 1][fraction.len()];
    let part = fraction.parse::<u16>().unwrap_or(0) * scale;
    Some(whole + part).filter(|weight| *weight <= 1000)
}
