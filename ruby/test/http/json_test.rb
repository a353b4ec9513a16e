# frozen_string_literal: true

require_relative "helper"
require "open3"
require "redis_client"
require "socket"

# The same bytes as JSON.stringify gives, so that languages have one entity tag for one value.
class JsonTest < Minitest::Test
  CASES = {
    nil => "null", true => "true", 1 => "1", -5 => "-5", 1.0 => "1", 2.5 => "2.5", -0.0 => "0",
    0.1 => "0.1", 1e21 => "1e+21", 1e20 => "100000000000000000000", 1.5e-7 => "1.5e-7",
    0.000001 => "0.000001", 1.23e-6 => "0.00000123", 5e-324 => "5e-324", -1.25e30 => "-1.25e+30",
    Float::INFINITY => "null", Float::NAN => "null", "a\"\\\b\f\n\r\t\u0001\u007f/\u2028é" =>
      "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\u007f/\u2028é\"",
    "\xFF\xC3é".b => "\"\uFFFD\uFFFDé\"", [[], {}, "x"] => '[[],{},"x"]',
    { "b" => 1, "10" => 2, "2" => 3, "02" => 4 } => '{"2":3,"10":2,"b":1,"02":4}',
    Set["a"] => '["a"]', { a: :b } => '{"a":"b"}'
  }.freeze

  def test_values
    CASES.each do |value, json|
      assert_equal json.b, Polycache::HTTP::Json.of(value), value.inspect
    end
  end

  # The library writes what is ordinary, our own code the rest: names that are text.
  def test_ordinary_fields_are_written_alike
    values = ["é\u2028</script>\"\\\u0001", "", 0, -1, (2**63) - 1, -(2**63), nil, true, false]
    values.each do |value|
      assert_equal Polycache::HTTP::Json.of({ "n" => 1, "é" => value }),
                   Polycache::HTTP::Json.of({ n: 1, é: value }), value.inspect
    end
    others = ["\xff", "\xff".b, "a".encode("UTF-16LE"), 2**63, 1.5, 1e21, :symbol, Time.at(0)]
    others.each do |value|
      assert_equal Polycache::HTTP::Json.of({ "n" => value }),
                   Polycache::HTTP::Json.of({ n: value }), value.inspect
    end

    assert_equal '{"1":0,"n":0}', Polycache::HTTP::Json.of({ n: 0, "1": 0 })
    assert_equal '{"n":2}', Polycache::HTTP::Json.of({ n: 1, "n" => 2 })
    assert_raises(Polycache::InvalidArgument) { Polycache::HTTP::Json.of({ n: Object.new }) }
  end

  # spec/vectors/replies.json, as redis-client reads what a server sends.
  def test_replies_of_redis
    vectors = File.expand_path("../../../spec/vectors/replies.json", __dir__)
    # Documents are what cached reads make of some commands (test/reads).
    JSON.parse(File.read(vectors)).reject { |one| one["document"] }.each do |one|
      reply = parsed([one["resp"]].pack("H*"))

      assert_equal one["json"].b, Polycache::HTTP::Json.of(reply), one["name"]
      assert_equal one["json"].b, of_packed(reply), one["name"] if packable?(reply)
    end
  end

  # What cached reads make of the bytes that they keep.
  def test_packed_values
    CASES.each do |value, json|
      assert_equal json.b, of_packed(value), value.inspect if packable?(value)
    end

    assert_equal '{"0":0,"a":2,"null":[]}', of_packed({ "a" => 1, a: 2, "0" => 0, nil => [] })
    nested = 50.times.reduce([]) { |inner, _| [inner] }

    assert_equal JSON.generate(nested), of_packed(nested)
  end

  def test_what_is_no_packed_reply_is_refused
    packed = reply.pack([1, { "a" => "text" }, 2.5])
    (0...packed.bytesize).each do |size|
      assert_raises(Polycache::InvalidArgument) { reply.json(packed.byteslice(0, size)) }
    end
    deep = ("a\x01\0\0\0".b * 100) + "n\0\0\0\0".b

    assert_raises(Polycache::InvalidArgument) { reply.json(deep) }
    assert_raises(Polycache::InvalidArgument) { reply.json("a\xff\xff\xff\xff".b) }
  end

  def reply = Polycache::Native::Reply

  def packable?(value) = !reply.pack(value).nil?

  def of_packed(value) = reply.json(reply.pack(value))

  def parsed(resp)
    ours, theirs = UNIXSocket.pair
    ours.write(resp)
    io = RedisClient::RubyConnection::BufferedIO.new(theirs, read_timeout: 5, write_timeout: 5)
    RedisClient::RESP3.load(io)
  ensure
    ours.close
    theirs.close
  end

  def test_as_node_does
    skip "no node here" unless system("node", "-v", out: File::NULL, err: File::NULL)
    random = Random.new(18)
    bits = Array.new(5000) { random.rand(2**64) }
    floats = bits.map { |one| [one].pack("Q").unpack1("D") }.select(&:finite?)
    floats.concat(Array.new(5000) { random.rand(10**random.rand(1..22)) / (10.0**random.rand(22)) })
    texts = Array.new(500) { random.bytes(random.rand(12)) }
    texts.concat(Array.new(500) { Array.new(6) { random.rand(0..0x3000) }.pack("U*") })
    script = <<~JS
      const { floats, texts } = JSON.parse(require('fs').readFileSync(0, 'utf8'))
      const doubles = floats.map((hex) => Buffer.from(hex, 'hex').readDoubleLE())
      process.stdout.write(JSON.stringify([doubles, texts.map((one) => Buffer.from(one, 'hex').toString())]))
    JS
    given = JSON.generate({ floats: floats.map { |one| [one].pack("E").unpack1("H*") },
                            texts: texts.map { |one| one.unpack1("H*") } })
    out, status = Open3.capture2("node", "-e", script, stdin_data: given, binmode: true)

    assert_predicate status, :success?
    assert_equal out, Polycache::HTTP::Json.of([floats, texts])
  end
end
