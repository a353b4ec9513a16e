# frozen_string_literal: true

require_relative "response_cache_helper"

# A response cache with many threads at once, threads that are killed, bodies that are too large or
# break off, forked children, and what the app may see.
class ResponseCacheTest < Minitest::Test
  include Caches
  include Children
  include ResponseCaches

  PAGE = { "cache-control" => "max-age=60", "content-type" => "text/plain" }.freeze
  PRIVATE = { "cache-control" => "private" }.freeze
  KEY = "\"http://test.example/\""

  # Waits until it may go on.
  class Held
    attr_reader :asked

    def initialize(&app)
      @app = app
      @asked = 0
      @lock = Mutex.new
      @gate = Thread::Queue.new
    end

    def go = @gate.close

    def call(env)
      @lock.synchronize { @asked += 1 }
      @gate.pop
      @app.call(env)
    end

    def wait_until_asked(times = 1) = (Thread.pass until @asked >= times)
  end

  def setup
    super
    @cache = open_cache
  end

  def teardown
    # After every test: no lease was left behind.
    assert_equal 0, @cache.check[:leases]
    super
  end

  def page(body = "page", headers = PAGE) = [200, headers.dup, [body]]

  # What callers get who all ask before the app goes on.
  def at_once(app, held, count)
    callers = Array.new(count) do |number|
      Thread.new { get(app, headers: { "x-user" => "u#{number}" }) }
    end
    callers.each { |caller| caller.report_on_exception = false }
    held.wait_until_asked
    Thread.pass until callers.all? { |caller| caller.status == "sleep" }
    held.go
    callers
  end

  def test_many_threads_at_once_ask_the_app_once
    held = Held.new { page }
    got = at_once(cached(held, @cache), held, 50).map(&:value)

    assert_equal ["page"], got.map(&:body).uniq
    assert_equal ["fwd=miss; stored", "hit; collapsed"], got.map(&:cache_status).uniq.sort
    assert_equal 1, held.asked
  end

  def test_who_waited_for_a_private_answer_gets_an_own_one
    held = Held.new { |env| page("for #{env["HTTP_X_USER"]}", PRIVATE) }
    got = at_once(cached(held, @cache), held, 20).map(&:value)

    assert_equal Array.new(20) { |number| "for u#{number}" }, got.map(&:body)
    assert_equal ["fwd=bypass; detail=private"], got.map(&:cache_status).uniq
  end

  def test_who_waited_for_an_app_that_raises_asks_it
    held = Held.new { |env| raise IOError, "for #{env["HTTP_X_USER"]}" }
    errors = at_once(cached(held, @cache), held, 5).map do |caller|
      assert_raises(IOError) { caller.value }
    end

    assert_equal Array.new(5) { |number| "for u#{number}" }, errors.map(&:message)
    assert_equal 6, held.asked
  end

  def test_a_thread_that_is_killed_keeps_nobody_from_asking
    held = Held.new { page }
    app = cached(held, @cache)
    leaving = Thread.new { get(app) }
    held.wait_until_asked
    staying = Thread.new { get(app) }
    Thread.pass until staying.status == "sleep"
    leaving.kill
    held.wait_until_asked(2)
    held.go

    assert_equal "page", staying.value.body
  end

  def test_a_post_ends_a_load_under_way
    [[], ["accept-language"]].each do |vary|
      version = 1
      held = Held.new { |env| page(env.fetch("test.version").to_s) }
      app = lambda do |env|
        version += 1 if env["REQUEST_METHOD"] == "POST"
        read = version
        env["REQUEST_METHOD"] == "POST" ? [204, {}, []] : held.call("test.version" => read)
      end
      app = cached(app, @cache, vary: vary)
      german = { headers: { "accept-language" => "de" }, target: "/#{vary.size}" }
      before = Thread.new { get(app, **german) }
      held.wait_until_asked
      get(app, method: "POST", target: german[:target])
      held.go

      assert_equal "1", before.value.body
      # Whatever the first caller got, nobody gets it from the cache: it is of before.
      after = get(app, **german)

      assert_equal ["2", "fwd=miss; stored"], [after.body, after.cache_status]
    end
  end

  def test_a_post_ends_a_load_in_place_of_a_stale_answer
    [[], ["accept-language"]].each do |vary|
      version = 1
      held = nil
      app = lambda do |env|
        version += 1 if env["REQUEST_METHOD"] == "POST"
        answer = page(version.to_s, { "cache-control" => "max-age=0, stale-if-error=60" })
        if held && env["REQUEST_METHOD"] == "GET"
          waits = held
          held = nil
          waits.call(env)
        end
        answer
      end
      app = cached(app, @cache, vary: vary)
      target = "/#{vary.size}"
      get(app, target: target)
      waits = held = Held.new { nil }
      before = Thread.new { get(app, target: target) }
      waits.wait_until_asked
      get(app, method: "POST", target: target)

      assert_equal "2", get(app, target: target).body
      waits.go

      assert_equal "1", before.value.body
      after = get(app, target: target)

      assert_equal ["2", "fwd=miss; stored"], [after.body, after.cache_status]
    end
  end

  def test_a_get_after_a_post_does_not_join_a_load_from_before_it
    version = 1
    held = nil
    app = lambda do |env|
      next [204, {}, [(version += 1).to_s]] if env["REQUEST_METHOD"] == "POST"

      answer = page(version.to_s)
      held&.call(env)
      answer
    end
    app = cached(app, @cache, vary: ["accept-language"])
    got = ->(*) { get(app).then { |answer| [answer.body, answer.cache_status] } }
    # Without a change before the load, and with one that all know of.
    %w[1 3].each do |old|
      waits = held = Held.new { nil }
      before = Array.new(2) { Thread.new(&got) }
      waits.wait_until_asked
      Thread.pass until before.all? { |caller| caller.status == "sleep" }
      get(app, method: "POST")
      held = nil
      after = Thread.new(&got)
      Thread.pass until after.status == "sleep"
      waits.go

      assert_equal [[old, "fwd=miss; stored"], [old, "hit; collapsed"]], before.map(&:value).sort
      assert_equal [old.succ, "fwd=bypass; detail=changed"], after.value
      assert_equal [old.succ, "fwd=miss; stored"], got.call
      get(app, method: "POST")
    end
  end

  # A cache of which some methods do something else.
  class Odd < BasicObject
    def initialize(cache, **methods)
      @cache = cache
      @methods = methods
    end

    def method_missing(name, ...)
      return @methods[name].call(...) if @methods.key?(name)

      @cache.public_send(name, ...)
    end

    def respond_to_missing?(*) = true
  end

  FAILS = ->(*, **) { raise IOError, "no cache" }

  def test_a_thread_that_is_killed_before_it_looks_leaves_no_answer
    looks = 0
    read = lambda do |key|
      if key.start_with?("changed ") && (looks += 1) == 2
        Thread.stop
      end
      @cache.get(key)
    end
    leaving = Thread.new { get(cached(->(_) { page }, Odd.new(@cache, get: read), vary: ["x-a"])) }
    Thread.pass until looks == 2 && leaving.status == "sleep"

    assert @cache.has?("#{KEY}-")
    leaving.kill.join

    refute @cache.has?("#{KEY}-")
  end

  def test_a_load_that_cannot_be_settled_leaves_no_answer
    looks = 0
    read = ->(key) { (looks += 1) == 3 ? FAILS.call : @cache.get(key) }
    errors = []
    app = cached(->(_) { page }, Odd.new(@cache, get: read), vary: ["x-a"],
                                                             on_error: errors.method(:push))
    ["fwd=miss; stored", "fwd=miss; stored", "hit"].each do |status|
      assert_equal status, get(app).cache_status
    end
    assert_equal ["no cache"], errors.map(&:message)
  end

  def test_where_the_cache_fails_the_app_answers
    without = "fwd=bypass; detail=cache"
    [
      [%i[get set entry get_or_set compare_and_set touch delete], without, "ada"],
      [%i[get_or_set], without, "ada"],
      [%i[touch delete compare_and_set], "fwd=miss; stored", "-"]
    ].each_with_index do |(failing, status, user), number|
      errors = []
      odd = Odd.new(@cache, **failing.to_h { |name| [name, FAILS] })
      app = cached(->(env) { page(env.fetch("HTTP_X_USER", "-")) }, odd,
                   on_error: errors.method(:push), key: ->(_) { number.to_s })
      got = get(app, headers: { "x-user" => "ada" })

      assert_equal [status, user], [got.cache_status, got.body]
      assert_equal 1, errors.size
      posted = get(app, method: "POST", headers: { "x-user" => "ada" })

      assert_equal %w[fwd=method ada], [posted.cache_status, posted.body]
    end
  end

  def test_the_app_sees_only_what_is_in_the_key
    seen = []
    app = lambda do |env|
      seen << env
      page
    end
    app = cached(app, @cache, vary: %w[x-a content-type], covered: %w[cookie range],
                              extensions: ["app.tenant"])
    got = get(app, target: "/a%2Fb?c=1",
                   headers: { "x-a" => "é", "x-user" => "ada", "cookie" => "s", "range" => "b" },
                   CONTENT_TYPE: "a/b", REMOTE_USER: "ada", "rack.session": { "id" => 1 },
                   "app.tenant": "t", REQUEST_URI: "/other", SERVER_PORT: "443")

    assert_equal "fwd=miss; stored", got.cache_status
    env = seen.first

    assert_equal "", env.delete("rack.input").read
    servers = %w[rack.errors rack.version rack.multithread rack.multiprocess rack.run_once]
    env = env.except(*servers)

    assert_equal({ "REQUEST_METHOD" => "GET", "SCRIPT_NAME" => "", "PATH_INFO" => "/a%2Fb",
                   "QUERY_STRING" => "c=1", "SERVER_NAME" => "test.example", "SERVER_PORT" => "80",
                   "SERVER_PROTOCOL" => "HTTP/1.1", "HTTPS" => "off", "rack.url_scheme" => "http",
                   "HTTP_HOST" => "test.example", "HTTP_X_A" => "\xE9".b, "CONTENT_TYPE" => "a/b",
                   "HTTP_COOKIE" => "s", "app.tenant" => "t" }, env)
    assert_equal ["\"http://test.example/a%2Fb?c=1\"\"a/b\"\"é\""], @cache.keys.to_a
  end

  # A client that can say where the app is mounted does not put its answers under others' URLs.
  def test_another_mount_is_another_answer
    app = cached(->(env) { page("#{env["SCRIPT_NAME"]} and #{env["PATH_INFO"]}") }, @cache)
    [["/a", "/b"], ["", "/a/b"]].each do |mount, path|
      got = get(app, SCRIPT_NAME: mount, PATH_INFO: path)

      assert_equal ["#{mount} and #{path}", "fwd=miss; stored"], [got.body, got.cache_status]
    end
    assert_equal ["\"http://test.example/a/b\"", "\"http://test.example/a/b#/a\""],
                 @cache.keys.to_a.sort
  end

  def test_a_request_of_no_url_passes
    app = cached(->(_) { page }, @cache)
    [nil, "", "a, b", "a b", "a/../b", "a@b", "a?b", "[::1", "a:b", "ü"].each do |host|
      assert_equal "fwd=bypass; detail=key", get(app, host: host).cache_status, host
    end
    ["/a b", "/ü", "//a\"", "*"].each do |path|
      assert_equal "fwd=bypass; detail=key", get(app, PATH_INFO: path.b).cache_status, path
    end
    ["[::1]:8000", "shop.example."].each do |host|
      assert_equal "fwd=miss; stored", get(app, host: host).cache_status
    end
  end

  def test_a_key_of_your_own
    numbers = (0..9).each
    key = ->(env) { env["PATH_INFO"] unless env["PATH_INFO"] == "/live" }
    app = cached(->(_) { page(numbers.next.to_s) }, @cache, key: key)

    got = %w[/a?x=1 /a?x=2 /live /live].map { |target| get(app, target: target).body }

    assert_equal %w[0 0 1 2], got
  end

  # Pieces, and whether it was closed.
  class Body
    attr_reader :taken, :closed

    def initialize(pieces)
      @pieces = pieces
      @taken = @closed = 0
    end

    def each
      @pieces.each do |piece|
        raise piece if piece.is_a?(Exception)

        @taken += 1
        yield piece
      end
    end

    def close = @closed += 1
  end

  def test_bodies
    length = { "content-length" => "5" }
    [
      [PAGE, %w[ab cd], nil, 2],
      [PRIVATE, %w[ab cd], "private", 0],
      [PAGE, ["x" * 600] * 10, "too-large", 2],
      [PAGE, ["ab", IOError.new("lost")], "failed", 1],
      [{ **PAGE, **length }, ["abc"], "failed", 1],
      [{ **PAGE, "x-a" => "1\r\nset-cookie: a=1" }, ["abc"], "failed", 1],
      [{ **PAGE, "set-cookie" => %w[a=1 b=2] }, ["abc"], "set-cookie", 0],
      [{ **PAGE, "vary" => %w[accept-encoding cookie] }, ["abc"], "vary", 0],
      # Before Rack 3 one field may have two names.
      [{ "Cache-Control" => "private", **PAGE }, ["abc"], "private", 0],
      [{ "Vary" => "cookie", **PAGE, "vary" => "accept-encoding" }, ["abc"], "vary", 0]
    ].each_with_index do |(headers, pieces, why, taken), number|
      bodies = []
      app = lambda do |_|
        bodies << Body.new(pieces)
        [200, headers, bodies.last]
      end
      app = cached(app, @cache, max_body: "1KiB", key: ->(_) { number.to_s })
      status, got, body = app.call(Rack::MockRequest.env_for("/"))
      text = +""
      begin
        body.each { |piece| text << piece }
      rescue IOError => e
        assert_equal "lost", e.message
      ensure
        body.close if body.respond_to?(:close)
      end

      assert_equal [200, pieces.grep(String).join], [status, text]
      assert_equal "polycache; #{why ? "fwd=bypass; detail=#{why}" : "fwd=miss; stored"}",
                   got["cache-status"]
      assert_equal [taken, why ? 2 : 1, [1]],
                   [bodies.first.taken, bodies.size, bodies.map(&:closed).uniq]
    end
  end

  def test_a_body_that_writes_itself_passes
    writes = ->(stream) { stream << "page" }
    app = cached(->(_) { [200, PAGE.dup, writes] }, @cache)
    _, headers, body = app.call(Rack::MockRequest.env_for("/", "HTTP_HOST" => "test.example"))

    assert_equal "polycache; fwd=bypass; detail=streaming", headers["cache-status"]
    assert_same writes, body
  end

  def test_headers_may_be_frozen_and_of_any_class
    got = get(cached(->(_) { [404, PRIVATE, ["no"].freeze] }, @cache))

    assert_equal [404, "no", "fwd=bypass; detail=private"], [got.status, got.body, got.cache_status]
    rack = Class.new(Hash)
    app = ->(_) { [200, rack.new.update(PRIVATE), ["page"]] }

    assert_instance_of rack, get(cached(app, @cache)).headers
  end

  def test_a_stale_answer_is_fetched_anew_when_the_client_has_it
    now = 1_000_000
    asked = 0
    app = lambda do |_|
      asked += 1
      page(asked.to_s, { "cache-control" => "max-age=1, stale-while-revalidate=60" })
    end
    app = cached(app, @cache, clock: -> { now })
    get(app)
    now += 2000
    _, _, body = app.call(Rack::MockRequest.env_for("/", "HTTP_HOST" => "test.example"))

    assert_equal ["1"], body.enum_for(:each).to_a
    assert_equal 1, asked
    2.times { body.close }

    assert_equal 2, asked
    got = get(app)

    assert_equal %w[2 hit], [got.body, got.cache_status]
  end

  def test_what_others_wrote_is_no_answer
    times = %w[made freshUntil revalidateUntil errorUntil].to_h { |name| [name, 2**52] }
    whole = { "status" => 200, "fields" => [], "body" => "".b, "etag" => "\"a\"", **times }
    app = cached(->(_) { page }, @cache)
    [
      "text", { "status" => 200, "body" => "forged".b }, { "pass" => 5, "until" => 1 },
      { "pass" => "a\r\nb", "until" => 2**53 }, { **whole, "fields" => [%W[x\n y]] },
      { **whole, "fields" => [["x", "y\r\nset-cookie: a=1"]] }, { **whole, "fields" => ["xy"] },
      { **whole, "fields" => [["x", "€"]] }, { **whole, "body" => "text" },
      { **whole, "status" => 101 }, { **whole, "status" => true }, { **whole, "etag" => "bare" }
    ].each do |forged|
      @cache.set(KEY, forged)
      got = get(app)

      assert_equal ["page", "fwd=bypass; detail=foreign"], [got.body, got.cache_status], forged
      assert_equal forged, @cache.get(KEY)
    end
    @cache.set(KEY, whole)

    assert_equal "hit", get(app).cache_status
  end

  def test_each_variant_is_compressed_once
    app = Rack::Lint.new(cached(->(_) { page("page " * 1000) }, @cache))
    gzip = { "accept-encoding" => "gzip" }
    got = Array.new(2) { get(app, headers: gzip) }

    assert_equal ["page " * 1000], got.map { |one| Zlib.gunzip(one.body) }.uniq
    assert_equal 1, got.map { |one| one.headers["etag"] }.uniq.size
    same = get(app, headers: { **gzip, "if-none-match" => got.first.headers["etag"] })

    assert_equal [304, ""], [same.status, same.body]
  end

  def test_of_forked_children_one_asks_the_app
    hold, go = IO.pipe
    children = Array.new(3) do
      child do |say|
        go.close
        app = lambda do |_|
          say.call("asked")
          hold.read # Until the parent closes its end.
          page
        end
        asking = Thread.new { get(cached(app, @cache)) }
        Thread.pass until asking.status == "sleep"
        say.call("waiting")
        say.call(asking.value.body)
      end
    end
    before = children.map { |_, from_child| from_child.take_while { |line| line != "waiting\n" } }
    go.close
    lines = before.flatten + children.flat_map { |id, from_child| said_by(id, from_child).lines }

    assert_equal [1, 3], [lines.count("asked\n"), lines.count("page\n")]
  end

  def test_refuses_options_that_are_none
    [
      { colour: "red" }, { vary: ["a b"] }, { vary: "cookie" }, { covered: [5] }, { ttl: "soon" },
      { stale_if_error: -1 }, { max_body: -1 }, { max_body: "1 MiB" }, { codings: ["lzma"] },
      { key: "path" }, { on_error: 5 }, { clock: 5 }, { compress_from: -1 }, { extensions: "user" }
    ].each do |options|
      assert_raises(Polycache::InvalidArgument, options.inspect) do
        cached(->(_) { page }, @cache, **options)
      end
      cached(->(_) { page }, @cache, **options.except(:colour).transform_values { nil })
    end
    [[nil, @cache], [->(_) { page }, {}]].each do |app, cache|
      assert_raises(Polycache::InvalidArgument) { cached(app, cache) }
    end
  end
end
