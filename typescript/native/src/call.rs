//! One call of a plain Node-API callback: its arguments and its answer.

use crate::error;
use napi::bindgen_prelude::{External, FromNapiRef};
use napi::{check_status, sys, JsError, Result};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::ptr;

/// The arguments of a call.
pub(crate) struct Call<const N: usize> {
    env: sys::napi_env,
    arguments: [sys::napi_value; N],
}

/// The bytes of a payload, or the weight of a value that is too heavy.
pub(crate) type Payload<'a> = std::result::Result<&'a [u8], u64>;

impl<const N: usize> Call<N> {
    /// Asks for the arguments; those the caller left out are `undefined`.
    #[inline(always)]
    fn new(env: sys::napi_env, info: sys::napi_callback_info) -> Result<Call<N>> {
        let mut arguments = [ptr::null_mut(); N];
        let mut count = N;
        // SAFETY: the environment and the call are those that the engine is in; the array has room
        // for as many values as `count` says.
        let status = unsafe {
            sys::napi_get_cb_info(
                env,
                info,
                &mut count,
                arguments.as_mut_ptr(),
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        check_status!(status, "cannot get the arguments")?;
        Ok(Call { env, arguments })
    }

    /// The environment of the call.
    pub fn env(&self) -> sys::napi_env {
        self.env
    }

    /// The argument as an unsigned integer.
    #[inline(always)]
    pub fn integer(&self, place: usize) -> Result<u32> {
        let mut value = 0;
        // SAFETY: the value belongs to this call; the engine refuses one of another type.
        let status =
            unsafe { sys::napi_get_value_uint32(self.env, self.arguments[place], &mut value) };
        check_status!(status, "an argument is not a number")?;
        Ok(value)
    }

    /// The argument as a number.
    #[inline(always)]
    pub fn number(&self, place: usize) -> Result<f64> {
        let mut value = 0.0;
        // SAFETY: as above.
        let status =
            unsafe { sys::napi_get_value_double(self.env, self.arguments[place], &mut value) };
        check_status!(status, "an argument is not a number")?;
        Ok(value)
    }

    /// The argument as it is.
    pub fn value(&self, place: usize) -> sys::napi_value {
        self.arguments[place]
    }

    /// The bytes of a Uint8Array.
    #[inline(always)]
    pub fn bytes(&self, place: usize) -> Result<&[u8]> {
        let (data, length) = self.array(place, sys::TypedarrayType::uint8_array)?;
        if length == 0 {
            return Ok(&[]);
        }
        // SAFETY: the array is an argument, so it lives as long as the call, during which no
        // JavaScript of its thread runs. It is the package's own and never shared or handed out.
        Ok(unsafe { std::slice::from_raw_parts(data.cast(), length) })
    }

    /// A range of the bytes of a Uint8Array.
    #[inline(always)]
    pub fn range(&self, place: usize, from: usize, to: usize) -> Result<&[u8]> {
        self.bytes(place)?
            .get(from..to)
            .ok_or_else(|| error::invalid("a range lies outside its buffer"))
    }

    /// The payload at the beginning of a Uint8Array, as long as the argument behind it says. Below 0 that is the
    /// weight, negated, of a value that is too heavy to be stored.
    #[inline(always)]
    pub fn payload(&self, place: usize) -> Result<Payload<'_>> {
        let measured = self.number(place + 1)?;
        if measured < 0.0 {
            return Ok(Err(-measured as u64));
        }
        self.range(place, 0, measured as usize).map(Ok)
    }

    /// The thing behind a handle that this part gave out.
    pub fn external<T: 'static>(&self, place: usize) -> Result<&T> {
        // SAFETY: the value belongs to this call, which keeps it alive; one of another type is refused.
        let found = unsafe { External::<T>::from_napi_ref(self.env, self.arguments[place])? };
        Ok(found)
    }

    /// Copies a byte and bytes to the beginning of a Uint8Array when it has room for them.
    #[inline(always)]
    pub fn fill_behind(&self, place: usize, first: u8, bytes: &[u8]) -> Result<()> {
        let (data, length) = self.array(place, sys::TypedarrayType::uint8_array)?;
        if bytes.len() < length {
            let data = data.cast::<u8>();
            // SAFETY: as for `fill_bytes`.
            unsafe {
                *data = first;
                ptr::copy_nonoverlapping(bytes.as_ptr(), data.add(1), bytes.len());
            }
        }
        Ok(())
    }

    /// Copies bytes to the beginning of a Uint8Array when it has room for them.
    #[inline(always)]
    pub fn fill_bytes(&self, place: usize, bytes: &[u8]) -> Result<()> {
        let (data, length) = self.array(place, sys::TypedarrayType::uint8_array)?;
        if bytes.len() <= length {
            // SAFETY: as for `bytes`; no slice of this array is alive, and the source is Rust's own.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast(), bytes.len()) };
        }
        Ok(())
    }

    /// Copies bytes into a Uint8Array, behind others; false when it has no room for them.
    #[inline(always)]
    pub fn fill_bytes_at(&self, place: usize, from: usize, bytes: &[u8]) -> Result<bool> {
        let (data, length) = self.array(place, sys::TypedarrayType::uint8_array)?;
        if from + bytes.len() > length {
            return Ok(false);
        }
        // SAFETY: as for `fill_bytes`.
        unsafe {
            ptr::copy_nonoverlapping(bytes.as_ptr(), data.cast::<u8>().add(from), bytes.len());
        }
        Ok(true)
    }

    /// Copies numbers to the beginning of a Float64Array, which has room for them.
    pub fn fill_numbers(&self, place: usize, numbers: &[f64]) -> Result<()> {
        let (data, length) = self.array(place, sys::TypedarrayType::float64_array)?;
        if numbers.len() > length {
            return Err(error::invalid("an array has no room for the numbers"));
        }
        // SAFETY: as for `fill_bytes`; such an array is aligned for its elements.
        unsafe { ptr::copy_nonoverlapping(numbers.as_ptr(), data.cast(), numbers.len()) };
        Ok(())
    }

    /// The numbers of a Float64Array.
    pub fn numbers(&self, place: usize) -> Result<&[f64]> {
        let (data, length) = self.array(place, sys::TypedarrayType::float64_array)?;
        if length == 0 {
            return Ok(&[]);
        }
        // SAFETY: as for `bytes`; such an array is aligned for its elements.
        Ok(unsafe { std::slice::from_raw_parts(data.cast(), length) })
    }

    /// Writes the numbers of a Float64Array of that length.
    pub fn set_numbers<const W: usize>(&self, place: usize, numbers: [f64; W]) -> Result<()> {
        let (data, length) = self.array(place, sys::TypedarrayType::float64_array)?;
        if length != W {
            return Err(error::invalid("an array has another number of numbers"));
        }
        // SAFETY: as for `words`; no slice of this array is alive.
        unsafe { *data.cast::<[f64; W]>() = numbers };
        Ok(())
    }

    /// The words of a BigUint64Array of that length: of a lease, for one.
    #[inline(always)]
    pub fn words<const W: usize>(&self, place: usize) -> Result<[u64; W]> {
        // SAFETY: as for `bytes`; such an array is aligned for its elements, and is as long.
        Ok(unsafe { *self.words_at::<W>(place)? })
    }

    /// Writes the words of a BigUint64Array of that length.
    #[inline(always)]
    pub fn set_words<const W: usize>(&self, place: usize, words: [u64; W]) -> Result<()> {
        // SAFETY: as for `words`; no slice of this array is alive.
        unsafe { *self.words_at::<W>(place)? = words };
        Ok(())
    }

    #[inline(always)]
    fn words_at<const W: usize>(&self, place: usize) -> Result<*mut [u64; W]> {
        let (data, length) = self.array(place, BIG_UINT64_ARRAY)?;
        if length != W {
            return Err(error::invalid("an array has another number of words"));
        }
        Ok(data.cast())
    }

    #[inline(always)]
    fn array(&self, place: usize, kind: i32) -> Result<(*mut std::ffi::c_void, usize)> {
        let mut found = 0;
        let mut length = 0;
        let mut data = ptr::null_mut();
        // SAFETY: the value belongs to this call; the engine refuses one that is not a typed array.
        let status = unsafe {
            sys::napi_get_typedarray_info(
                self.env,
                self.arguments[place],
                &mut found,
                &mut length,
                &mut data,
                ptr::null_mut(),
                ptr::null_mut(),
            )
        };
        check_status!(status, "an argument is not a typed array")?;
        if found != kind {
            return Err(error::invalid("an argument is another typed array"));
        }
        Ok((data, length))
    }
}

const BIG_UINT64_ARRAY: i32 = 10;

/// What a callback answers.
pub(crate) enum Answer {
    /// `undefined`.
    Nothing,
    /// A boolean.
    Boolean(bool),
    /// A number.
    Number(f64),
    /// What was made already.
    Made(sys::napi_value),
}

/// Runs a callback's body; what it refuses is thrown.
#[inline(always)]
pub(crate) fn answer<const N: usize>(
    env: sys::napi_env,
    info: sys::napi_callback_info,
    body: impl FnOnce(&Call<N>) -> Result<Answer>,
) -> sys::napi_value {
    let done = catch_unwind(AssertUnwindSafe(|| body(&Call::new(env, info)?)))
        .unwrap_or_else(|_| Err(error::panicked()));
    let mut value = ptr::null_mut();
    // SAFETY: the environment is the one that the engine is in. A value that cannot be made stays
    // null, which is `undefined`.
    unsafe {
        match done {
            Ok(Answer::Nothing) => sys::Status::napi_ok,
            Ok(Answer::Boolean(truth)) => sys::napi_get_boolean(env, truth, &mut value),
            Ok(Answer::Number(number)) => sys::napi_create_double(env, number, &mut value),
            Ok(Answer::Made(made)) => {
                value = made;
                sys::Status::napi_ok
            }
            Err(failure) => {
                JsError::from(failure).throw_into(env);
                sys::Status::napi_ok
            }
        }
    };
    value
}
