//! Where the values of a memory tier were read: by the number that the tier gave each of them.

use super::with_origins;
use crate::call::{answer, Answer};
use crate::error;
use napi::sys;
use polycache::bindings::{Bindings, MemoryHits};
use polycache::{Cache, Origin};

/// One hit in so many tells the host tier that the entry is in use (`spec/memory.md`); a power of two.
const LOOKS: u64 = 16;

/// Numbers that a tier can have: so many entries it may be told to keep.
const MOST: usize = 1 << 24;

/// Of one handle.
#[derive(Default)]
pub(super) struct Origins {
    all: Vec<Option<Origin>>,
    hits: u64,
    added: MemoryHits,
}

impl Origins {
    fn keep(&mut self, number: usize, origin: Origin) {
        if number >= self.all.len() {
            self.all.resize(number + 1, None);
        }
        self.all[number] = Some(origin);
    }

    /// Whether a read of the copy would find the same; a hit if so.
    #[inline]
    fn stands(&mut self, cache: &Cache, number: usize) -> bool {
        let Some(Some(origin)) = self.all.get(number) else {
            return false;
        };
        if !cache.stands(origin) {
            return false;
        }
        self.hits += 1;
        if self.hits % LOOKS == 0 {
            cache.mark_visited(origin);
            self.report(cache);
        }
        true
    }

    /// Adds the hits to what the machine counts.
    pub fn report(&self, cache: &Cache) {
        cache.add_memory_hits(&self.added, self.hits);
    }
}

/// `keep(root, number, origin)`: the value that the memory tier keeps by this number was read there.
pub(super) unsafe extern "C" fn keep(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<3>(env, info, |call| {
        let number = call.integer(1)? as usize;
        if number >= MOST {
            return Err(error::invalid("no memory tier has so many entries"));
        }
        let origin = Origin::of_words(call.words(2)?);
        with_origins(call.integer(0)?, |_, origins| {
            origins.keep(number, origin);
            Ok(Answer::Nothing)
        })
    })
}

/// `stands(root, number)`: whether the value may be served again, which is a use of it.
pub(super) unsafe extern "C" fn stands(
    env: sys::napi_env,
    info: sys::napi_callback_info,
) -> sys::napi_value {
    answer::<2>(env, info, |call| {
        let number = call.integer(1)? as usize;
        with_origins(call.integer(0)?, |cache, origins| {
            Ok(Answer::Boolean(origins.stands(cache, number)))
        })
    })
}
