//! What every subject writes and reads: the names and sizes of the published page, with a list that
//! does not grow.

pub const STRING: &str = "value";
pub const PAIR: [&str; 2] = ["item1", "item2"];
pub const FIELDS: [(&str, &str); 2] = [("field1", "value1"), ("field2", "value2")];
pub const MEMBERS: [&str; 2] = ["member1", "member2"];
pub const SCORES: [(i64, &str); 3] = [(1, "member1"), (2, "member2"), (3, "member3")];

/// The names of keys; a bare client's caller names them in full.
pub struct Dataset {
    pub key: String,
    pub many: Vec<String>,
    pub pushed: String,
    pub list: String,
    pub hash: String,
    pub set: String,
    pub users: Vec<String>,
    pub pattern: String,
    pub sorted: String,
    pub first: String,
    pub second: String,
}

impl Dataset {
    pub fn new(prefix: &str) -> Self {
        let name = |name: &str| format!("{prefix}{name}");
        Self {
            key: name("key"),
            many: (0..10).map(|n| name(&format!("mkey{n}"))).collect(),
            pushed: name("pushed"),
            list: name("list"),
            hash: name("hash"),
            set: name("set"),
            users: (0..10).map(|n| name(&format!("user:{n}"))).collect(),
            pattern: name("user:*"),
            sorted: name("zset"),
            first: name("tx_key1"),
            second: name("tx_key2"),
        }
    }

    /// Every key that is there once each operation has run.
    pub fn keys(&self) -> Vec<&String> {
        let one = [&self.key, &self.pushed, &self.list, &self.hash, &self.set];
        let others = [&self.sorted, &self.first, &self.second];
        let several = self.many.iter().chain(&self.users);
        one.into_iter().chain(others).chain(several).collect()
    }
}

pub fn items() -> Vec<String> {
    (0..100).map(|n| format!("item{n:03}")).collect()
}

pub fn ten() -> Vec<String> {
    (0..10).map(|n| format!("value{n}")).collect()
}
