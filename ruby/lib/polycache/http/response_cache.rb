# frozen_string_literal: true

require_relative "response_cache/call"
require_relative "response_cache/fields"
require_relative "response_cache/handed_out"
require_relative "response_cache/origin"
require_relative "response_cache/settings"

module Polycache
  module HTTP
    # Puts a cache before a Rack app: a shared cache (RFC 9111), which never gives one user's answer
    # to another. spec/http.md, "A response cache", says what it does; it shares its answers with
    # the packages for TypeScript, Rust and Python.
    #
    #   use Polycache::HTTP::ResponseCache, Polycache::Cache.new(namespace: "pages"), ttl: "10s"
    #   run Rails.application
    #
    # - Stored are complete answers to GET that say how long they are fresh (or +ttl+ does), without
    #   Set-Cookie, +private+, +no-store+ and +no-cache+, whose Vary names only what is in the key.
    #   HEAD, conditions and Accept-Encoding are answered from them.
    # - For an answer that may be stored, the app sees only those request fields that belong to the
    #   key or are +covered+, and of the env only what every request for the key has. So it cannot
    #   make the answer of anything else. Where its answer cannot be stored after all, it is asked
    #   once more, with the whole request. It runs in the thread and fiber of a request, so it sees
    #   what middlewares outside keep in variables of these (as ActiveSupport::CurrentAttributes):
    #   do not answer by them what may be stored.
    # - Of all callers of this machine one asks the app, by Cache#get_or_set.
    # - A request that is not GET or HEAD passes; if it succeeds, the answers of its URL are
    #   forgotten (RFC 9111 4.4).
    # - Where the cache fails, the app answers.
    #
    # Give the cache a namespace of its own.
    class ResponseCache
      # What the requests of one response cache have in common.
      # @api private
      class Shared
        attr_reader :cache, :settings, :handed_out

        def initialize(cache, settings)
          @cache = cache
          @settings = settings
          @handed_out = HandedOut.new(settings)
          @refreshing = {}
        end

        # @return [Boolean] whether this process does not fetch it anew already. A forked child is
        #   another one.
        def begins_refresh(key)
          return false if @refreshing[key] == Process.pid

          @refreshing[key] = Process.pid
          true
        end

        def ends_refresh(key) = @refreshing.delete(key)
      end
      private_constant :Shared

      # @param app [#call] a Rack app
      # @param cache [Cache]
      # @param options
      #   * +key+ [#call, nil] is given the env, and returns what the answer is stored under, in
      #     place of the request's URL; the fields of +vary+ are added; nil for a request that is
      #     not cached. Default: the URL; a request of no host is not cached.
      #   * +vary+ [Array<String>, nil] request fields that belong to the key: each value has
      #     answers of its own. Default: none.
      #   * +covered+ [Array<String>, nil] request fields that +key+ stands for, or that no answer
      #     depends on. Without "authorization" or "cookie" in +vary+ or here, a request that has
      #     one is not cached. Default: none.
      #   * +extensions+ [Array<String>, nil] names in the env that an app also sees whose answer
      #     may be stored, and that middlewares outside have put there. You say that +key+ stands
      #     for them, or that no answer depends on them. Default: none.
      #   * +ttl+ [String, Numeric, nil] how long an answer is fresh that does not say so. Default:
      #     it is not stored.
      #   * +stale_while_revalidate+ [String, Numeric, nil] how long after that it is served while a
      #     newer one is fetched, unless it says so itself. Default: not at all.
      #   * +stale_if_error+ [String, Numeric, nil] how long after that it is served while the app
      #     fails, unless it says so itself. Default: not at all.
      #   * +max_body+ [Integer, String, nil] bytes of the largest body that is stored; larger ones
      #     pass through. Default: "1MiB".
      #   * +cache_status+ [Boolean, nil] whether answers say what the cache did, by the field
      #     Cache-Status (RFC 9211). Default: true.
      #   * +on_error+ [#call, nil] told of an app's errors while a stale answer is served in its
      #     place, and of the cache's. Default: a warning.
      #   * +clock+ [#call, nil] returns milliseconds since 1970, for tests; nil is the system's.
      #     Default: nil.
      #   * +codings+ [Array<String>, nil] content codings that may be used, best first. Default:
      #     Codings::ALL.
      #   * +compress_from+ [Integer, nil] bytes below which compression is not worth it. Default:
      #     1024.
      # @raise [InvalidArgument]
      def initialize(app, cache, **options)
        unless app.respond_to?(:call) && cache.respond_to?(:get_or_set)
          raise InvalidArgument, "a response cache takes a Rack app and a Cache"
        end

        @app = app
        @shared = Shared.new(cache, Settings.new(options))
      end

      # @param env [Hash]
      # @return [Array(Integer, Hash, #each)]
      def call(env)
        fields = Fields.of_request(env)
        Call.new(@shared, env, fields, Origin.new(@app, env, fields, @shared.settings)).answer
      end
    end
  end
end
