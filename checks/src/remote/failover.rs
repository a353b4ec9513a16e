//! Primaries that change: a replica takes over, slots move.
//!
//! What a primary acknowledged after its replica was last seen to have everything, and until it ended, may be lost.
//! That time is logged, as short as can be, and its writes show the judge nothing. All others do.

use super::moving::move_slot;
use super::servers::Server;
use super::settle;
use super::stage::Stage;
use super::topology::Servers;
use super::trouble::Trouble;
use crate::log::Op;
use crate::namespaces;
use crate::outcome::Fallible;
use crate::process::pause;
use crate::value;
use crate::worker::now;
use fastrand::Rng;

/// Keys to which most operations go, by number.
const BUSY: u8 = 16;
/// Slots that move, one after another.
const MOVES: usize = 3;

/// The places of a primary and its replica.
type Pair = (usize, usize);

/// A replica takes over, in one of the ways of [`Trouble`].
pub fn fail_over(how: Trouble, stage: &mut Stage, (primary, replica): Pair) -> Fallible<()> {
    let begin = now();
    let [old, new] = both(stage, (primary, replica));
    // What was executed before this moment is not lost.
    old.is_followed_by(new)?;
    match how {
        Trouble::Failover => {
            stage.servers.server(primary).kill();
            stage.note(Op::Loss, 0, begin)?;
            stage.servers.all()[replica].becomes(true)?;
            pause(stage.setting.staleness)?;
            start_again(stage, (primary, replica))?;
        }
        Trouble::PrimaryStopped => {
            old.hang();
            stage.note(Op::Loss, 0, begin)?;
            taken_over(stage, replica)?;
            // Both hosts are at work at the new one, or what the old one says would surprise nobody.
            settle(stage)?;
            let begin = now();
            go_on(stage, (primary, replica))?;
            stage.note(Op::Loss, 0, begin)?;
        }
        Trouble::Takeover => {
            let _: () = new.ask("CLUSTER FAILOVER TAKEOVER")?;
            old.becomes(false)?;
            stage.note(Op::Loss, 0, begin)?;
        }
        _ => hand_over(stage, (primary, replica), begin)?,
    }
    stage.servers.all()[replica].becomes(true)?;
    stage.servers.all()[primary].becomes(false)?;
    stage.servers.is_whole()
}

fn both(stage: &Stage, (primary, replica): Pair) -> [&Server; 2] {
    let all = stage.servers.all();
    [&all[primary], &all[replica]]
}

/// Until a replica is the primary, as far as clients can know.
fn taken_over(stage: &Stage, replica: usize) -> Fallible<()> {
    stage.servers.all()[replica].becomes(true)?;
    match &stage.servers {
        Servers::Watched(watched) => watched.all_name(replica),
        _ => Ok(()),
    }
}

/// A primary that was killed comes back as a replica.
fn start_again(stage: &mut Stage, (primary, replica): Pair) -> Fallible<()> {
    let port = stage.servers.all()[replica].port.to_string();
    match stage.servers {
        // A node of a Cluster learns so from the others.
        Servers::Cluster(_) => stage.servers.server(primary).start_again(),
        _ => {
            let of = ["--replicaof", "127.0.0.1", &port];
            stage.servers.server(primary).start_again_with(&of)
        }
    }
}

/// A primary that was stopped goes on, and takes itself for one until it is told.
fn go_on(stage: &Stage, pair: Pair) -> Fallible<()> {
    let [old, _] = both(stage, pair);
    old.go_on();
    if let Servers::Watched(_) = &stage.servers {
        demote(stage, pair)?;
    }
    old.becomes(false)
}

/// Both agree; Sentinels do not wait for that, and the old primary takes writes until it is told.
fn hand_over(stage: &mut Stage, pair: Pair, begin: u64) -> Fallible<()> {
    let [old, new] = both(stage, pair);
    match &stage.servers {
        Servers::Watched(watched) => {
            watched.asks_for_another()?;
            taken_over(stage, pair.1)?;
            demote(stage, pair)?;
            old.becomes(false)?;
            stage.note(Op::Loss, 0, begin)
        }
        _ => {
            let _: () = new.ask("CLUSTER FAILOVER")?;
            old.becomes(false)
        }
    }
}

/// Sentinels would say so to an old primary after eight seconds, for which no write would show anything.
fn demote(stage: &Stage, pair: Pair) -> Fallible<()> {
    let [old, new] = both(stage, pair);
    pause(stage.setting.staleness * 2)?;
    Ok(old.ask(&format!("REPLICAOF 127.0.0.1 {}", new.port))?)
}

/// Slots of busy keys and of our own move, while they are read and written.
pub fn move_slots(stage: &mut Stage, random: &mut Rng) -> Fallible<()> {
    let Servers::Cluster(cluster) = &stage.servers else {
        return Ok(());
    };
    for _ in 0..MOVES {
        let rest = stage.setting.staleness * random.u32(1..=4) / 3;
        move_slot(cluster, &some_key(random), random.usize(..), rest)?;
    }
    Ok(())
}

/// A slot moves, and its new owner is killed.
pub fn kill_owner(stage: &mut Stage, random: &mut Rng) -> Fallible<()> {
    let Servers::Cluster(cluster) = &stage.servers else {
        return Ok(());
    };
    let rest = stage.setting.staleness / 4;
    let owner = move_slot(cluster, &some_key(random), random.usize(..), rest)?;
    let pairs = (0..cluster.nodes.len()).map(|number| cluster.pair(number));
    let pair = pairs.into_iter().find(|(primary, _)| *primary == owner);
    fail_over(Trouble::Failover, stage, pair.ok_or("the owner's replica")?)
}

/// A key that is used all the time: a worker's, or one of our own.
fn some_key(random: &mut Rng) -> String {
    let own = ["%clock", "%id", "%floor:::"];
    match random.usize(..8) {
        place if place < own.len() => format!("polycache:{}", own[place]),
        _ => {
            let key = random.u8(..BUSY);
            let name = value::key(key);
            let full = namespaces::full_key(namespaces::of(key), &name);
            format!("polycache:{full}")
        }
    }
}
