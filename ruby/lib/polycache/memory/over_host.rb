# frozen_string_literal: true

require_relative "namespace"

module Polycache
  module Memory
    # The memory tier over the host tier: values that were read there and decoded, each with the
    # word of its slot and the epoch (spec/memory.md, "Over the host tier: coherence"). One is
    # served while both are unchanged, which is one call of the extension: then no process has
    # written, deleted or cleared the key since. So only values that a read of the host tier gave
    # are put here, and writes need no messages. With a server the host tier has copies of what that
    # holds ("Over the remote tier").
    #
    # It answers the same calls as Native::Cache, and replaces it.
    class MemoryOverHost
      # @return [Native::Cache] the tier below
      attr_reader :native

      # @param native [Native::Cache]
      # @param entries [Namespace] where the values of this namespace are
      # @param types [Types] those that values may have
      def initialize(native, entries, types)
        @native = native
        @types = types
        @entries = entries
        @core = entries.core
        @store = @core.store
        @index = entries.index
        @ordered = @core.store.ordered?
        @freezes = @core.settings.isolation == "freeze"
        @clones = @core.settings.isolation == "clone"
      end

      # Answers +get+ for this tier; it calls the methods below if there is more to do than to hand
      # out what one tier has.
      def reader
        @reader ||= Native::MemoryReader.new(@native, @index, self, @freezes)
      end

      # Reads any key. Strings in UTF-8 are read by the reader, without this.
      def get(key, default)
        entry = @index[key] || other_form(key)
        return find(key, default, entry) unless entry && @native.stands?(entry.origin)

        hand_out(entry)
      end

      def hand_out(entry)
        @ordered ? @entries.use(entry) : entry.marked = true
        plan = entry.plan
        plan ? @core.out(entry.value, plan) : entry.value
      end

      # What the host tier has for a key whose +entry+ is no longer current, if it has one.
      def find(key, default, entry)
        found = @native.find(key, NOTHING)
        return keep(key, found, entry) unless NOTHING.equal?(found)

        # Otherwise it would stay until others push it out.
        forget(key) if entry
        default
      end

      # Keeps what was just read, and gives what its reader is given. The value has no other owner
      # yet, and nothing in it is reached twice: its parts need no look.
      def remember(key, found)
        name = Key.of(key)
        value = found.take(@freezes)
        bytes = found.bytes + Weigh.key(name)
        return remember_named(name, found, value, bytes) if found.named?

        if bytes > @store.max_bytes
          forget(name)
          return value
        end
        plan = :tree if @clones && !value.frozen?
        found.keep(value, !plan.nil?) unless @ordered
        put(Entry.new(@entries, name, value, plan, bytes, nil, nil, found))
        plan ? Copies.tree(value) : value
      end

      # What a reader gets of a value that is not kept.
      def pass_on(found)
        value = found.take(@freezes)
        return value unless found.named?

        # Functions of the user's run in it.
        plan = named_plan
        plan ? plan.copy(value) : @types.read(value)
      end

      # Puts the keys that are there into +found+, as they were given, with their values.
      def get_many(keys, found) = reader.get_many(keys, found, NOTHING)

      def has(key)
        entry = @index[key] || other_form(key)
        (entry && @native.stands?(entry.origin)) || @native.has(key)
      end

      # As Native::Cache does it; a hit is handed out of memory.
      def fetch(key, ttl, waited, busy, &load)
        entry = @index[key] || other_form(key)
        # The code that loads says what is wrong with the arguments.
        if entry && load && (ttl.nil? || ttl.equal?(:default)) && @native.stands?(entry.origin)
          return hand_out(entry)
        end

        found = @native.fetch_with_origin(key, ttl, waited, busy, &load)
        return keep(key, found, entry) if found.is_a?(Native::ValueWithOrigin)

        busy.equal?(found) ? busy : frozen(found)
      end

      # As Native::Cache does it; a hit is handed out of memory.
      def begin_load(key, ttl, waited, busy, loads)
        entry = @index[key] || other_form(key)
        return hand_out(entry) if entry && @native.stands?(entry.origin)

        found = @native.begin_load_with_origin(key, ttl, waited, busy, loads)
        found.is_a?(Native::ValueWithOrigin) ? keep(key, found, entry) : found
      end

      def step_load(key, load, busy)
        found = @native.step_load_found(key, load, busy)
        return found unless found.is_a?(Native::ValueWithOrigin)

        keep(key, found, @index[key] || other_form(key))
      end

      def fill(load, value) = frozen(@native.fill(load, value))

      # It is neither looked up nor kept in memory: that would be a use of it.
      def peek(key, default)
        value = @native.peek(key, NOTHING)
        NOTHING.equal?(value) ? default : frozen(value)
      end

      def facts(key)
        facts = @native.facts(key)
        facts && { **facts, value: frozen(facts.fetch(:value)) }
      end

      # What this process writes leaves its memory at once.
      def set(key, value, ttl)
        @native.set(key, value, ttl)
      ensure
        forget(key)
      end

      def set_many(pairs, ttl)
        @native.set_many(pairs, ttl)
      ensure
        forget_all(pairs.map(&:first))
      end

      def touch(key, ttl)
        @native.touch(key, ttl)
      ensure
        forget(key)
      end

      def add(key, value, ttl)
        @native.add(key, value, ttl)
      ensure
        forget(key)
      end

      def replace(key, value, ttl)
        @native.replace(key, value, ttl)
      ensure
        forget(key)
      end

      def compare_and_set(key, version, value, ttl)
        @native.compare_and_set(key, version, value, ttl)
      ensure
        forget(key)
      end

      def increment(key, by, initial, ttl)
        @native.increment(key, by, initial, ttl)
      ensure
        forget(key)
      end

      def decrement(key, by, initial, ttl)
        @native.decrement(key, by, initial, ttl)
      ensure
        forget(key)
      end

      # It is neither looked up nor kept in memory, as for +peek+.
      def find_to_update(key, miss)
        value, found = @native.find_to_update(key, NOTHING)
        [NOTHING.equal?(value) ? miss : frozen(value), found]
      end

      def set_updated(key, found, value, *ttl)
        @native.set_updated(key, found, value, *ttl)
      ensure
        forget(key)
      end

      def delete_updated(key, found)
        @native.delete_updated(key, found)
      ensure
        forget(key)
      end

      def delete(key)
        @native.delete(key)
      ensure
        forget(key)
      end

      def delete_many(keys)
        @native.delete_many(keys)
      ensure
        forget_all(keys)
      end

      def take(key, default)
        value = @native.take(key, NOTHING)
        NOTHING.equal?(value) ? default : frozen(value)
      ensure
        forget(key)
      end

      def delete_prefix(prefix)
        @native.delete_prefix(prefix)
      ensure
        forget_prefix(prefix)
      end

      def clear
        @native.clear
        @entries.clear
        @native.held = @store.held
        nil
      end

      def close
        @native.close
        @core.close
      end

      def namespace(part)
        native = @native.namespace(part)
        MemoryOverHost.new(native, @entries.namespace(part), @types)
      end

      def ttl(key) = @native.ttl(key)
      def keys_page(prefix, cursor) = @native.keys_page(prefix, cursor)
      def stats = @native.stats
      def machine_stats = @native.machine_stats
      def remote_stats = @native.remote_stats
      def usage(most) = @native.usage(most)
      def check = @native.check
      def flush = @native.flush
      def closed? = @native.closed?
      def path = @native.path
      def flight(key, scheduled) = @native.flight(key, scheduled)
      def copy_of(value) = @clones || @freezes ? frozen(@native.copy_of(value)) : value
      def wait_timeout = @native.wait_timeout
      def observers = @native.observers

      def heard=(heard)
        @native.heard = heard
      end

      def joined(value) = frozen(@native.joined(value))
      def count_absent = @native.count_absent
      def count_wait_timeout = @native.count_wait_timeout
      def lock(key) = @native.lock(key)
      def unlock(key, held) = @native.unlock(key, held)
      def locked?(key) = @native.locked?(key)

      private

      # What readers of a loaded value will be given. A value that could not be stored is handed
      # over as it is. So is one of a registered type: only its caller has it anyway, and it would
      # have to be encoded again.
      def frozen(value)
        return value unless @freezes

        kept, plan = Copies.keep_mapped(value, true, Types::NONE)
        plan ? value : kept
      rescue UnsupportedValue
        value
      end

      # A Symbol, or bytes that are text.
      def other_form(key)
        if key.is_a?(Symbol)
          @index[key.name]
        elsif key.is_a?(String) && key.encoding != Encoding::UTF_8
          @index[Key.of(key)]
        end
      end

      # Keeps what was just read if there is room, in the place of another value of the key, and if
      # it was read there lately (spec/memory.md, "Admission"). What a server answered is not kept:
      # it is not known where its copy is.
      def keep(key, found, entry)
        return remember(key, found) if entry ? found.known? : @native.admits?(found)

        forget(key) if entry
        pass_on(found)
      end

      # As +remember+, for a value that holds types as Named: it is kept so, and each reader gets
      # what is made of it. If all share one object, that is made first.
      def remember_named(name, found, value, bytes)
        plan = named_plan
        value = @types.read(value) unless plan
        if bytes > @store.max_bytes
          forget(name)
        else
          put(Entry.new(@entries, name, value, plan, bytes, nil, nil, found))
        end
        plan ? plan.copy(value) : value
      end

      def named_plan = @freezes || @clones ? @types.plan(@freezes) : nil

      def put(entry)
        @core.change { @store.put(entry) }
        @native.held = @store.held
      end

      def forget(key)
        return if @index.empty?

        name = Key.of(key)
        return unless @index[name]

        @core.change do
          entry = @index[name]
          @store.remove(entry, :deleted) if entry
        end
        @native.held = @store.held
      rescue InvalidKey
        nil # The host tier says so.
      end

      def forget_all(keys)
        keys.each do |key|
          forget(key)
        rescue InvalidKey
          nil # The host tier says so.
        end
      end

      def forget_prefix(prefix)
        prefix = Key.of(prefix).b
        @index.keys.each { |name| forget(name) if name.b.start_with?(prefix) } # rubocop:disable Style/HashEachMethods
      rescue InvalidKey
        nil # The host tier says so.
      end

      NOTHING = Object.new.freeze
      private_constant :NOTHING
    end
  end
end
