//! Serializers and compressors that go well together: the configurations that skp-cache's page
//! recommends, under its names.
//!
//! ```
//! use polycache::{presets, Cache};
//!
//! let cache = Cache::builder().preset(presets::BALANCED).build()?;
//! cache.set("user:1", &("Ada", 36))?;
//! # Ok::<(), polycache::Error>(())
//! ```
//!
//! | the page | here | row in `make bench-codec`, "configurations" |
//! |---|---|---|
//! | High Performance; Speed First | [`HIGH_PERFORMANCE`], [`SPEED_FIRST`] | Bincode + Noop |
//! | Balanced (Default); Ideal Balance | [`BALANCED`], [`IDEAL_BALANCE`] | Bincode + Zstd L1 |
//! | Storage Optimized; Size First | [`STORAGE_OPTIMIZED`], [`SIZE_FIRST`] | Bincode + Zstd L3 |
//! | API/Cross-platform | [`CROSS_PLATFORM`] | JSON + Zstd L1 |
//! | Network Transfer; Interoperability | [`NETWORK_TRANSFER`], [`INTEROPERABILITY`] | MsgPack + Zstd L1 |
//! | Maximum Compression | [`MAXIMUM_COMPRESSION`] | Bincode + Zstd L9 |
//! | | [`DEFAULT`], [`SMART`] | MsgPack (table "serializers") |
//!
//! # Which one
//!
//! **The default is MessagePack without compression.** It is the one serializer that every language of a shared cache
//! reads and that has all of their types: bytes, whole numbers of 64 bits, timestamps. It costs almost no space: for
//! the page's data with 3, 100 and 1,000 numbers Bincode makes 13, 272 and 13,592 bytes, MessagePack without field
//! names 14, 275 and 13,564, JSON 57, 542 and 15,172 (the page's own figures, which `make bench-codec` reproduces). An
//! entry's header adds 24 bytes, and field names theirs, because other languages read structs by name. Compression is
//! off because every write and read pays for it and it saves only memory: choose [`SMART`] for large values with
//! repetitions; it compresses where that is worth it.
//!
//! **Bincode** is the fastest, but only typed Rust reads it, with exactly the type that was written: its fields have
//! neither names nor types. Another language that finds such an entry raises `UnsupportedSerializer`, as does
//! [`Cache::get_value`](crate::Cache::get_value); it is never a miss. So use the presets with it only for caches of
//! Rust programs.

use crate::{Compressor, Serializer};

/// How values become bytes: a serializer and a compressor, for
/// [`Builder::preset`](crate::Builder::preset).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// How values become bytes.
    pub serializer: Serializer,
    /// How they are compressed.
    pub compressor: Compressor,
}

const fn preset(serializer: Serializer, level: i32) -> Preset {
    Preset {
        serializer,
        compressor: Compressor::Zstd { level },
    }
}

/// The default of a cache: MessagePack, not compressed. Every language reads it.
///
/// ```
/// # use polycache::{presets, Cache, Serializer};
/// let cache = Cache::builder().preset(presets::DEFAULT).build()?;
/// cache.set("k", "value")?;
/// assert_eq!(cache.facts("k")?.unwrap().serializer, Serializer::MessagePack);
/// # Ok::<(), polycache::Error>(())
/// ```
pub const DEFAULT: Preset = Preset {
    serializer: Serializer::MessagePack,
    compressor: Compressor::None,
};

/// MessagePack, and zstd for values where it is worth it. Every language reads it.
///
/// ```
/// # use polycache::{presets, Cache, CompressorId};
/// let cache = Cache::builder().preset(presets::SMART).build()?;
/// cache.set("large", &"spam ".repeat(1000))?;
/// cache.set("small", "spam")?;
/// assert_eq!(cache.facts("large")?.unwrap().compressor, CompressorId::Zstd);
/// assert_eq!(cache.facts("small")?.unwrap().compressor, CompressorId::None);
/// # Ok::<(), polycache::Error>(())
/// ```
pub const SMART: Preset = Preset {
    serializer: Serializer::MessagePack,
    compressor: Compressor::Smart,
};

/// The page's "High Performance": Bincode, not compressed. For Rust programs only. ("Bincode, None/L1":
/// with Zstd it is [`BALANCED`].)
///
/// ```
/// # use polycache::{presets, Cache};
/// let cache = Cache::builder().preset(presets::HIGH_PERFORMANCE).build()?;
/// cache.set("point", &(1.5, -2.5))?;
/// assert_eq!(cache.get("point")?, Some((1.5, -2.5)));
/// # Ok::<(), polycache::Error>(())
/// ```
pub const HIGH_PERFORMANCE: Preset = Preset {
    serializer: Serializer::Bincode,
    compressor: Compressor::None,
};

/// The page's "Balanced (Default)": Bincode, Zstd 1. For Rust programs only.
///
/// ```
/// # use polycache::{presets, Cache};
/// let cache = Cache::builder().preset(presets::BALANCED).build()?;
/// cache.set("text", &"spam ".repeat(1000))?;
/// assert!(cache.facts("text")?.unwrap().size < 100);
/// # Ok::<(), polycache::Error>(())
/// ```
pub const BALANCED: Preset = preset(Serializer::Bincode, 1);

/// The page's "Storage Optimized": Bincode, Zstd 3. For Rust programs only.
///
/// ```
/// # use polycache::{presets, Cache};
/// let cache = Cache::builder().preset(presets::STORAGE_OPTIMIZED).build()?;
/// cache.set("text", &"spam ".repeat(1000))?;
/// assert!(cache.facts("text")?.unwrap().size < 100);
/// # Ok::<(), polycache::Error>(())
/// ```
pub const STORAGE_OPTIMIZED: Preset = preset(Serializer::Bincode, 3);

/// The page's "API/Cross-platform": JSON, Zstd 1. Every language reads it; JSON has no bytes, sets and timestamps: they
/// are refused.
///
/// ```
/// # use polycache::{presets, Cache};
/// let cache = Cache::builder().preset(presets::CROSS_PLATFORM).build()?;
/// cache.set("user", &std::collections::BTreeMap::from([("name", "Ada")]))?;
/// assert_eq!(cache.facts("user")?.unwrap().serializer.name(), "json");
/// # Ok::<(), polycache::Error>(())
/// ```
pub const CROSS_PLATFORM: Preset = preset(Serializer::Json, 1);

/// The page's "Network Transfer": MessagePack, Zstd 1. Every language reads it.
///
/// ```
/// # use polycache::{presets, Cache, Value};
/// let cache = Cache::builder().preset(presets::NETWORK_TRANSFER).build()?;
/// cache.set("list", &[1, 2, 3])?;
/// assert_eq!(cache.get_value("list")?, Some(Value::List(vec![1u64.into(), 2u64.into(), 3u64.into()])));
/// # Ok::<(), polycache::Error>(())
/// ```
pub const NETWORK_TRANSFER: Preset = preset(Serializer::MessagePack, 1);

/// The page's "Maximum Compression": Bincode, Zstd 9. For Rust programs only, and for values that are rarely written: a
/// write takes at least ten times as long as with [`BALANCED`].
///
/// ```
/// # use polycache::{presets, Cache};
/// let cache = Cache::builder().preset(presets::MAXIMUM_COMPRESSION).build()?;
/// cache.set("archive", &vec![7u64; 1000])?;
/// assert_eq!(cache.get::<Vec<u64>>("archive")?, Some(vec![7; 1000]));
/// # Ok::<(), polycache::Error>(())
/// ```
pub const MAXIMUM_COMPRESSION: Preset = preset(Serializer::Bincode, 9);

/// The page's "Speed First": as [`HIGH_PERFORMANCE`].
///
/// ```
/// # use polycache::presets;
/// assert_eq!(presets::SPEED_FIRST, presets::HIGH_PERFORMANCE);
/// ```
pub const SPEED_FIRST: Preset = HIGH_PERFORMANCE;

/// The page's "Ideal Balance": as [`BALANCED`].
///
/// ```
/// # use polycache::presets;
/// assert_eq!(presets::IDEAL_BALANCE, presets::BALANCED);
/// ```
pub const IDEAL_BALANCE: Preset = BALANCED;

/// The page's "Size First": as [`STORAGE_OPTIMIZED`].
///
/// ```
/// # use polycache::presets;
/// assert_eq!(presets::SIZE_FIRST, presets::STORAGE_OPTIMIZED);
/// ```
pub const SIZE_FIRST: Preset = STORAGE_OPTIMIZED;

/// The page's "Interoperability": as [`NETWORK_TRANSFER`].
///
/// ```
/// # use polycache::presets;
/// assert_eq!(presets::INTEROPERABILITY, presets::NETWORK_TRANSFER);
/// ```
pub const INTEROPERABILITY: Preset = NETWORK_TRANSFER;
