//! What the host tier needs from the operating system: locks of open files, space allocated in advance,
//! coarse clocks, a fork handler. One module is for Linux and macOS, one for all others; everything else in this crate is the
//! same everywhere.
//!
//! Each module has the same items: [`check`], [`SystemIo`], [`Descriptor`] and [`descriptor`],
//! [`user`], [`is_in_group`], [`is_locked`], [`wait_for_lock`], [`release_locks`], [`may_not_write`], [`no_room`], [`too_large`],
//! [`no_allocation`], [`is_link`], [`now`], [`ticks`], and [`forks`], [`open_for_this_process`], [`keep_in_child`],
//! [`without_signals`], [`WipedWord`], [`memory`], [`read_at_random`], [`will_read`], [`wait_on`], [`wake`].

#[cfg(any(target_os = "linux", target_os = "macos"))]
mod unix;
// Tests compile it everywhere, so that it stays up to date.
#[cfg(any(test, not(any(target_os = "linux", target_os = "macos"))))]
#[cfg_attr(any(target_os = "linux", target_os = "macos"), allow(dead_code))]
mod unsupported;

#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(crate) use unix::{
    check, descriptor, forks, is_in_group, is_link, is_locked, keep_in_child, may_not_write,
    memory, monotonic, no_allocation, no_room, notice_forks, now, open_for_this_process,
    read_at_random, release_locks, ticks, too_large, user, wait_for_lock, wait_on, wake, will_read,
    Descriptor, WipedWord,
};
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub use unix::{without_signals, SystemIo};
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use unsupported::{
    check, descriptor, forks, is_in_group, is_link, is_locked, keep_in_child, may_not_write,
    memory, monotonic, no_allocation, no_room, notice_forks, now, open_for_this_process,
    read_at_random, release_locks, ticks, too_large, user, wait_for_lock, wait_on, wake, will_read,
    Descriptor, WipedWord,
};
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub use unsupported::{without_signals, SystemIo};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Io;
    use std::fs::File;
    use std::io;
    use std::path::Path;
    use std::sync::atomic::AtomicU64;

    /// Both have the same type.
    fn twins<T>(_: T, _: T) {}

    #[test]
    fn every_item_has_a_twin() {
        twins::<fn() -> Result<(), crate::Error>>(check, unsupported::check);
        twins::<fn(&File) -> Descriptor>(descriptor, unsupported::descriptor);
        twins::<fn() -> u32>(user, unsupported::user);
        twins::<fn(u32) -> bool>(is_in_group, unsupported::is_in_group);
        twins::<fn(&io::Error) -> bool>(may_not_write, unsupported::may_not_write);
        twins::<fn(Descriptor, u64, u64) -> bool>(is_locked, unsupported::is_locked);
        type Waits = fn(Descriptor, u64, u64) -> io::Result<()>;
        twins::<Waits>(wait_for_lock, unsupported::wait_for_lock);
        twins::<fn(Descriptor, u64, u64)>(release_locks, unsupported::release_locks);
        twins::<fn(&io::Error) -> bool>(no_room, unsupported::no_room);
        twins::<fn(&io::Error) -> bool>(too_large, unsupported::too_large);
        twins::<fn(&io::Error) -> bool>(no_allocation, unsupported::no_allocation);
        twins::<fn() -> u64>(now, unsupported::now);
        twins::<fn() -> std::time::Duration>(monotonic, unsupported::monotonic);
        twins::<fn() -> u32>(ticks, unsupported::ticks);
        twins::<fn() -> u64>(forks, unsupported::forks);
        type Opens = fn() -> io::Result<File>;
        twins::<fn(Opens) -> io::Result<File>>(
            open_for_this_process::<Opens>,
            unsupported::open_for_this_process,
        );
        twins::<fn(&io::Error) -> bool>(is_link, unsupported::is_link);
        type Calls = fn() -> u8;
        twins::<fn(Calls) -> u8>(without_signals, unsupported::without_signals);
        twins::<fn(Descriptor)>(keep_in_child, unsupported::keep_in_child);
        twins::<fn()>(notice_forks, unsupported::notice_forks);
        twins::<fn(&AtomicU64, u64, std::time::Duration)>(wait_on, unsupported::wait_on);
        twins::<fn(&AtomicU64)>(wake, unsupported::wake);
        let words = (WipedWord::new(), unsupported::WipedWord::new());
        twins::<&AtomicU64>(&words.0, &words.1);
    }

    #[test]
    fn elsewhere_a_directory_is_refused_with_what_helps() {
        let refused = unsupported::check().unwrap_err();
        assert_eq!(refused.code(), "unsupported_platform");
        let said = refused.to_string();
        assert!(said.contains("leave out `path`"), "{said}");
        let made = unsupported::SystemIo.create_directory(Path::new("x"));
        assert_eq!(made.unwrap_err().kind(), io::ErrorKind::Unsupported);
    }

    #[test]
    fn elsewhere_the_time_of_day_is_the_same() {
        let (here, elsewhere) = (now(), unsupported::now());
        // The coarse clock is at most a tick behind; only a wrong clock differs by an hour.
        assert!(here.abs_diff(elsewhere) < 3_600_000, "{here} {elsewhere}");
    }
}
