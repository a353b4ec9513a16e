# frozen_string_literal: true

require_relative "helper"

# A response cache in front of a Rails application, outside of all its middlewares.
class ResponseCacheOnRailsTest < Minitest::Test
  include OnRails

  def setup
    super
    @cache = Polycache::Cache.new(path: @directory, limit: "4MiB", lease_timeout: "1h")
    @opened << @cache
  end

  def teardown
    # After every test: no lease was left behind.
    assert_equal 0, @cache.check[:leases] if @cache
    super
  end

  # Rails with its latest fixes says of each page that it varies with these.
  VARY = %w[accept x-requested-with].freeze

  def cached(app = site, vary: [], **options)
    Polycache::HTTP::ResponseCache.new(app, @cache, vary: VARY + vary, **options)
  end

  # Of answers that nobody else may get, all but the first pass without a try to store them.
  def assert_passes(why, app, path, **fields)
    got = ask(path, app: app, **fields)

    assert_equal "fwd=bypass; detail=#{why}", got.cache_status
    got
  end

  def test_a_miss_and_then_hits
    app = cached
    first = ask("/page", app: app)
    again = ask("/page", app: app)

    assert_equal ["page", "fwd=miss; stored"], [first.body, first.cache_status]
    assert_equal %w[page hit], [again.body, again.cache_status]
    assert_equal 1, Site.rendered
    assert_equal first.fields.slice("content-type", "cache-control", "etag", "x-frame-options"),
                 again.fields.slice("content-type", "cache-control", "etag", "x-frame-options")
    same = ask("/page", app: app, if_none_match: again.fields["etag"])

    assert_equal [304, "", "hit"], [same.status, same.body, same.cache_status]
    head = ask("/page", app: app, method: "HEAD")

    assert_equal [200, "", "hit"], [head.status, head.body, head.cache_status]
    assert_equal 1, Site.rendered
  end

  def test_a_value_of_a_controller_is_stored_whole
    app = cached
    path = "/value?say=public,max-age%3D60"
    2.times do
      packed = ask(path, app: app, accept_encoding: "gzip")

      assert_equal Site::LIST.text, Zlib.gunzip(packed.body)
      whole = ask(path, app: app)

      assert_equal [Site::LIST.text, Site::LIST.etag], [whole.body, whole.fields["etag"]]
      assert_equal "hit", whole.cache_status
    end
    assert_equal 1, @cache.keys.count
  end

  def test_what_rails_does_not_call_public_is_not_stored
    app = cached(ttl: "1h")
    2.times { assert_passes("private", app, "/silent") }
    assert_passes("private", app, "/value")
    assert_equal 0, stored
  end

  # The session's cookie, which Rails sets only where the session has changed.
  def test_a_session_is_one_users_alone
    app = cached(ttl: "1h")
    cookies = %w[ada eve].to_h do |user|
      welcome = assert_passes("set-cookie", app, "/visit?user=#{user}")

      assert_equal "welcome, #{user}", welcome.body
      [user, welcome.fields["set-cookie"][/_site=[^;]+/]]
    end
    # Each sees the own account, whoever asked before.
    2.times do
      cookies.each do |user, cookie|
        assert_equal "account of #{user}",
                     assert_passes("cookie", app, "/account", cookie: cookie).body
      end
      assert_equal "account of nobody", ask("/account", app: app).body
    end
    assert_equal 1, stored
  end

  def test_a_cookie_is_one_users_alone
    app = cached
    set = ask("/remember?user=ada", app: app)

    assert_equal [204, "fwd=bypass; detail=set-cookie"], [set.status, set.cache_status]
    got = assert_passes("cookie", app, "/account", cookie: "user=ada")

    assert_equal "account of ada", got.body
    assert_equal "account of nobody", ask("/account", app: app).body
    # Who says that the cookie belongs to the key gets answers by its values.
    keyed = cached(vary: ["cookie"])
    %w[ada eve].each do |user|
      ["fwd=miss; stored", "hit"].each do |status|
        got = ask("/account", app: keyed, cookie: "user=#{user}")

        assert_equal ["account of #{user}", status], [got.body, got.cache_status]
      end
    end
  end

  def test_authorization_is_one_users_alone
    app = cached
    %w[ada eve].each do |user|
      got = assert_passes("authorization", app, "/authorized", authorization: "Bearer #{user}")

      assert_equal "for Bearer #{user}", got.body
    end
    assert_equal "for nobody", ask("/authorized", app: app).body
    assert_equal "for nobody", ask("/authorized", app: app).body
    assert_equal 3, Site.rendered
  end

  def test_a_controller_that_fails
    app = cached(ttl: "1h")
    got = assert_passes("server-error", app, "/fails")

    assert_equal 500, got.status
    refute_includes got.body, "secret"
    assert_passes("server-error", app, "/fails")
    assert_equal 0, stored
    missing = ask("/nothing", app: app)

    assert_equal [404, "fwd=miss; stored"], [missing.status, missing.cache_status]
  end

  # Conditions are ours: the application is asked for the whole.
  def test_an_application_that_knows_conditions
    app = cached
    first = ask("/matching", app: app, if_none_match: "\"other\"")

    assert_equal ["matching", "fwd=miss; stored"], [first.body, first.cache_status]
    same = ask("/matching", app: app, if_none_match: first.fields["etag"])

    assert_equal [304, "hit"], [same.status, same.cache_status]
    assert_equal 1, Site.rendered
  end

  def test_a_change_forgets_the_answer
    app = cached
    ["fwd=miss; stored", "hit"].each do |status|
      assert_equal status, ask("/page", app: app).cache_status
    end
    change = ask("/page", app: app, method: "DELETE")

    assert_equal [204, "fwd=method"], [change.status, change.cache_status]
    assert_equal "fwd=miss; stored", ask("/page", app: app).cache_status
  end

  # What `force_ssl` puts in front of Rails' middlewares. A proxy that ends TLS says so in a field.
  def test_force_ssl_behind_a_proxy
    app = cached(ActionDispatch::SSL.new(site), vary: ["x-forwarded-proto"], ttl: "1h")
    2.times do
      plain = ask("/where", app: app)

      assert_equal [301, "https://shop.example/where"], [plain.status, plain.fields["location"]]
      secure = ask("/where", app: app, x_forwarded_proto: "https")

      assert_equal [200, "https://shop.example/where"], [secure.status, secure.body]
      assert_match(/max-age=/, secure.fields["strict-transport-security"])
    end
    assert_equal 1, Site.rendered
    assert_equal "hit", ask("/where", app: app, x_forwarded_proto: "https").cache_status
    assert_equal "hit", ask("/where", app: app).cache_status
  end

  # Rails reads these fields, too. What is not in the key it does not see.
  def test_fields_of_a_proxy_that_are_not_in_the_key
    app = cached
    first = ask("/where", app: app, x_forwarded_host: "evil.example", x_forwarded_proto: "https",
                          x_http_method_override: "DELETE", client_ip: "203.0.113.7")

    assert_equal ["http://shop.example/where", "fwd=miss; stored"], [first.body, first.cache_status]
    assert_equal "http://other.example/where", ask("/where", app: app, host: "other.example").body
  end

  def test_a_page_in_several_forms
    { "text/html" => "text", "application/json" => '{"form":"json"}' }.each do |accept, body|
      ["fwd=miss; stored", "hit"].each do |status|
        got = ask("/format", app: cached, accept: accept)

        assert_equal [body, status], [got.body, got.cache_status]
      end
    end
  end

  # Whether or not Rails says that the page varies: nobody gets the form that another asked for.
  def test_a_page_in_several_forms_of_which_the_key_knows_nothing
    app = Polycache::HTTP::ResponseCache.new(site, @cache)
    ask("/format", app: app, accept: "application/json")

    assert_equal "text", ask("/format", app: app, accept: "text/html").body
  end

  def test_an_answer_that_goes_on
    2.times do
      got = assert_passes("no-cache", cached(ttl: "1h"), "/events")

      assert_equal "data: 0\n\ndata: 1\n\n", got.body
    end
  end

  # An endpoint in routes makes its answer of a parameter of the path.
  def test_an_endpoint_behind_it
    app = cached
    %w[one two].each do |name|
      ["fwd=miss; stored", "hit"].each do |status|
        got = ask("/endpoint/#{name}", app: app)

        assert_equal [name, status], [got.json["name"], got.cache_status]
      end
    end
  end

  private

  # Answers; what says that a key passes is none.
  def stored = @cache.keys.count { |key| (value = @cache.get(key)).is_a?(Hash) && value["body"] }
end
