//! How much memory there is, and what the system reads into it for a mapping.

use memmap2::{Advice, MmapRaw};
use std::path::{Path, PathBuf};

/// Bytes of memory that this process may use: the machine's, or what its control groups (cgroups(7), version 1 or 2) may
/// have, files' pages included. `None` where the system does not tell.
pub(crate) fn memory() -> Option<u64> {
    // SAFETY: the calls take plain numbers.
    let (pages, page) = unsafe { (libc::sysconf(libc::_SC_PHYS_PAGES), super::files::page()) };
    let machine = u64::try_from(pages).ok()?.checked_mul(page as u64)?;
    let groups = std::fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = limit_files(&groups).filter_map(|file| {
        let limit = std::fs::read_to_string(file).ok()?;
        limit.trim().parse().ok()
    });
    Some(limits.fold(machine, u64::min))
}

/// The files that hold limits of memory of these control groups and of all that they are in. In a container a group may be
/// mounted as the root, whatever it is called outside: then only the last one is there.
fn limit_files(groups: &str) -> impl Iterator<Item = PathBuf> + '_ {
    groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let place = match (parts.next(), parts.next()) {
            (Some(""), Some(group)) => Some((group, "/sys/fs/cgroup", "memory.max")),
            (Some(controllers), Some(group)) => controllers
                .split(',')
                .any(|one| one == "memory")
                .then_some((group, "/sys/fs/cgroup/memory", "memory.limit_in_bytes")),
            _ => None,
        };
        place.into_iter().flat_map(|(group, root, name)| {
            let above = Path::new(group.trim_start_matches('/')).ancestors();
            above.map(move |group| Path::new(root).join(group).join(name))
        })
    })
}

/// Says whether what is read of a mapping is spread over it. Then a page that is not in memory is read alone: pages around
/// it would take memory from those that are read more often.
pub(crate) fn read_at_random(mapping: &MmapRaw, at_random: bool) {
    let advice = if at_random {
        Advice::Random
    } else {
        Advice::Normal
    };
    // Without it reads are as right.
    let _ = mapping.advise(advice);
}

/// Has the system begin to read a range of a mapping, at once and not page by page.
pub(crate) fn will_read(mapping: &MmapRaw, offset: usize, len: usize) {
    let _ = mapping.advise_range(Advice::WillNeed, offset, len);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(groups: &str) -> Vec<String> {
        let files = limit_files(groups);
        files.map(|file| file.display().to_string()).collect()
    }

    #[test]
    fn limits_are_those_of_a_group_and_of_all_around_it() {
        assert_eq!(
            files("0::/user.slice/app\n"),
            [
                "/sys/fs/cgroup/user.slice/app/memory.max",
                "/sys/fs/cgroup/user.slice/memory.max",
                "/sys/fs/cgroup/memory.max",
            ]
        );
        assert_eq!(
            files("12:cpu,cpuacct:/x\n4:memory:/docker/1f\n1:name=systemd:/y\n"),
            [
                "/sys/fs/cgroup/memory/docker/1f/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/docker/memory.limit_in_bytes",
                "/sys/fs/cgroup/memory/memory.limit_in_bytes",
            ]
        );
        assert_eq!(files("0::/\n"), ["/sys/fs/cgroup/memory.max"]);
        assert!(files("").is_empty() && files("nothing\n").is_empty());
    }

    #[test]
    fn the_machine_has_some() {
        assert!(memory().is_some_and(|bytes| bytes > 1 << 20));
    }
}
