//! Which processes of a host live, as other hosts see it.

/// A process that loads, wherever it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct HolderId {
    /// Its host: a number that its directory drew. 0: one that tells others nothing.
    pub host: u64,
    /// Its participant there: its number in the upper 16 bits, its incarnation in the others.
    pub participant: u64,
}

/// The text of a host's presence: its participants that live, 8 bytes each.
#[must_use]
pub fn presence(participants: &[u64]) -> Vec<u8> {
    let mut text = Vec::with_capacity(participants.len() * 8);
    for participant in participants {
        text.extend_from_slice(&participant.to_le_bytes());
    }
    text
}

/// Whether a participant is in a host's presence.
#[must_use]
pub fn is_present(text: &[u8], participant: u64) -> bool {
    text.chunks_exact(8)
        .any(|one| one == participant.to_le_bytes())
}
