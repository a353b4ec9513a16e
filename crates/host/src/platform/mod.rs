//! What the host tier needs of the operating system itself: locks of open files, space in advance,
//! coarse clocks, a handler of forks. One module a system; everything else in this crate is the same
//! everywhere.
//!
//! Each has the same items: [`check`], [`SystemIo`], [`Descriptor`] and [`descriptor`], [`inode`],
//! [`user`], [`is_locked`], [`no_room`], [`too_large`], [`no_allocation`], [`now`], [`ticks`], and
//! [`forks`], [`close_in_child`], [`keep_in_child`].

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod unsupported;

#[cfg(target_os = "linux")]
pub use linux::SystemIo;
#[cfg(target_os = "linux")]
pub(crate) use linux::{
    check, close_in_child, descriptor, forks, inode, is_locked, keep_in_child, no_allocation,
    no_room, now, ticks, too_large, user, Descriptor,
};
#[cfg(not(target_os = "linux"))]
pub use unsupported::SystemIo;
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::{
    check, close_in_child, descriptor, forks, inode, is_locked, keep_in_child, no_allocation,
    no_room, now, ticks, too_large, user, Descriptor,
};
