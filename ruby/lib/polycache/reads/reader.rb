# frozen_string_literal: true

require_relative "../flight"
require_relative "../http"
require_relative "expiry"
require_relative "kept"
require_relative "name"
require_relative "plan"
require_relative "stats"

module Polycache
  module Reads
    # Answers the calls of a client's methods that read, from memory, from what this host keeps, or
    # by the client (spec/reads.md, "A read").
    class Reader
      # Seconds for which a caller waits for another's read before it asks itself: a thread may wait
      # for a connection that this one has.
      PATIENCE = 1.0
      private_constant :PATIENCE

      # What a method's JSON is called.
      JSON_OF = Hash.new { |names, method| names[method] = :"json #{method}" }
      private_constant :JSON_OF

      # What a read brings: the reply as it is isolated, how the read is called, the reply's bytes,
      # and its JSON once somebody has asked for it.
      Found = Struct.new(:kept, :name, :packed, :document, :representation)
      # A read under way.
      Begun = Struct.new(:flight, :at)
      # A read of a method of the client.
      Read = Struct.new(:call, :prepared, :plan, :name)
      private_constant :Found, :Begun, :Read

      # @param opened [Opened]
      def initialize(way, opened)
        @way = way
        @opened = opened
        @prefixes = prefixes
        @native = opened.native.cached_reads(@prefixes)
        @kept = Kept.new(@native, opened.memory)
        @ordered = @kept.ordered?
        @lock = Mutex.new
        @stats = Stats.new
        @closed = false
        start
      end

      # The reply of a call of a method of the client.
      def read(method, args, options)
        call = Name.call(@way.scope, method, args, options)
        if (entry = @kept.find(call))
          return Kept.hand_out(hit(entry).value)
        end

        Kept.hand_out(landed(Name.own(call), method, args, options).kept)
      end

      # The JSON of the reply of a call, encoded once for each change.
      #
      # @return [HTTP::Representation]
      def json(method, args, options)
        scope = @way.scope
        call = Name.call(scope, JSON_OF[method], args, options)
        entry = @kept.find(call)
        return hit(entry).value if entry

        call = Name.own(call)
        found = landed(Name.own(Name.call(scope, method, args, options)), method, args, options)
        # Another caller of the same flight may have made it.
        made = @kept.find(call)
        made ? made.value : represented(call, found)
      end

      def stats = @lock.synchronize { @stats.to_h }

      # Has reads of these keys read anew on this host.
      def forget(keys)
        words = keys.map { |key| key_as_sent(key) }
        # What is under way was begun before the write, perhaps.
        @lock.synchronize { @flights.clear }
        words.each_slice(Plan::MOST_KEYS) { |some| @native.forget(Name.of(some, "", [])) }
      end

      def close
        @lock.synchronize do
          @closed = true
          @kept.clear
        end
        @opened.close
      end

      private

      # A fork has none of the threads that read.
      def start
        @process = Process.pid
        @flights = {}
      end

      # As the client sends them, which may put a prefix of its own before them.
      def prefixes
        given = @opened.prefixes
        return given.map { |prefix| key_as_sent(prefix) } unless @way.dynamic?
        return [""] if given == [""]

        raise InvalidArgument,
              "prefixes come behind a namespace, and this client's is another one at each call"
      end

      def key_as_sent(key) = @way.key(key).b

      def hit(entry)
        if @ordered
          @lock.synchronize do
            @stats.memory_hits += 1
            @kept.use(entry) if @kept.find(entry.key).equal?(entry)
          end
        else
          # Of hits at once one may be left out, which is cheaper than a lock for each.
          @stats.memory_hits += 1
          @kept.use(entry)
        end
        entry
      end

      # What a call brings; callers of this process share a read that is under way.
      def landed(call, method, args, options)
        raise Closed, "the cached reads were closed; open others" if @closed

        flight, mine = board(call)
        return fly(flight, call, method, args, options) if mine

        joined = flight && wait(flight)
        joined || read_now(call, method, args, options)
      end

      def represented(call, found)
        packed, origin = @native.near(found.name) if found.name
        # Another reply than the one that landed may be there by now.
        return represented_once(found) if packed.nil?

        found = Found.new(nil, nil, packed, found.document) unless packed == found.packed
        representation = represented_once(found)
        @lock.synchronize { keep(call, representation, representation.size, origin) }
        representation
      end

      # The JSON of what a read brought, made for the first of its callers that asks for it.
      def represented_once(found)
        found.representation ||= begin
          packed = found.packed
          json = document_of(found) if found.document
          json ||= packed ? Native::Reply.json(packed) : HTTP::Json.of(found.kept)
          HTTP::Representation.new(json.freeze)
        end
      end

      # @return [String, nil] the text of a document, which is JSON already
      def document_of(found)
        reply = found.packed ? Native::Reply.unpack(found.packed, false) : found.kept
        reply.b if reply.is_a?(String)
      end

      # @return [(Flight, Boolean)] the read to join or, with true, to make; none where this thread
      #   has to read by itself
      def board(call)
        @lock.synchronize do
          start unless @process == Process.pid
          begun = @flights[call]
          now = Flight.now
          if begun && now - begun.at < @opened.joins_within
            return [nil, false] if @way.held?

            @stats.joined += 1
            next [begun.flight, false]
          end
          @flights[call] = Begun.new(Flight.new, now)
          [@flights[call].flight, true]
        end
      end

      # @return [Found, nil] nil when it brings nothing for others, or nothing in time
      # @raise the error of the read
      def wait(flight)
        landed = flight.wait(PATIENCE)
        landed.value if landed&.any?
      end

      def fly(flight, call, method, args, options)
        found = read_now(call, method, args, options)
        # What has no packed form is its caller's alone.
        found.name ? Flight.tell([flight], Landed.with(found, nil)) : Flight.give_up([flight])
        found
      rescue StandardError => e
        # Any other may be its caller's own: of a Timeout with a class, or a pool it had no turn in.
        Flight.tell([flight], Landed.failed(e)) if Ways.error?(e)
        raise
      ensure
        Flight.give_up([flight]) # Nothing, where it has landed.
        @lock.synchronize { @flights.delete(call) if @flights[call]&.flight.equal?(flight) }
      end

      def read_now(call, method, args, options)
        read = prepare(call, method, args, options)
        if read.plan.keys.size > Plan::MOST_KEYS
          count(:refused)
          return pass(read)
        end
        unless @native.know
          # The server does not answer the cache; what it tells the client is the client's business.
          count(:deaf)
          return pass(read)
        end
        began = Flight.now
        loop do
          found = near(read)
          return found if found

          begun = @native.begin(read.name, Flight.now - began)
          case begun
          when nil then next
          when Float then sleep(begun)
          else return ask(read, begun)
          end
        end
      end

      # @raise [UncacheableRead, InvalidArgument]
      def prepare(call, method, args, options)
        prepared = @way.prepare(method, args, options)
        plan = Plan.new(prepared.words)
        check_prefixes(plan.keys)
        @way.check_keys(prepared.words[0], plan.keys)
        shape = @way.shape("#{method} #{Name.kinds(args)}#{Name.kinds(options)}")
        Read.new(call, prepared, plan, Name.of(plan.keys, shape, prepared.words))
      end

      def check_prefixes(keys)
        keys.each do |key|
          next if @prefixes.any? { |prefix| key.b.start_with?(prefix) }

          raise InvalidArgument,
                "the key #{key.inspect} begins with none of prefixes: nobody would hear of its " \
                "writes"
        end
      end

      # What this host has, if it may be served.
      def near(read)
        packed, origin = @native.near(read.name)
        return unless packed

        kept = @kept.isolate(Native::Reply.unpack(packed, false), packed)
        @lock.synchronize do
          @stats.host_hits += 1
          keep(read.call, kept, packed.bytesize, origin)
        end
        Found.new(kept, read.name, packed, read.plan.document?)
      end

      # Has the client read, and keeps the reply if it may.
      def ask(read, ticket)
        why = ticket.why
        count(why) if why
        questions = why ? [] : Expiry.questions(read.plan)
        asks = ticket.asks
        sent_at = Process.clock_gettime(Process::CLOCK_REALTIME, :millisecond)
        answers, reply, proof = send_read(questions, read, asks && ["GETEX", asks])
        packed = Native::Reply.pack(reply)
        expires = Expiry.of(read.plan, answers, sent_at) unless why
        kept = ticket.fill(proof.is_a?(String) ? proof : nil, (packed if expires), expires || 0)
        count(:refused) if !why && !kept
        return Found.new(reply, nil, nil, read.plan.document?) unless packed

        isolated(read, reply, packed, kept)
      ensure
        ticket.fail # Nothing, where it has ended.
      end

      def isolated(read, reply, packed, is_kept)
        kept = @kept.isolate(reply, packed)
        found, origin = @native.near(read.name) if is_kept
        if found == packed
          @lock.synchronize { keep(read.call, kept, packed.bytesize, origin) }
        end
        Found.new(kept, read.name, packed, read.plan.document?)
      end

      # A read that is not kept at all.
      def pass(read)
        _, reply, = send_read([], read, nil)
        packed = Native::Reply.pack(reply)
        return Found.new(reply, nil, nil, read.plan.document?) unless packed

        Found.new(@kept.isolate(reply, packed), read.name, packed, read.plan.document?)
      end

      def send_read(before, read, after)
        @lock.synchronize { @stats.sent += 1 }
        @way.exchange(before, read.prepared, after)
      end

      # The caller holds the lock.
      def keep(call, kept, bytes, origin)
        @kept.put(call, kept, bytes, origin) unless @closed
      end

      def count(why) = @lock.synchronize { @stats.uncached(why) }
    end
  end
end
