//! Limits, levels, and what they leave for blocks.

use super::*;

#[test]
fn levels_grow_by_sixteen_and_the_last_one_ends_near_the_limit() {
    assert_eq!(levels_of(1 << 11), [1 << 11]);
    assert_eq!(levels_of(1 << 18), [1 << 12, 1 << 16, 1 << 18]);
    assert_eq!(levels_of(1 << 20), [1 << 12, 1 << 16, 1 << 20]);
    assert_eq!(levels_of(1 << 21), [1 << 12, 1 << 16, 1 << 20, 1 << 20]);
    assert_eq!(levels_of(1 << 30).len(), MAX_LEVELS);
}

#[test]
fn ranges_of_levels_are_whole_pages_that_follow_each_other() {
    let mut limit = MIN_LIMIT;
    while limit <= MAX_LIMIT {
        let geometry = Geometry::new(limit).unwrap();
        let begin = [
            0,
            geometry.descriptors_at,
            geometry.ghosts_at,
            geometry.slots_at,
        ];
        let mut ends = begin.map(|at| at as u64);
        for level in 0..geometry.level_count {
            for (range, end) in geometry.level_ranges(level).iter().zip(&mut ends) {
                assert_eq!((range.0, range.0 % PAGE, range.1 % PAGE), (*end, 0, 0));
                assert!(range.1 > 0);
                *end += range.1;
            }
            assert_eq!(ends[3], geometry.index_end(level + 1));
            assert_eq!(geometry.levels_within(ends[3]), level + 1);
            assert_eq!(geometry.levels_within(ends[3] - 1), level);
        }
        let then = [
            geometry.descriptors_at as u64,
            geometry.ghosts_at as u64,
            geometry.slots_at as u64,
            geometry.index_len,
        ];
        assert_eq!(ends, then);
        limit *= 2;
    }
}

#[test]
fn an_empty_index_is_small_whatever_the_limit() {
    for limit in [MIN_LIMIT, DEFAULT_LIMIT, 64 << 30] {
        let geometry = Geometry::new(limit).unwrap();
        assert!(geometry.index_bytes(1) < 768 << 10, "{geometry:?}");
    }
}

#[test]
fn an_epoch_counts_levels_and_never_more_than_there_are() {
    let geometry = Geometry::new(DEFAULT_LIMIT).unwrap();
    assert_eq!(geometry.levels_at(7), 1);
    assert_eq!(geometry.levels_at(7 + NEXT_LEVEL), 2);
    assert_eq!(geometry.levels_at(u64::MAX), 3);
    assert_eq!(geometry.epoch_with(7, 2), 7 + NEXT_LEVEL);
    assert_eq!(geometry.epoch_with(u64::MAX, 1), 0);
}

#[test]
fn index_and_blocks_stay_below_every_limit() {
    let mut limit = MIN_LIMIT;
    while limit <= MAX_LIMIT {
        for limit in [limit, limit + 4097, limit * 3 / 2] {
            let Ok(geometry) = Geometry::new(limit) else {
                continue;
            };
            assert!(
                geometry.index_len + geometry.blocks_len() + FOLDERS <= limit,
                "{geometry:?}"
            );
            assert!(geometry.blocks >= 16, "{geometry:?}");
            assert!(geometry.blocks <= 65_536 + 512, "{geometry:?}");
            assert!(
                geometry.blocks_len() / geometry.unit <= 1 << 32,
                "{geometry:?}"
            );
            assert_eq!(WINDOW % geometry.block_size, 0);
            // The index never takes more than a fifth.
            assert!(geometry.index_len * 5 <= limit, "{geometry:?}");
        }
        limit *= 2;
    }
}

#[test]
fn limits_outside_the_range_are_refused() {
    for limit in [0, MIN_LIMIT - 1, MAX_LIMIT + 1, u64::MAX] {
        assert_eq!(Geometry::new(limit).unwrap_err().code(), "invalid_argument");
    }
}
