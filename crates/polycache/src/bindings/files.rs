//! Values that are written and read piece by piece, where the tier keeps each as a file: [`Files`].

use crate::observe;
use crate::tier::{NewFile, StoreTier, ValueFile};
use crate::{Cache, Compressor, Error, Serializer, Ttl};
use polycache_entry::{encode_payload, seal_head, Checksum, EntryOptions};

/// How a value is written piece by piece.
#[derive(Debug)]
pub struct BegunFile {
    /// Where to. `None` where a value has to be in memory as a whole: without such a store, and with a compressor, keys or
    /// a time to idle.
    pub file: Option<NewFile>,
    /// Where the value's bytes go in the file; what is before them is written at the end.
    pub offset: u64,
    /// Most bytes of the value that an entry has room for, in a file.
    pub max_in_entry: u64,
    /// Most bytes that readers accept.
    pub max_value: u64,
}

/// A [`Cache`] whose values are files.
pub trait Files {
    /// Checks the arguments of a write, and says where its value goes.
    ///
    /// # Errors
    /// `InvalidArgument` for the time to live, `ReadOnly`, `NoSpace`, `Io`, `Closed`.
    fn begin_file(&self, key: &[u8], ttl: Ttl) -> Result<BegunFile, Error>;

    /// Stores the bytes that were written in the file, `len` of them with this CRC-32, as [`Cache::set_value`] does.
    ///
    /// # Errors
    /// The same errors.
    fn put_file(
        &self,
        key: &[u8],
        file: &NewFile,
        crc: u32,
        len: u64,
        ttl: Ttl,
    ) -> Result<(), Error>;

    /// The key's value as a file; `None` for a miss.
    ///
    /// # Errors
    /// Those of [`Cache::get_with`].
    fn open_file(&self, key: &[u8]) -> Result<Option<ValueFile>, Error>;
}

impl Cache {
    fn tier_of_files(&self) -> Option<&StoreTier> {
        let tier = self.tier().byte_store().filter(|tier| tier.has_files())?;
        let settings = self.settings();
        let is_plain = settings.compressor == Compressor::None && settings.encryption.is_none();
        (is_plain && settings.time_to_idle == 0).then_some(tier)
    }

    /// An entry without its payload.
    fn head(&self, key: &[u8], ttl: Ttl) -> Result<Vec<u8>, Error> {
        let write = |options: &EntryOptions<'_>, out: &mut Vec<u8>| {
            encode_payload(b"", Serializer::Bytes, options, out)
        };
        let mut head = Vec::new();
        self.write(key, write, ttl, &mut head)?;
        Ok(head)
    }
}

impl Files for Cache {
    fn begin_file(&self, key: &[u8], ttl: Ttl) -> Result<BegunFile, Error> {
        self.still_open()?;
        let offset = self.head(key, ttl)?.len() as u64;
        let tier = self.tier_of_files();
        let max_entry = tier.map_or(u64::MAX, |tier| tier.max_entry(key));
        Ok(BegunFile {
            file: tier.map(StoreTier::new_file).transpose()?,
            offset,
            max_in_entry: max_entry.saturating_sub(offset),
            max_value: self.limits().max_length,
        })
    }

    fn put_file(
        &self,
        key: &[u8],
        file: &NewFile,
        crc: u32,
        len: u64,
        ttl: Ttl,
    ) -> Result<(), Error> {
        self.still_open()?;
        let Some(tier) = self.tier_of_files() else {
            return Err(Error::invalid("the cache keeps no values in files"));
        };
        let limit = self.limits().max_length;
        let result = if len > limit {
            let error = Error::ValueTooLarge { size: len, limit };
            Err(self.refused(key, error))
        } else {
            self.head(key, ttl).and_then(|mut head| {
                seal_head(&mut head, &Checksum::of(crc, len))?;
                tier.put_file(key, file, &head, len)
            })
        };
        let bytes = usize::try_from(len).unwrap_or(usize::MAX);
        observe::stored(self, key, bytes, result.as_ref().copied());
        result
    }

    fn open_file(&self, key: &[u8]) -> Result<Option<ValueFile>, Error> {
        self.still_open()?;
        let Some(tier) = self.tier_of_files() else {
            return Ok(Some(ValueFile::Whole));
        };
        let opened = tier.open_file(key, self.limits().max_length);
        match &opened {
            Ok(None) => observe::read(self, key, observe::Answer::Miss),
            Ok(Some(ValueFile::Plain { .. })) => observe::read(self, key, self.tier().answer()),
            Ok(Some(ValueFile::Whole)) => {}
            Err(error) => observe::unreadable(self, key, error),
        }
        opened
    }
}
