//! Bodies that are read to their end, within a limit.

use bytes::{Bytes, BytesMut};
use http_body::Body;
use http_body_util::BodyExt;
use std::pin::pin;

/// Why a body was not read to its end.
pub(super) enum Unread<E> {
    /// It is larger than the limit.
    TooLarge,
    /// It has fields behind it, which no stored answer has.
    Trailers,
    /// It broke off.
    Failed(E),
}

/// The whole body.
pub(super) async fn read_body<B: Body<Data = Bytes>>(
    body: B,
    limit: usize,
) -> Result<Bytes, Unread<B::Error>> {
    let mut body = pin!(body);
    let is_larger = |length: usize| length > limit;
    let told = usize::try_from(body.size_hint().lower());
    if told.map_or(true, is_larger) {
        return Err(Unread::TooLarge);
    }
    // Most bodies are one piece, which is not copied.
    let (mut first, mut rest) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(Unread::Failed)?;
        let data = frame.into_data().map_err(|_| Unread::Trailers)?;
        if is_larger(first.len() + rest.len() + data.len()) {
            return Err(Unread::TooLarge);
        }
        if first.is_empty() {
            first = data;
        } else {
            rest.extend_from_slice(&data);
        }
    }
    if rest.is_empty() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(first.len() + rest.len());
    whole.extend_from_slice(&first);
    whole.extend_from_slice(&rest);
    Ok(whole.freeze())
}
