//! What goes wrong on purpose.

use super::behind::{self, Behind};
use super::failover::{fail_over, kill_owner, move_slots};
use super::history::HOSTS;
use super::stage::Stage;
use super::topology::{Servers, Topology};
use super::KEYS;
use crate::log::Op;
use crate::outcome::Fallible;
use crate::process::{self, pause};
use crate::worker::now;
use fastrand::Rng;
use polycache::{Cache, Remote};
use polycache_check_proxy::{Proxy, Side};
use redis::ConnectionLike;
use std::time::Duration;

/// How often connections fall silent, and how late pushes are before.
const SILENCES: u32 = 4;
const LATE: Duration = Duration::from_millis(50);

/// In the names of beacons, and of no user's keys: see `spec/remote.md`, "Keys".
const BEACON: &[u8] = b"polycache%";

/// How often the connections by which a host listens are cut, each time for longer.
const OUTAGES: u32 = 5;

/// A kind of trouble. Its number stands in logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
#[repr(u8)]
pub enum Trouble {
    /// A host's connections end, several times.
    Cut,
    /// Those by which a host listens end, several times, and new ones take a while to be armed.
    ListenerCut,
    /// A host's connections fall silent.
    Hang,
    /// The one by which a host listens falls silent: others write on, and it hears nothing.
    ListenerHangs,
    /// A host's commands arrive, and no reply comes back for a time.
    Unanswered,
    /// Every reply and push takes longer.
    Delay,
    /// Pushes alone take longer, on one host.
    ListenerLate,
    /// Pushes take longer, and then the connection falls silent: what it heard last was old already.
    LateThenSilent,
    /// Replies alone take longer, on one host: it hears of a write before the reply to an earlier read.
    RepliesLate,
    /// Connections end in one direction.
    HalfClose,
    /// Replies are lost, with their connections, after the server has executed the commands.
    LostReplies,
    /// Processes of a host are stopped in turn, so its listener, too.
    WorkersStopped,
    /// Processes of a host are killed in turn, so its listener, too.
    WorkersKilled,
    /// All processes of a host are stopped at once: nobody is left there to hear.
    HostStopped,
    /// Another program writes, deletes and leaves garbage under our keys.
    BehindOurBack,
    /// FLUSHALL.
    Flush,
    /// The server is stopped for a while.
    ServerHangs,
    /// The server is killed, and comes back empty.
    ServerKilled,
    /// A primary is killed; its replica takes over.
    Failover,
    /// A replica takes over in agreement with its primary.
    Handover,
    /// A replica takes over without asking anybody.
    Takeover,
    /// A primary is stopped, its replica takes over, and it goes on, as if nothing had happened.
    PrimaryStopped,
    /// Slots move between primaries, while they are read and written.
    SlotsMove,
    /// A slot moves, and the primary that owns it then is killed.
    OwnerKilled,
}

use Trouble::*;

/// All that such servers may meet.
pub fn possible(topology: Topology) -> &'static [Trouble] {
    match topology {
        Topology::Single => &SINGLE,
        Topology::Watched => &WATCHED,
        Topology::Cluster => &CLUSTER,
    }
}

const SINGLE: [Trouble; 18] = [
    Cut,
    ListenerHangs,
    WorkersKilled,
    LostReplies,
    Flush,
    Unanswered,
    BehindOurBack,
    ServerKilled,
    ListenerCut,
    Delay,
    Hang,
    WorkersStopped,
    HalfClose,
    ServerHangs,
    ListenerLate,
    RepliesLate,
    LateThenSilent,
    HostStopped,
];

const WATCHED: [Trouble; 12] = [
    Failover,
    Cut,
    PrimaryStopped,
    WorkersKilled,
    Handover,
    WorkersStopped,
    Flush,
    BehindOurBack,
    ListenerCut,
    HostStopped,
    LostReplies,
    LateThenSilent,
];

const CLUSTER: [Trouble; 18] = [
    Cut,
    Failover,
    SlotsMove,
    ListenerHangs,
    Handover,
    WorkersKilled,
    Takeover,
    LostReplies,
    OwnerKilled,
    Flush,
    BehindOurBack,
    Unanswered,
    PrimaryStopped,
    ListenerCut,
    WorkersStopped,
    RepliesLate,
    LateThenSilent,
    HostStopped,
];

impl Trouble {
    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Cut => "connections cut",
            ListenerCut => "listening connections cut",
            Hang => "silence",
            ListenerHangs => "silence of the listening connection",
            Unanswered => "replies held back",
            Delay => "everything 30 ms late",
            ListenerLate => "pushes 100 ms late",
            LateThenSilent => "late pushes, silence behind a beacon",
            RepliesLate => "replies 25 ms late",
            HalfClose => "connections half closed",
            LostReplies => "replies lost",
            WorkersStopped => "listener and others stopped",
            WorkersKilled => "listener and others killed",
            HostStopped => "all of a host stopped",
            BehindOurBack => "a plain client writes",
            Flush => "FLUSHALL",
            ServerHangs => "server stopped",
            ServerKilled => "server killed",
            Failover => "primary killed",
            Handover => "failover in agreement",
            Takeover => "failover by force",
            PrimaryStopped => "primary stopped",
            SlotsMove => "slots move",
            OwnerKilled => "owner of a moved slot killed",
        }
    }

    /// That of a log.
    pub fn of(number: u8) -> Option<Trouble> {
        let mut all = SINGLE.iter().chain(&CLUSTER);
        all.find(|one| **one as u8 == number).copied()
    }

    /// Makes it, to a host drawn at random where it is about one, and logs when.
    pub fn make(self, stage: &mut Stage, random: &mut Rng) -> Fallible<()> {
        let begin = now();
        let host = random.usize(..HOSTS);
        self.happens(stage, host, random)?;
        stage.note(Op::Trouble, self as u8, begin)
    }

    fn happens(self, stage: &mut Stage, host: usize, random: &mut Rng) -> Fallible<()> {
        let bound = stage.setting.staleness;
        let longer = bound * 5 / 2;
        match self {
            Cut => again(stage, host, 6, |proxy| proxy.cut(Side::All)),
            ListenerCut => {
                for part in 1..=OUTAGES {
                    // Of all lengths: after the shortest ones a host has never stopped to serve copies.
                    during(stage, &[host], bound * part / OUTAGES, |proxy, on| {
                        proxy.hang(Side::Listening, on);
                        if on {
                            proxy.cut(Side::Listening);
                        }
                    })?;
                    pause(bound * 3 / 2)?;
                }
                Ok(())
            }
            HalfClose => again(stage, host, 6, |proxy| proxy.half_close(Side::All)),
            LostReplies => again(stage, host, 12, Proxy::swallow),
            Hang => during(stage, &[host], longer, |proxy, on| {
                proxy.hang(Side::All, on)
            }),
            ListenerHangs => during(stage, &[host], longer, |proxy, on| {
                proxy.hang(Side::Listening, on);
            }),
            Unanswered => during(stage, &[host], bound, |proxy, on| {
                proxy.delay(Side::Data, if on { longer * 10 } else { Duration::ZERO });
            }),
            Delay => during(stage, &[0, 1], longer, |proxy, on| {
                proxy.delay(Side::All, late(on, 30));
            }),
            ListenerLate => during(stage, &[host], longer, |proxy, on| {
                proxy.delay(Side::Listening, late(on, 100));
            }),
            LateThenSilent => late_then_silent(stage, host, random),
            RepliesLate => during(stage, &[host], bound * 4, |proxy, on| {
                proxy.delay(Side::Data, late(on, 25));
            }),
            WorkersStopped => {
                for place in stage.of_host(host) {
                    stage.workers[place].stop();
                    pause(bound * 3 / 2)?;
                    stage.workers[place].resume();
                }
                Ok(())
            }
            WorkersKilled => {
                for place in stage.of_host(host) {
                    stage.workers[place].kill()?;
                    let language = stage.workers[place].language;
                    stage.start(language, host)?;
                    let started = stage.workers.pop().ok_or("a worker")?;
                    stage.workers[place] = started;
                    pause(bound)?;
                }
                Ok(())
            }
            BehindOurBack => behind_our_back(stage, random),
            Flush => flush(stage),
            ServerHangs => {
                let Servers::Single(server) = &stage.servers else {
                    return Ok(());
                };
                server.hang();
                let paused = pause(longer);
                server.go_on();
                paused
            }
            ServerKilled => {
                let Servers::Single(server) = &mut stage.servers else {
                    return Ok(());
                };
                let begin = now();
                server.kill();
                let paused = pause(bound / 2);
                server.start_again()?;
                stage.note(Op::Flush, 0, begin)?;
                paused
            }
            HostStopped => {
                let all = stage.of_host(host);
                all.iter().for_each(|place| stage.workers[*place].stop());
                let paused = pause(longer);
                all.iter().for_each(|place| stage.workers[*place].resume());
                paused
            }
            Failover | Handover | Takeover | PrimaryStopped => {
                match stage.servers.pair(random.usize(..3)) {
                    Some(pair) => fail_over(self, stage, pair),
                    None => Ok(()),
                }
            }
            SlotsMove => move_slots(stage, random),
            OwnerKilled => kill_owner(stage, random),
        }
    }
}

/// Pushes take longer, and right behind a beacon the connection falls silent: what was heard last was old already. Half
/// of the beacons are the last ones of a round, after which copies may be served on.
fn late_then_silent(stage: &Stage, host: usize, random: &mut Rng) -> Fallible<()> {
    let bound = stage.setting.staleness;
    let proxies = &stage.hosts[host].proxies;
    for _ in 0..SILENCES {
        for proxy in proxies {
            proxy.delay(Side::Listening, LATE);
        }
        pause(bound)?;
        for proxy in proxies {
            proxy.hang_after(random.u32(1..=2), BEACON);
        }
        pause(bound * 5 / 2)?;
        for proxy in proxies {
            proxy.hang_after(0, BEACON);
            proxy.hang(Side::Listening, false);
            proxy.delay(Side::Listening, Duration::ZERO);
        }
    }
    Ok(())
}

fn late(on: bool, ms: u64) -> Duration {
    Duration::from_millis(if on { ms } else { 0 })
}

/// Does it to a host's proxies so many times, 80 ms apart.
fn again(stage: &Stage, host: usize, times: u32, act: impl Fn(&Proxy)) -> Fallible<()> {
    for _ in 0..times {
        stage.hosts[host].proxies.iter().for_each(&act);
        pause(Duration::from_millis(80))?;
    }
    Ok(())
}

/// Begins it, and ends it after this time.
fn during(
    stage: &Stage,
    hosts: &[usize],
    time: Duration,
    act: impl Fn(&Proxy, bool),
) -> Fallible<()> {
    let all = |on| {
        for host in hosts {
            for proxy in &stage.hosts[*host].proxies {
                act(proxy, on);
            }
        }
    };
    all(true);
    let paused = pause(time);
    all(false);
    paused
}

fn behind_our_back(stage: &mut Stage, random: &mut Rng) -> Fallible<()> {
    let log = stage.log_of(behind::NUMBER, "plain")?;
    let (connection, remote): (Box<dyn ConnectionLike>, Remote) = match &stage.servers {
        Servers::Single(server) => {
            let url = format!("redis://127.0.0.1:{}", server.port);
            (Box::new(server.connect()?), url.into())
        }
        Servers::Watched(watched) => {
            let primary = &watched.servers()[watched.pair().0];
            let url = format!("redis://127.0.0.1:{}", primary.port);
            (Box::new(primary.connect()?), url.into())
        }
        Servers::Cluster(cluster) => {
            let client = cluster.client()?;
            (Box::new(client.get_connection()?), client.into())
        }
    };
    let cache = Cache::builder()
        .remote(remote)
        .timeout(Duration::from_secs(5))
        .prefix(Behind::prefix())
        .build()?;
    let mut plain = Behind::new(connection, cache, log, random.u32(1..1 << 16) << 16);
    for _ in 0..200 {
        plain.write(random.u8(..KEYS), random.u8(..))?;
        process::pause(Duration::from_millis(4))?;
    }
    Ok(())
}

/// In a Cluster it is not one step: what was cleared may be seen until all primaries are empty.
fn flush(stage: &mut Stage) -> Fallible<()> {
    let begin = now();
    for server in stage.servers.primaries() {
        let _: () = server.ask("FLUSHALL")?;
    }
    stage.note(Op::Flush, 0, begin)?;
    let whole = !matches!(stage.servers, Servers::Cluster(_));
    pause(stage.setting.staleness)?;
    if whole {
        return Ok(());
    }
    stage.note(Op::Unsteady, 0, begin)
}
