//! Ours in one process' memory.

use super::Subject;

pub const SUBJECT: Subject = Subject {
    name: "polycache",
    note: "",
    build: |_| Err("not built yet: the memory tier's policy".into()),
};
