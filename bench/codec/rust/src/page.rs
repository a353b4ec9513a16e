//! The published page's test data. Its map has no order, so every process writes it in another one;
//! the sizes are the same in all.

use serde::{Deserialize, Serialize};
use std::collections::HashMap;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Page {
    pub id: u64,
    pub name: String,
    pub values: Vec<i32>,
    pub metadata: HashMap<String, String>,
}

const ID: u64 = 12_345;

/// 3 values, no metadata.
pub fn small() -> Page {
    Page {
        id: ID,
        name: "test".into(),
        values: vec![1, 2, 3],
        metadata: HashMap::new(),
    }
}

/// 100 values, 10 short texts.
pub fn medium() -> Page {
    Page {
        id: ID,
        name: "test medium data structure".into(),
        values: (0..100).collect(),
        metadata: (0..10)
            .map(|n| (format!("key_{n}"), format!("value_{n}")))
            .collect(),
    }
}

/// 1,000 values, 100 texts of 100 times the letter x.
pub fn large() -> Page {
    Page {
        id: ID,
        name: "test large data structure with lots of content".into(),
        values: (0..1000).collect(),
        metadata: (0..100)
            .map(|n| (format!("key_{n}"), "x".repeat(100)))
            .collect(),
    }
}
