# frozen_string_literal: true

require "securerandom"

require_relative "../problem"
require_relative "directives"
require_relative "request_key"
require_relative "storable"
require_relative "stored_answer"

module Polycache
  module HTTP
    class ResponseCache
      # One request on its way through the cache. Answers are what a Rack app returns.
      # @api private
      class Call
        # How long a load may keep what it loaded until its own lifetime is written down, in
        # seconds.
        AT_MOST = 86_400
        # How long a key passes by whose answer could not be stored, in milliseconds: callers do not
        # queue for what each has to ask for itself.
        PASS = 10_000
        PASS_AFTER_FAILURE = 1000
        # Behind a key and before the version of what may not be served: what is loaded in its place
        # lies here for callers that found the same.
        AGAIN = "#again"
        AGAIN_FOR = 1
        # Before a key without the values of fields: what is written there when its answers are
        # forgotten.
        CHANGED = "changed "
        SAFE = %w[GET HEAD OPTIONS TRACE].freeze
        # What a handler brought: a StoredAnswer, or a Passing for what is its own caller's alone;
        # and the error that it raised.
        Made = Struct.new(:entry, :error) do
          def stored? = entry.is_a?(StoredAnswer)

          def failure? = !stored? && entry.failure?
        end
        private_constant :AT_MOST, :PASS, :PASS_AFTER_FAILURE, :AGAIN, :AGAIN_FOR, :CHANGED, :SAFE,
                         :Made

        # @param shared [Shared] what the requests of one response cache have in common
        def initialize(shared, env, fields, origin)
          @shared = shared
          @cache = shared.cache
          @settings = shared.settings
          @env = env
          @fields = fields
          @origin = origin
        end

        def answer
          return pass("method") unless %w[GET HEAD].include?(method)

          given = given()
          return pass("key") if given.nil?

          why = refusal
          why ? pass(why) : look_up(given)
        end

        private

        def method = @env["REQUEST_METHOD"]

        def given = @settings.key ? @settings.key.call(@env) : RequestKey.url(@env)

        # Why a request is neither answered from the cache nor its answer stored.
        def refusal
          secret = %w[authorization cookie].find do |name|
            @fields.key?(name) && !@settings.keyed.include?(name)
          end
          return secret if secret

          single = %w[upgrade if-match if-unmodified-since].find { |name| @fields.key?(name) }
          return single if single

          "request-no-store" if asks?("no-store")
        end

        def asks?(directive) = Directives.new(@fields["cache-control"]).has?(directive)

        def look_up(given)
          begin
            base = RequestKey.base(given)
            key = RequestKey.key(base, @fields, @settings.vary)
            found = @cache.get(key)
          rescue StandardError => e
            return without_cache(e)
          end
          return missed(base, key) if found.nil?

          stored = Stored.read(found)
          return pass("foreign") unless stored

          found(base, key, stored)
        end

        def found(base, key, stored)
          now = @settings.now
          if stored.is_a?(Passing)
            return now < stored.until ? pass(stored.why) : stale(base, key)
          end
          return hand_out(key, stored, "hit") if now < stored.fresh_until
          return stale(base, key) if now >= stored.revalidate_until

          status, headers, body = hand_out(key, stored, "hit; detail=stale-while-revalidate")
          [status, headers, Sent.new(body) { refresh(key) }]
        end

        # RFC 9111 5.2.1.7.
        def only_if_cached
          return unless asks?("only-if-cached")

          Problem.answer(504, method, "It is not in the cache, and only that was asked for.").rack
        end

        # The handler's own answer, where there is no cache.
        def without_cache(error)
          @settings.tell(error)
          pass("cache")
        end

        # The handler's own answer, to the whole request and for its sender alone.
        def pass(why)
          refused = only_if_cached
          return refused if refused

          status, headers, body = @origin.ask
          forget_given unless SAFE.include?(method) || status.to_i >= 400
          return [status, headers, body] unless @settings.cache_status?

          told = why == "method" ? "fwd=method" : "fwd=bypass; detail=#{why}"
          own = { "cache-status" => "polycache; #{told}" }
          # Frameworks have classes of headers of their own, and freeze them.
          [status, headers.dup.merge!(own) { |_, *lines| lines.join(", ") }, body]
        end

        # The handler's change was made, whatever becomes of the answers.
        def forget_given
          given = given()
          forget(RequestKey.base(given)) unless given.nil?
        rescue StandardError => e
          @settings.tell(e)
        end

        # Forgets the answers of a key for all values of the fields in it, of which a walk through
        # the cache tells.
        def forget(base)
          if @settings.vary.empty?
            @cache.delete(base)
          else
            # Loads under way have no entry yet that the walk could find: they look at this before
            # and after.
            @cache.set(CHANGED + base, SecureRandom.uuid, ttl: AT_MOST)
            @cache.delete_prefix(base)
          end
        end

        # Differs after the answers of a key were forgotten. A delete of a key alone ends a load of
        # it.
        def changed(base)
          changed = @settings.vary.empty? ? nil : @cache.get(CHANGED + base)
          changed if changed.is_a?(String)
        end

        # In place of asking the handler for what would be stored: of HEAD nothing would be learned
        # that a GET could be answered with.
        def instead_of_load
          only_if_cached || (pass("method") if method == "HEAD")
        end

        def missed(base, key)
          instead = instead_of_load
          return instead if instead

          made = nil
          is_unsure = false
          begin
            before = changed(base)
            loaded = @cache.get_or_set(key, ttl: AT_MOST) do
              made = make
              is_unsure = @settings.vary.any?
              since(before, made.entry.value)
            end
            settle(base, key, before, made) if made
            is_unsure = false
          rescue StandardError => e
            return without_cache(e) unless made

            @settings.tell(e)
          ensure
            # Also when its thread is killed: nobody knows whether it was to be forgotten.
            undo(key) if is_unsure
          end
          made ? brought(key, made) : joined_since(before, key, loaded)
        end

        # With the last change that was known when its load began.
        def since(before, value) = before.nil? ? value : value.merge("since" => before)

        def joined_since(before, key, loaded)
          # Of a load that began before a change of which this caller may know.
          return pass("changed") if Stored.read(loaded) && Stored.since(loaded) != before

          joined(key, loaded, nil)
        end

        # Writes down the lifetime of what was loaded, or deletes it if answers of the key were
        # forgotten meanwhile.
        def settle(base, key, before, made)
          if changed(base) == before
            @cache.touch(key, ttl: ttl_of(made.entry))
          else
            @cache.delete(key)
          end
        end

        def undo(key)
          @cache.delete(key)
        rescue StandardError => e
          @settings.tell(e)
        end

        # Fetches anew what is there and may not be served; a stale answer stands in for a handler
        # that fails.
        def stale(base, key)
          instead = instead_of_load
          return instead if instead

          begin
            before = @cache.entry(key)
          rescue StandardError => e
            return without_cache(e)
          end
          # Deleted since it was found.
          return missed(base, key) if before.nil?

          found = Stored.read(before.value)
          # Replaced by what may be served.
          return joined(key, before.value, nil) if current?(found)

          load_again(key, before, found.is_a?(StoredAnswer) ? found : nil)
        end

        def current?(found)
          return false if found.nil?

          @settings.now < (found.is_a?(Passing) ? found.until : found.fresh_until)
        end

        def load_again(key, before, stale)
          made = nil
          begin
            # Only callers that found the same entry share the load: a later one finds what it
            # stored.
            loaded = @cache.get_or_set("#{key}#{AGAIN}#{before.version}", ttl: AGAIN_FOR) do
              (made = replace(key, before)).entry.value
            end
          rescue StandardError => e
            return without_cache(e) unless made

            @settings.tell(e)
          end
          return joined(key, loaded, stale) unless made
          return brought(key, made) unless made.failure? && stands_in?(stale)

          @settings.tell(made.error) if made.error
          hand_out(key, stale, "hit; detail=stale-if-error")
        end

        def stands_in?(stale) = !stale.nil? && @settings.now < stale.error_until

        # What a caller gets that waited for another's load: never an answer that was for the other
        # alone.
        def joined(key, loaded, stale)
          stored = Stored.read(loaded)
          return pass("foreign") unless stored
          return hand_out(key, stored, "hit; collapsed") if stored.is_a?(StoredAnswer)
          return pass(stored.why) unless stored.failure? && stands_in?(stale)

          hand_out(key, stale, "hit; detail=stale-if-error")
        end

        # What the caller gets whose request was loaded for. What cannot be stored was made without
        # the fields that only this request has, so the handler is asked again with all of them.
        def brought(key, made)
          made.stored? ? hand_out(key, made.entry, "fwd=miss; stored") : pass(made.entry.why)
        end

        def hand_out(key, stored, status) = @shared.handed_out.rack(key, stored, @env, status)

        # Fetches anew behind a stale answer, once on this machine.
        def refresh(key)
          return unless @shared.begins_refresh(key)

          begin
            lease = @cache.lease(key)
            refresh_alone(key, lease) if lease.acquire(false)
          rescue StandardError => e
            @settings.tell(e)
          ensure
            @shared.ends_refresh(key)
          end
        end

        def refresh_alone(key, lease)
          before = @cache.entry(key)
          # Deleted since it was found: what is made now could not be stored.
          return if before.nil?

          made = replace(key, before)
          @settings.tell(made.error) if made.error
        ensure
          lease.release
        end

        # Asks the handler, and replaces what is stored by what it brings; a failure leaves it. Who
        # deletes it meanwhile wins.
        def replace(key, before)
          made = make
          unless made.failure? && Stored.read(before.value).is_a?(StoredAnswer)
            put(key, before.version, made.entry)
          end
          made
        end

        def put(key, version, entry)
          @cache.compare_and_set(key, version, entry.value, ttl: ttl_of(entry))
        rescue StandardError => e
          @settings.tell(e)
        end

        # Asks the handler as one who knows only what belongs to the key.
        def make
          lifetime = now = nil
          whole = @origin.make do |status, fields|
            now = @settings.now
            lifetime = Storable.lifetime(status, fields, @settings.keyed, @settings.defaults, now)
            lifetime.is_a?(String) ? lifetime : too_large(fields)
          end
          return refused(whole) if whole.is_a?(String)

          Made.new(entry(whole, lifetime, now))
        rescue StandardError => e
          refused("failed", e)
        end

        def too_large(fields)
          told = Directives.whole_seconds(fields["content-length"])
          "too-large" if told && told > @settings.max_body
        end

        def entry(whole, lifetime, now)
          told = whole.fields["content-length"]
          size = whole.body.bytesize
          unless told.nil? || told == size.to_s
            raise InvalidArgument, "the app's body has #{size} bytes and not #{told}"
          end

          age = Storable.age(whole.fields)
          Stored.answer(whole.status, whole.fields, whole.body, lifetime, age, now)
        end

        def refused(why, error = nil)
          passing = Passing.new(why, 0)
          passing.until = @settings.now + (passing.failure? ? PASS_AFTER_FAILURE : PASS)
          Made.new(passing, error)
        end

        # Seconds that an entry is of any use.
        def ttl_of(entry) = [entry.useful_until - @settings.now, 1].max / 1000r
      end
      private_constant :Call

      # A body, and what is done when the client has it.
      # @api private
      class Sent
        def initialize(body, &done)
          @body = body
          @done = done
        end

        def each(&block) = @body.each(&block)

        def close
          done = @done
          @done = nil
          done&.call
        end
      end
      private_constant :Sent
    end
  end
end
