//! Namespaces for async connections.

use std::sync::Arc;

use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisFuture, RedisResult, Value};

use crate::connection::Namespaced;
use crate::error::Error;
use crate::packed::{words_of, Packed};
use crate::scope::{Scope, Step};
use crate::session::{not_encoded, Namespace, Sent, Session};
use crate::table::Command;

impl<C: ConnectionLike + Send> ConnectionLike for Namespaced<C> {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let known = self.find(words_of(command))?;
            if known.emulated {
                let sent = self.session.emulated(&self.namespace, known)?;
                return emulate(&mut self.connection, sent).await;
            }
            let (rewritten, sent) = rewrite(&self.namespace, &self.session, known, command)?;
            match self.connection.req_packed_command(&rewritten).await {
                Ok(reply) => Ok(self.session.after(sent, reply)),
                Err(error) => {
                    self.session.failed(sent.as_ref());
                    Err(error)
                }
            }
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let mut rewritten = Pipeline::with_capacity(pipeline.len());
            let mut sent = Vec::with_capacity(pipeline.len() + 2);
            // redis-rs sends MULTI and EXEC around a transaction.
            if pipeline.is_transaction() {
                rewritten.atomic();
                sent.push(self.around("MULTI")?);
            }
            for command in pipeline.cmd_iter() {
                let known = self.find(words_of(command))?;
                let (one, its) = rewrite(&self.namespace, &self.session, known, command)?;
                rewritten.add_command(one);
                sent.push(its);
            }
            if pipeline.is_transaction() {
                sent.push(self.around("EXEC")?);
            }
            let replies = self
                .connection
                .req_packed_commands(&rewritten, offset, count)
                .await;
            match replies {
                Ok(replies) => Ok(self.session.after_all(sent, offset, replies)),
                Err(error) => {
                    self.session.unseen(sent);
                    Err(error)
                }
            }
        })
    }

    fn get_db(&self) -> i64 {
        self.connection.get_db()
    }
}

impl<C> Namespaced<C> {
    fn around(&self, name: &str) -> RedisResult<Option<Sent>> {
        let command = self.namespace.find([Some(name.as_bytes())].into_iter())?;
        Ok(Some(Sent {
            command: command.clone(),
            prefix: self.namespace.prefix()?,
        }))
    }
}

/// The command with its prefixes, sent the way it was meant to be sent.
fn rewrite(
    namespace: &Namespace,
    session: &Session,
    known: &Arc<Command>,
    command: &Cmd,
) -> Result<(Cmd, Option<Sent>), Error> {
    // The cursor of an iteration is known only once the command is encoded.
    let packed = command.in_scan_mode().then(|| command.get_packed_command());
    let mut words = words_of(command);
    let mut rewritten = Cmd::with_capacity(words.len() + 1, 0);
    let sent = match &packed {
        Some(packed) => {
            let mut words = Packed::first(packed).ok_or_else(not_encoded)?;
            session.rewrite(namespace, known, &mut words, packed.len(), &mut rewritten)?
        }
        None => session.rewrite(namespace, known, &mut words, 0, &mut rewritten)?,
    };
    rewritten.set_no_response(command.is_no_response());
    Ok((rewritten, sent))
}

async fn emulate(connection: &mut (impl ConnectionLike + Send), sent: Sent) -> RedisResult<Value> {
    let (mut scope, mut next) = Scope::new(sent);
    loop {
        match scope.step(connection.req_packed_command(&next).await?)? {
            Step::Send(command) => next = command,
            Step::Done(reply) => return Ok(reply),
        }
    }
}
