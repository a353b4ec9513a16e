//! What a change of a server's data means: for the judge, and for the listeners that are told.

use super::*;

impl Network {
    /// Notes a change, for the rule that what a load stores is younger than every change.
    pub(super) fn executed(
        &mut self,
        key: Option<usize>,
        command: &Command,
        before: Option<&[u8]>,
    ) {
        if let Some(key) = key {
            let now = self.now;
            let replaced = before.and_then(Record::parse);
            let is_pending = replaced.is_some_and(|record| matches!(record.kind, Kind::Pending(_)));
            let by_load = matches!(command.verb, Verb::Run(Script::Exchange)) && is_pending;
            let of_load = matches!(command.verb, Verb::Run(Script::Acquire | Script::Remove));
            if by_load {
                let stored = self.serial_at(&command.key).and_then(|serial| {
                    self.truth.values[serial as usize].map(|began| (serial, began))
                });
                if let Some((serial, began)) = stored {
                    let reset = self.last_failover > began;
                    let later = self.truth.changes[key].iter().any(|at| *at > began)
                        && self.served(key) == Some(serial)
                        && !reset;
                    if later {
                        self.faults.push(format!(
                            "the loaded v{serial} of k{key} was stored at {now} after a change since {began}"
                        ));
                    }
                }
            } else if !of_load {
                self.truth.changes[key].push(now);
            }
        }
    }

    /// A key was written: what it holds now, and who is told.
    pub(super) fn written(&mut self, server: usize, key: &[u8]) {
        match self.name.understand(key) {
            Pushed::Value(_) => {
                if let Some(number) = self.keys.get(key).copied() {
                    self.recompute_one(number, false);
                    self.cleared_already(number, key);
                }
            }
            Pushed::Floor(namespace) => {
                let cleared: Vec<usize> = (0..self.truth.changes.len())
                    .filter(|key| {
                        namespaces(&self.scenario, *key)
                            .iter()
                            .any(|one| one == namespace)
                    })
                    .collect();
                let number = self.cluster.get(key, self.now).map(<[u8]>::to_vec);
                let counted = number.and_then(|number| self.counted.get(&number).copied());
                for key in cleared {
                    self.truth.changes[key].push(counted.unwrap_or(self.now));
                }
                self.raised.insert(key.to_vec(), self.now);
                self.recompute(true);
            }
            _ => {}
        }
        self.tell(server, key);
        if let Some(alias) = alias(key) {
            self.tell(server, &alias);
        }
    }

    /// Those that listen to a key hear of it.
    fn tell(&mut self, server: usize, key: &[u8]) {
        let one = &mut self.cluster.servers[server];
        let wanted = one
            .trackers
            .iter()
            .any(|(_, prefixes)| prefixes.iter().any(|prefix| key.starts_with(prefix)));
        if wanted {
            let first = one.written.is_empty();
            one.written.insert(key.to_vec());
            if first {
                let time = self.now + self.rng.u64(0..self.scenario.round);
                self.at(time, Happening::Round { server });
            }
        }
    }

    pub(super) fn recompute(&mut self, by_clear: bool) {
        for key in 0..self.truth.states.len() {
            self.recompute_one(key, by_clear);
        }
    }

    fn recompute_one(&mut self, key: usize, by_clear: bool) {
        let value = self.served(key);
        self.truth.state(key, self.now, value, by_clear);
        let record = self.serial_at(&self.name.value(&full_key(&self.scenario, key)));
        self.truth.record(key, self.now, record);
    }

    /// A value may be stored by somebody who did not know of a clear yet: on that host it stands until
    /// the clear is heard of.
    pub(super) fn cleared_already(&mut self, key: usize, name: &[u8]) {
        let Some(serial) = self.serial_at(name) else {
            return;
        };
        if self.served(key).is_some() {
            return;
        }
        let now = self.now;
        self.truth.state(key, now, Some(serial), false);
        self.truth.state(key, now, None, true);
    }

    /// A set that is acknowledged stands, or something came after it: a clear that was executed no more
    /// than `max_staleness` before the set began, at the earliest.
    pub fn acknowledged(&mut self, key: usize, serial: Serial, begin: Time) {
        let name = self.name.value(&full_key(&self.scenario, key));
        if self.serial_at(&name) != Some(serial) || self.served(key).is_some() {
            return;
        }
        // A failover may lose the second of the two commands of a set.
        if self.last_failover > begin {
            return;
        }
        let raised = namespaces(&self.scenario, key)
            .iter()
            .filter_map(|one| self.raised.get(&self.name.floor(one)))
            .max()
            .copied()
            .unwrap_or(0);
        let staleness = self.scenario.staleness.as_nanos() as u64;
        if raised < begin.saturating_sub(staleness) {
            self.faults.push(format!(
                "v{serial} of k{key}, set since {begin}, is lost to a clear of {raised}"
            ));
        }
    }

    /// What a read of the key finds on its primary.
    fn served(&self, key: usize) -> Option<Serial> {
        let name = self.name.value(&full_key(&self.scenario, key));
        let bytes = self.cluster.get(&name, self.now)?;
        let record = Record::parse(bytes)?;
        let Kind::Value(_) = record.kind else {
            return None;
        };
        (record.born >= self.floor(key)).then(|| self.serial_at(&name))?
    }

    fn floor(&self, key: usize) -> u64 {
        namespaces(&self.scenario, key)
            .iter()
            .filter_map(|one| self.cluster.get(&self.name.floor(one), self.now))
            .filter_map(|text| String::from_utf8_lossy(text).parse().ok())
            .max()
            .unwrap_or(0)
    }

    fn serial_at(&self, name: &[u8]) -> Option<Serial> {
        let bytes = self.cluster.get(name, self.now)?;
        let Kind::Value(entry) = Record::parse(bytes)?.kind else {
            return None;
        };
        serial_of(entry)
    }
}
