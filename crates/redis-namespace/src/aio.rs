//! The same for connections that are awaited.

use redis::aio::ConnectionLike;
use redis::{Cmd, Pipeline, RedisFuture, RedisResult, Value};

use crate::connection::{one, rewrite_all, Namespaced};
use crate::rules::Words;
use crate::scope::{Scope, Step};
use crate::session::Sent;

impl<C: ConnectionLike + Send> ConnectionLike for Namespaced<C> {
    fn req_packed_command<'a>(&'a mut self, command: &'a Cmd) -> RedisFuture<'a, Value> {
        Box::pin(async move {
            let packed = command.get_packed_command();
            let mut words = one(&packed)?;
            if let Some(sent) = self.session.emulated(&self.namespace, &words)? {
                return emulate(&mut self.connection, sent).await;
            }
            let sent = self.session.rewrite(&self.namespace, &mut words)?;
            let rewritten = rebuilt(&words, command);
            let reply = self.connection.req_packed_command(&rewritten).await?;
            Ok(self.session.after(sent, reply))
        })
    }

    fn req_packed_commands<'a>(
        &'a mut self,
        pipeline: &'a Pipeline,
        offset: usize,
        count: usize,
    ) -> RedisFuture<'a, Vec<Value>> {
        Box::pin(async move {
            let packed: Vec<Vec<u8>> = pipeline.cmd_iter().map(Cmd::get_packed_command).collect();
            let mut commands = packed
                .iter()
                .map(|one_| one(one_))
                .collect::<Result<Vec<_>, _>>()?;
            let mut sent = rewrite_all(&self.namespace, &self.session, &mut commands)?;
            let mut rewritten = Pipeline::with_capacity(commands.len());
            if pipeline.is_transaction() {
                // redis-rs sends MULTI and EXEC around it.
                let prefix = self.namespace.prefix()?;
                let around = |name: &'static str| -> RedisResult<Sent> {
                    let words: Words<'_> = vec![name.as_bytes().into()];
                    let command = self.namespace.find(&words)?.clone();
                    Ok(Sent {
                        command,
                        prefix: prefix.clone(),
                    })
                };
                sent.insert(0, around("MULTI")?);
                sent.push(around("EXEC")?);
                rewritten.atomic();
            }
            for (words, command) in commands.iter().zip(pipeline.cmd_iter()) {
                rewritten.add_command(rebuilt(words, command));
            }
            let replies = self
                .connection
                .req_packed_commands(&rewritten, offset, count)
                .await?;
            Ok(self.session.after_all(sent, offset, replies))
        })
    }

    fn get_db(&self) -> i64 {
        self.connection.get_db()
    }
}

/// A command of these words that is sent as the other one was meant to be.
fn rebuilt(words: &Words<'_>, like: &Cmd) -> Cmd {
    let mut command = Cmd::with_capacity(words.len(), words.iter().map(|word| word.len()).sum());
    for word in words {
        command.arg(&word[..]);
    }
    command.set_no_response(like.is_no_response());
    command
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
