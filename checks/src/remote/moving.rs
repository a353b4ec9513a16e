//! Slots that move from one primary of a Cluster to another, as `redis-cli --cluster reshard` moves them.

use super::cluster::Cluster;
use crate::outcome::Fallible;
use crate::process::pause;
use redis::ConnectionLike;
use std::time::Duration;

/// Between two keys.
const STEP: Duration = Duration::from_millis(15);
/// A key that is moved is given so many milliseconds.
const PATIENCE_MS: u32 = 5_000;

/// Moves the slot of a key, with what is in it, to a primary that is not its own; `rest` passes before the first key,
/// and before all nodes learn the new owner. The place of that one.
pub fn move_slot(cluster: &Cluster, key: &str, dice: usize, rest: Duration) -> Fallible<usize> {
    let slot: u16 = cluster.nodes[0].ask(&format!("CLUSTER KEYSLOT {key}"))?;
    let from = cluster.owner(slot)?;
    let primaries = (0..cluster.nodes.len()).filter(|place| cluster.nodes[*place].is_primary());
    let others: Vec<usize> = primaries.filter(|place| *place != from).collect();
    let to = *others
        .get(dice % others.len().max(1))
        .ok_or("another primary")?;
    let (source, target) = (&cluster.nodes[from], &cluster.nodes[to]);
    let (source_id, target_id): (String, String) =
        (source.ask("CLUSTER MYID")?, target.ask("CLUSTER MYID")?);
    let set = format!("CLUSTER SETSLOT {slot}");
    let _: () = target.ask(&format!("{set} IMPORTING {source_id}"))?;
    let _: () = source.ask(&format!("{set} MIGRATING {target_id}"))?;
    pause(rest)?;
    let mut connection = source.connect()?;
    loop {
        let keys = format!("CLUSTER GETKEYSINSLOT {slot} 10");
        let keys: Vec<Vec<u8>> = source.ask(&keys)?;
        if keys.is_empty() {
            break;
        }
        for key in keys {
            migrate(&mut connection, target.port, &key)?;
            pause(STEP)?;
        }
    }
    pause(rest)?;
    // The new owner first: whoever asks the old one later is sent there.
    let _: () = target.ask(&format!("{set} NODE {target_id}"))?;
    let _: () = source.ask(&format!("{set} NODE {target_id}"))?;
    for node in cluster.primaries() {
        let _: () = node.ask(&format!("{set} NODE {target_id}"))?;
    }
    cluster.is_whole()?;
    Ok(to)
}

fn migrate(connection: &mut dyn ConnectionLike, port: u16, key: &[u8]) -> Fallible<()> {
    let mut command = redis::cmd("MIGRATE");
    command.arg("127.0.0.1").arg(port).arg(key);
    Ok(command.arg(0).arg(PATIENCE_MS).exec(connection)?)
}
