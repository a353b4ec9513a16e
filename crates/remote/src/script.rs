//! The scripts: each looks at one key and changes it as one step of the server.

use std::sync::OnceLock;

/// A script; drivers send EVALSHA, and EVAL when the server does not know it (`NOSCRIPT`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Script {
    /// `K pending px dead`: makes the key pending where nothing is, or what begins with `dead`.
    Acquire,
    /// `K head record px`: replaces what begins with `head`. `px` 0: without an expiry.
    Exchange,
    /// `K head`: removes what begins with `head`.
    Remove,
    /// `K record px dead`: stores where nothing is, or something pending, or what begins with `dead`.
    Add,
    /// `clock`: the number of a new clear.
    Clear,
    /// `floor n`: raises it.
    Floor,
    /// `sweep`: the cleared namespace that waits longest, and the number of its clear.
    NextSwept,
    /// `sweep n member`: takes a namespace off, unless it was cleared again.
    Swept,
}

impl Script {
    /// All of them.
    pub const ALL: [Script; 8] = [
        Script::Acquire,
        Script::Exchange,
        Script::Remove,
        Script::Add,
        Script::Clear,
        Script::Floor,
        Script::NextSwept,
        Script::Swept,
    ];

    /// The SHA-1 of its text, in hexadecimal digits: what EVALSHA calls it.
    #[must_use]
    pub fn digest(self) -> &'static str {
        static DIGESTS: OnceLock<[String; Script::ALL.len()]> = OnceLock::new();
        let digests = DIGESTS.get_or_init(|| {
            Script::ALL.map(|script| sha1_smol::Sha1::from(script.text()).digest().to_string())
        });
        &digests[self as usize]
    }

    /// The text in Lua.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Script::Acquire => {
                "local v = redis.call('GET', KEYS[1])\n\
                 if v and (ARGV[3] == '' or string.sub(v, 1, #ARGV[3]) ~= ARGV[3]) then return v end\n\
                 redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])\n\
                 return false"
            }
            Script::Exchange => {
                "if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return 0 end\n\
                 if ARGV[3] == '0' then redis.call('SET', KEYS[1], ARGV[2])\n\
                 else redis.call('SET', KEYS[1], ARGV[2], 'PX', ARGV[3]) end\n\
                 return 1"
            }
            Script::Remove => {
                "if redis.call('GETRANGE', KEYS[1], 0, #ARGV[1] - 1) ~= ARGV[1] then return 0 end\n\
                 redis.call('UNLINK', KEYS[1])\n\
                 return 1"
            }
            Script::Add => {
                "local h = redis.call('GETRANGE', KEYS[1], 0, 39)\n\
                 if h ~= '' and string.sub(h, 1, 2) ~= '\\193\\130' \
                 and (ARGV[3] == '' or string.sub(h, 1, #ARGV[3]) ~= ARGV[3]) then return h end\n\
                 if ARGV[2] == '0' then redis.call('SET', KEYS[1], ARGV[1])\n\
                 else redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2]) end\n\
                 return 1"
            }
            Script::Clear => {
                // A clock that is missing was flushed, perhaps one of this very millisecond, which writers still
                // know. No further ahead, though: a failover may lose it, and then the time alone is above it.
                "local t = redis.call('TIME')\n\
                 local now = t[1] * 1000 + math.floor(t[2] / 1000)\n\
                 local last = tonumber(redis.call('GET', KEYS[1]))\n\
                 local n = last and math.max(last + 1, now) or now + 1\n\
                 redis.call('SET', KEYS[1], string.format('%.0f', n))\n\
                 return n"
            }
            Script::Floor => {
                "if (tonumber(redis.call('GET', KEYS[1])) or 0) < tonumber(ARGV[1]) then redis.call('SET', KEYS[1], ARGV[1]) end\n\
                 return 1"
            }
            Script::NextSwept => "return redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')",
            Script::Swept => {
                "if tonumber(redis.call('ZSCORE', KEYS[1], ARGV[2])) ~= tonumber(ARGV[1]) then return 0 end\n\
                 return redis.call('ZREM', KEYS[1], ARGV[2])"
            }
        }
    }
}
