//! What goes wrong on purpose.

use super::behind::{self, Behind};
use super::history::HOSTS;
use super::proxy::{Proxy, Side};
use super::stage::{Servers, Stage};
use super::KEYS;
use crate::log::Op;
use crate::outcome::Fallible;
use crate::process::{self, pause};
use crate::worker::now;
use fastrand::Rng;
use polycache::{Cache, Remote};
use redis::ConnectionLike;
use std::time::Duration;

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
}

use Trouble::*;

impl Trouble {
    /// All that a single server may meet.
    pub const SINGLE: [Trouble; 17] = [
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
    ];

    /// All that a Cluster may meet.
    pub const CLUSTER: [Trouble; 13] = [
        Cut,
        Failover,
        ListenerHangs,
        Handover,
        WorkersKilled,
        Takeover,
        LostReplies,
        Flush,
        BehindOurBack,
        Unanswered,
        ListenerCut,
        RepliesLate,
        LateThenSilent,
    ];

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
            LateThenSilent => "pushes 50 ms late, then silence",
            RepliesLate => "replies 25 ms late",
            HalfClose => "connections half closed",
            LostReplies => "replies lost",
            WorkersStopped => "listener and others stopped",
            WorkersKilled => "listener and others killed",
            BehindOurBack => "a plain client writes",
            Flush => "FLUSHALL",
            ServerHangs => "server stopped",
            ServerKilled => "server killed",
            Failover => "primary killed",
            Handover => "failover in agreement",
            Takeover => "failover by force",
        }
    }

    /// That of a log.
    pub fn of(number: u8) -> Option<Trouble> {
        let all = Trouble::SINGLE.into_iter().chain(Trouble::CLUSTER);
        all.into_iter().find(|one| *one as u8 == number)
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
                for _ in 0..2 {
                    during(stage, &[host], bound, |proxy, on| {
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
            LateThenSilent => {
                let slow = |proxy: &Proxy, on| proxy.delay(Side::Listening, late(on, 50));
                for _ in 0..2 {
                    let proxies = stage.hosts[host].proxies.iter();
                    proxies.for_each(|proxy| slow(proxy, true));
                    pause(bound * 2)?;
                    during(stage, &[host], longer, |proxy, on| {
                        proxy.hang(Side::Listening, on);
                        slow(proxy, on);
                    })?;
                }
                Ok(())
            }
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
            Failover | Handover | Takeover => self.fail_over(stage, random),
        }
    }

    fn fail_over(self, stage: &mut Stage, random: &mut Rng) -> Fallible<()> {
        let Servers::Cluster(cluster) = &mut stage.servers else {
            return Ok(());
        };
        let (primary, replica) = cluster.pair(random.usize(..3));
        // What was executed before this moment is not lost.
        let begin = now();
        cluster.catch_up(primary, replica)?;
        match self {
            Failover => {
                cluster.nodes[primary].kill();
                stage.note(Op::Loss, 0, begin)?;
            }
            Takeover => {
                let _: () = cluster.nodes[replica].ask("CLUSTER FAILOVER TAKEOVER")?;
                cluster.becomes(primary, false)?;
                stage.note(Op::Loss, 0, begin)?;
            }
            _ => {
                let _: () = cluster.nodes[replica].ask("CLUSTER FAILOVER")?;
                cluster.becomes(primary, false)?;
            }
        }
        let Servers::Cluster(cluster) = &mut stage.servers else {
            return Ok(());
        };
        cluster.becomes(replica, true)?;
        if self == Failover {
            pause(stage.setting.staleness)?;
            let Servers::Cluster(cluster) = &mut stage.servers else {
                return Ok(());
            };
            cluster.nodes[primary].start_again()?;
            cluster.becomes(primary, false)?;
        }
        let Servers::Cluster(cluster) = &stage.servers else {
            return Ok(());
        };
        cluster.is_whole()
    }
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
    let whole = matches!(stage.servers, Servers::Single(_));
    pause(stage.setting.staleness)?;
    if whole {
        return Ok(());
    }
    stage.note(Op::Unsteady, 0, begin)
}
