//! For every rule a history that breaks it, and one that nearly does.

use super::hand::{Hand, OTHER, OWN, ROOT};
use crate::judge::Kind;

#[test]
fn a_coherent_history_is_sound() {
    let history = Hand::new()
        .set(1, 1, 10..20)
        .read(2, 1, 15..25)
        .delete(2, 30..40)
        .miss(1, 45..50)
        .load(1, 2, 51, 60..70)
        .read(2, 2, 65..75);
    assert_eq!(history.found(), []);
    assert_eq!(history.evictions(), 0);
}

#[test]
fn a_read_begun_after_a_later_set_was_acknowledged_is_stale() {
    let superseded = |read| {
        Hand::new()
            .set(1, 1, 10..20)
            .set(2, 101, 30..40)
            .read(3, 1, read)
    };
    assert_eq!(superseded(41..50).found(), [Kind::Stale]);
    assert_eq!(superseded(39..50).found(), []);
}

#[test]
fn sets_at_the_same_time_may_take_effect_in_either_order() {
    let history = Hand::new()
        .set(1, 1, 10..35)
        .set(2, 101, 30..40)
        .read(3, 1, 50..60);
    assert_eq!(history.found(), []);
    // But only in one: once the first was read, the other does not come back.
    let both = history.read(3, 101, 70..80).read(3, 1, 90..95);
    assert_eq!(both.found(), [Kind::Stale]);
}

#[test]
fn a_read_is_as_good_as_an_acknowledgement() {
    let history = |read| {
        Hand::new()
            .set(1, 1, 10..20)
            .set_and_killed(2, 101, 30..40)
            .read(3, 101, 50..60)
            .read(3, 1, read)
    };
    assert_eq!(history(70..80).found(), [Kind::Stale]);
    assert_eq!(history(45..80).found(), []);
}

#[test]
fn a_set_that_was_never_acknowledged_may_take_effect_or_not() {
    let history = Hand::new().set(1, 1, 10..20).set_and_killed(2, 101, 30..40);
    assert_eq!(history.found(), []);
    let neither = history.read(3, 1, 50..60);
    assert_eq!(neither.found(), []);
    assert_eq!(neither.read(3, 101, 70..80).found(), []);
}

#[test]
fn a_delete_is_not_undone() {
    let deleted = |read| {
        Hand::new()
            .set(1, 1, 10..20)
            .delete(2, 30..40)
            .read(3, 1, read)
    };
    assert_eq!(deleted(41..50).found(), [Kind::Undeleted]);
    assert_eq!(deleted(39..50).found(), []);
    let killed = Hand::new()
        .set(1, 1, 10..20)
        .delete_and_killed(2, 30..40)
        .read(3, 1, 50..60);
    assert_eq!(killed.found(), []);
}

#[test]
fn a_clear_is_not_undone() {
    let cleared = |namespace, read| {
        Hand::new()
            .set(1, 1, 10..20)
            .clear(2, namespace, 30..40)
            .read(3, 1, read)
    };
    assert_eq!(cleared(OWN, 41..50).found(), [Kind::Uncleared]);
    assert_eq!(cleared(ROOT, 41..50).found(), [Kind::Uncleared]);
    assert_eq!(cleared(OWN, 39..50).found(), []);
    assert_eq!(cleared(OTHER, 41..50).found(), []);
    let killed = Hand::new()
        .set(1, 1, 10..20)
        .clear_and_killed(2, OWN, 30..40)
        .read(3, 1, 50..60);
    assert_eq!(killed.found(), []);
    let loaded = Hand::new().load(1, 1, 5, 10..60).clear(2, OWN, 20..30);
    assert_eq!(loaded.read(3, 1, 70..80).found(), [Kind::Uncleared]);
}

/// An overtaken put that replaces a value written after the clear leaves no value to be read.
#[test]
fn a_set_after_a_clear_is_not_lost_to_one_before_it() {
    let after = |set| {
        Hand::new()
            .set(1, 1, 10..50)
            .clear(2, OWN, 20..30)
            .set(2, 101, set)
            .miss(3, 60..70)
    };
    assert_eq!(after(35..40).evictions(), 1);
    assert_eq!(after(29..40).evictions(), 0);
    let found = after(35..40).found();
    assert_eq!(found, []);
}

#[test]
fn a_write_during_a_load_wins_over_it() {
    let load = || Hand::new().load(1, 1, 5, 10..60);
    assert_eq!(load().read(3, 1, 70..80).found(), []);
    let deleted = load().delete(2, 20..30).read(3, 1, 70..80);
    assert_eq!(deleted.found(), [Kind::Undeleted]);
    let set = load().set(2, 101, 20..30).read(3, 1, 70..80);
    assert_eq!(set.found(), [Kind::Stale]);
    // It was invalidated, and only its caller has it.
    let invalidated = load().set(2, 101, 20..30).read(3, 101, 70..80);
    assert_eq!(invalidated.found(), []);
    assert_eq!(invalidated.evictions(), 0);
}

#[test]
fn a_value_that_nobody_had_written_is_foreign() {
    assert_eq!(Hand::new().read(1, 1, 10..20).found(), [Kind::Foreign]);
    assert_eq!(Hand::new().foreign(1, 10..20).found(), [Kind::Foreign]);
    let early = Hand::new().read(2, 1, 10..20).set(1, 1, 30..40);
    assert_eq!(early.found(), [Kind::Foreign]);
}

#[test]
fn a_value_does_not_vanish_and_come_back() {
    let history = |miss| {
        Hand::new()
            .set(1, 1, 10..20)
            .miss(2, miss)
            .read(3, 1, 40..50)
    };
    assert_eq!(history(25..35).found(), [Kind::Vanished]);
    assert_eq!(history(15..35).found(), []);
}

#[test]
fn a_miss_after_an_acknowledged_set_proves_an_eviction() {
    let set = || Hand::new().set(1, 1, 10..20);
    assert_eq!(set().miss(2, 25..30).evictions(), 1);
    assert_eq!(set().miss(2, 15..30).evictions(), 0);
    assert_eq!(set().miss(2, 25..30).miss(2, 35..40).evictions(), 1);
    let twice = set().miss(2, 25..30).set(1, 2, 35..40).miss(2, 45..50);
    assert_eq!(twice.evictions(), 2);
    // The second set may have come before the eviction that the first miss saw.
    let once = set().miss(2, 25..30).set(1, 2, 29..40).miss(2, 45..50);
    assert_eq!(once.evictions(), 1);
}

#[test]
fn a_delete_explains_a_miss() {
    let set = || Hand::new().set(1, 1, 10..20);
    assert_eq!(set().delete(3, 21..23).miss(2, 25..30).evictions(), 0);
    assert_eq!(set().delete(3, 5..9).miss(2, 25..30).evictions(), 1);
    assert_eq!(set().delete(3, 31..35).miss(2, 25..30).evictions(), 1);
    let killed = set().delete_and_killed(3, 21..40);
    assert_eq!(killed.miss(2, 25..30).evictions(), 0);
}

#[test]
fn a_clear_of_the_keys_namespace_explains_a_miss() {
    let set = || Hand::new().set(1, 1, 10..20);
    let missed = |namespace| {
        set()
            .clear(3, namespace, 21..23)
            .miss(2, 25..30)
            .evictions()
    };
    assert_eq!(missed(OWN), 0);
    assert_eq!(missed(ROOT), 0);
    assert_eq!(missed(OTHER), 1);
    // A set that a clear overtakes may be lost to it.
    let overtaken = Hand::new().set(1, 1, 10..40).clear(3, OWN, 20..30);
    assert_eq!(overtaken.miss(2, 45..50).evictions(), 0);
}
