# frozen_string_literal: true

# Does one language's work of run.py: the same commands through a namespaced client and, without a
# namespace, on the model's database.

require "json"
require_relative "../../ruby/test/redis_namespace/support/clients"
require "redis_client"
require "polycache/redis_namespace"

work, shared, models, first, *namespaces = ARGV
SHOWN = 10

# A keyspace and its model.
Keyspace = Struct.new(:client, :model, :prefix)

keyspaces = namespaces.map do |namespace|
  options = { middlewares: [Polycache::RedisNamespace], custom: { namespace: namespace } }
  RedisClient.config(port: Integer(shared), timeout: 60, **options).new_client
end
keyspaces.push(RedisClient.config(port: Integer(shared), timeout: 60).new_client)
keyspaces = keyspaces.each_with_index.map do |client, number|
  model = RedisClient.config(port: Integer(models), db: Integer(first) + number, timeout: 60)
  Keyspace.new(client, model.new_client, namespaces[number] ? "#{namespaces[number]}:" : "")
end

# Replies that a server gives in any order, in one order; and errors by their text, in which a
# server may name the key as it knows it.
def canonical(reply, prefix)
  case reply
  when Array then reply.map { |one| canonical(one, prefix) }.sort_by(&:inspect)
  when Hash then canonical(reply.to_a, prefix)
  # redis-client adds the address.
  when RedisClient::Error then reply.message.sub(/ \(redis:.*/, "").sub("'#{prefix}", "'")
  else reply
  end
end

def sent(client, step, database)
  return [called(client, step["alone"])] if step["alone"]
  return lost(client) { lines(client, step, database) } if step["lost"]
  return lines(client, step, database) if step["lines"]

  # Without replies, when one of them is an error.
  client.pipelined(exception: step.fetch("raises", false)) do |pipeline|
    step["batch"].each do |words|
      pipeline.call(*words)
    end
  end
rescue RedisClient::CommandError => e
  [e]
end

def called(client, words)
  client.call(*words)
rescue RedisClient::Error => e
  e
end

def lines(client, step, database)
  replies = step["lines"].map { |words| called(client, words) }
  # RESET has chosen the first one.
  called(client, ["SELECT", database]) if step["reset"]
  replies
end

# The connection is lost after the block, with what the server knows of it.
def lost(client)
  id = client.call("CLIENT", "ID")
  replies = yield
  killer = RedisClient.config(port: client.config.port).new_client
  killer.call("CLIENT", "KILL", "ID", id)
  killer.close
  called(client, ["EXEC"])
  replies
end

mismatches = []
commands = 0
File.foreach(work) do |line|
  step = JSON.parse(line)
  keyspace = keyspaces.fetch(step["who"])
  is, should = [[keyspace.client, 0],
                [keyspace.model, Integer(first) + step["who"]]].map do |one, database|
    canonical(sent(one, step, database), keyspace.prefix)
  end
  commands += (step["batch"] || step["lines"] || [nil]).size
  next if is == should

  differ = "#{(is - should).first(3)} is not #{(should - is).first(3)}"
  mismatches.push("ruby: #{step.to_json}: #{differ}")
end
puts JSON.generate(commands: commands, mismatches: mismatches.first(SHOWN))
