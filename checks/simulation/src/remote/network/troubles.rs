//! What goes wrong with servers and connections, and what other programs do.

use super::*;

impl Network {
    /// Connections of listeners end, with notice or without.
    pub fn cut(&mut self, silent: bool) {
        let numbers: Vec<u64> = self.connections.keys().copied().collect();
        if numbers.is_empty() {
            return;
        }
        let number = numbers[self.rng.usize(..numbers.len())];
        self.end(number, silent);
    }

    fn end(&mut self, number: u64, silent: bool) {
        let time = self.now + self.delay();
        let Some(connection) = self.connections.get_mut(&number) else {
            return;
        };
        self.met
            .entry(if silent { "silent" } else { "cut" })
            .and_modify(|times| *times += 1)
            .or_insert(1);
        connection.silent = true;
        if !silent {
            let (process, arming) = (connection.process, connection.arming);
            let heard = Heard::Ended { arming };
            self.at(time, Happening::Hears { process, heard });
        }
    }

    /// A replica takes the place of a server.
    pub fn fail_over(&mut self) {
        let server = self.rng.usize(..self.cluster.servers.len());
        let lacks = [0, 0, 1, 3][self.rng.usize(..4)];
        self.cluster.fail_over(server, lacks);
        self.last_failover = self.now;
        self.truth.failovers.push(self.now);
        let silent = self.rng.u32(..3) == 0;
        let numbers: Vec<u64> = self
            .connections
            .iter()
            .filter(|(_, one)| one.server == server)
            .map(|(number, _)| *number)
            .collect();
        for number in numbers {
            self.end(number, silent);
        }
        self.note("failover", || format!("of {server}, lacks {lacks}"));
        self.recompute(false);
        // What comes back may have been cleared, which some hosts know by copies.
        let keys: Vec<(Vec<u8>, usize)> = self.keys.clone().into_iter().collect();
        for (name, key) in keys {
            self.cleared_already(key, &name);
        }
    }

    /// A server does nothing for a while.
    pub fn hang(&mut self) {
        let server = self.rng.usize(..self.cluster.servers.len());
        let until = self.now + (self.rng.u64(0..2_000_000_000) >> self.rng.u32(0..6));
        self.cluster.servers[server].hung_until = until;
        self.note("hang", || format!("of {server} until {until}"));
    }

    /// A slot begins to move to another server.
    pub fn reshard(&mut self) {
        let names: Vec<Vec<u8>> = self.keys.keys().cloned().collect();
        let key = &names[self.rng.usize(..names.len())];
        let to = self.rng.usize(..self.cluster.servers.len());
        self.cluster.begin_move(key, to);
        if self.cluster.moving.is_some() {
            self.note("reshard", || format!("to {to}"));
            let time = self.now + self.delay() * 20;
            self.at(time, Happening::Moves);
        }
    }

    /// Another program, or the server's own eviction, changes a key.
    pub fn meddle(&mut self, evicts: bool) {
        let names: Vec<Vec<u8>> = self.keys.keys().cloned().collect();
        let name = names[self.rng.usize(..names.len())].clone();
        let server = self.cluster.owner(&name);
        let number = self.keys[&name];
        if evicts {
            self.cluster.servers[server].remove(&name);
            self.note("evicts", || format!("k{number}"));
        } else if self.rng.u32(..20) == 0 {
            for server in 0..self.cluster.servers.len() {
                self.cluster.servers[server].flush();
                self.push_all(server);
            }
            self.note("flushes", String::new);
            self.truth.flushes.push(self.now);
            for key in 0..self.truth.changes.len() {
                self.truth.changes[key].push(self.now);
            }
            self.recompute(false);
            return;
        } else if self.rng.bool() {
            self.cluster.servers[server].remove(&name);
            self.note("foreign delete", || format!("k{number}"));
        } else {
            // Another machine, which the simulation does not have.
            let serial = self.truth.value(None);
            let clock = self
                .cluster
                .get(&self.name.clock(), self.now)
                .map_or(0, |text| String::from_utf8_lossy(text).parse().unwrap_or(0));
            let mut bytes = vec![0xC1, 0x81];
            bytes.extend_from_slice(&u64::to_le_bytes(clock)[..6]);
            bytes.extend_from_slice(&self.rng.u64(..).to_le_bytes());
            bytes.extend_from_slice(&entry_of(number, serial, 0, self.now_ms()));
            let set = Command::set(name.clone(), bytes, None);
            self.cluster.execute(server, &set, self.now);
            self.note("foreign set", || format!("k{number} v{serial}"));
        }
        self.truth.changes[number].push(self.now);
        self.written(server, &name);
    }
}
