//! What a board tells whoever looks at it.

use polycache_remote::{Board, BoardWords, SeenBoard, BOARD_WORDS};
use std::sync::atomic::Ordering;
use std::time::Duration;

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn seen(words: &BoardWords, now: Duration) -> Option<SeenBoard> {
    let words: [u64; BOARD_WORDS] = std::array::from_fn(|at| words[at].load(Ordering::SeqCst));
    SeenBoard::of(words, now)
}

fn board(words: &BoardWords) -> Board<'_> {
    Board::find(std::iter::once(words), 7, ms(1000)).expect("it is free");
    Board::new(words, 7)
}

#[test]
fn it_tells_who_listens_since_when_and_how_far_it_has_heard() {
    let words = BoardWords::default();
    assert_eq!(seen(&words, ms(1000)), None);
    let board = board(&words);
    let nobody = seen(&words, ms(1000)).expect("it is a database's");
    assert_eq!(
        (nobody.identity, nobody.leader, nobody.lag),
        (7, None, None)
    );
    let leads = board.lead(3, ms(1000), |_| true).expect("nobody leads");
    board.tell(leads, 1_700_000_000_000, false);
    board.validity().move_to(leads, ms(1010));
    let it = seen(&words, ms(1015)).expect("it is a database's");
    assert_eq!((it.leader, it.lag), (Some(3), Some(ms(5))));
    assert_eq!(
        (it.since, it.refuses, board.refuses()),
        (1_700_000_000_000, false, false)
    );
    // It was last seen at 1000.
    assert_eq!(seen(&words, ms(1999)).expect("as before").leader, Some(3));
    assert_eq!(seen(&words, ms(2000)).expect("as before").leader, None);
}

#[test]
fn what_a_leader_told_ends_with_its_lead() {
    let words = BoardWords::default();
    let board = board(&words);
    let first = board.lead(3, ms(1000), |_| true).expect("nobody leads");
    board.tell(first, 1_700_000_000_000, true);
    assert!(board.refuses() && seen(&words, ms(1000)).is_some_and(|it| it.refuses));
    let second = board.lead(4, ms(1000), |_| false).expect("it is dead");
    assert!(!board.refuses());
    // The first one does not know yet.
    board.tell(first, 1_700_000_000_000, true);
    let it = seen(&words, ms(1000)).expect("it is a database's");
    assert_eq!((it.leader, it.since, it.refuses), (Some(4), 0, false));
    board.tell(second, 5, false);
    assert_eq!(seen(&words, ms(1000)).map(|it| it.since), Some(5));
}
