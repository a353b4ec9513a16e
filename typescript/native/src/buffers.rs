//! ArrayBuffers over the mapping.

use napi::bindgen_prelude::{ArrayBuffer, Env, FromNapiValue};
use napi::{check_status, sys, Result};
use napi_derive::napi;
use polycache_host::Store;
use std::ffi::c_void;
use std::ptr;

/// An ArrayBuffer over a mapping of the store, which lives on until the buffer is detached or
/// collected. `None` where this engine allows no external memory (Electron).
///
/// napi's own `from_external` would copy the mapping then. Neither this nor the engines' own
/// bookkeeping needs `napi_adjust_external_memory`, which aborts at exit on Node 24 and 26.
pub(crate) fn over<'env>(
    env: &'env Env,
    store: &Store,
    mapping: &memmap2::MmapRaw,
) -> Result<Option<ArrayBuffer<'env>>> {
    let keeper = Box::into_raw(Box::new(store.clone())).cast::<c_void>();
    let mut value = ptr::null_mut();
    // SAFETY: the mapping is valid for its length and lives as long as the keeper, which the
    // finalizer drops when the engine has let go of the memory.
    let status = unsafe {
        sys::napi_create_external_arraybuffer(
            env.raw(),
            mapping.as_mut_ptr().cast(),
            mapping.len(),
            Some(drop_keeper),
            keeper,
            &mut value,
        )
    };
    if status != sys::Status::napi_ok {
        // SAFETY: the engine took nothing, so the box is still ours.
        drop(unsafe { Box::from_raw(keeper.cast::<Store>()) });
    }
    if status == sys::Status::napi_no_external_buffers_allowed {
        return Ok(None);
    }
    check_status!(status, "cannot make an ArrayBuffer over the mapping")?;
    // SAFETY: the value was just made by this environment.
    unsafe { ArrayBuffer::from_napi_value(env.raw(), value) }.map(Some)
}

unsafe extern "C" fn drop_keeper(_: sys::napi_env, _: *mut c_void, keeper: *mut c_void) {
    // SAFETY: the pointer is the box that `over` gave away, and a finalizer is called once.
    drop(unsafe { Box::from_raw(keeper.cast::<Store>()) });
}

/// Takes the memory away from a buffer over the mapping; its length is 0 afterwards.
#[napi]
pub fn detach(buffer: ArrayBuffer<'_>) -> Result<()> {
    buffer.detach()
}
