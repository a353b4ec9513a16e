# frozen_string_literal: true

require "test_helper"

# Several processes on one directory: forked ones that keep using the handle, and killed ones.
class ProcessesTest < Minitest::Test
  include Caches
  include Children

  def test_a_child_goes_on_with_its_parent_s_handle
    cache = open_cache
    cache.set("parent", [1, "a"])
    text = said_by(*child do |say|
      say.call(cache.get("parent").inspect)
      cache.set("child", { "b" => 2 })
      say.call(cache.fetch("loaded") { 3 })
    end)

    assert_equal "[1, \"a\"]\n3\n", text
    assert_equal({ "b" => 2 }, cache.get("child"))
    assert_equal(3, cache.fetch("loaded") { flunk })
    cache.set("parent", "again")

    assert_equal "again", cache.get("parent")
  end

  def test_children_and_parent_write_at_once
    cache = open_cache
    children = Array.new(4) do |number|
      child do |_say|
        500.times do |round|
          cache.set("#{number}:#{round % 50}", [number, round])
          found = cache.get("#{rand(4)}:#{rand(50)}")
          raise "foreign: #{found.inspect}" unless found.nil? || found.size == 2
        end
      end
    end
    500.times { |round| cache.set("parent:#{round % 50}", ["parent", round]) }
    children.each { |id, from_child| assert_equal "", said_by(id, from_child) }

    4.times do |number|
      assert_equal((450..499).map { |round| [number, round] },
                   (0..49).map { |round| cache.get("#{number}:#{round}") })
    end
    assert_empty cache.check[:damaged]
  end

  # A value is taken once, by whichever process.
  def test_processes_that_take
    cache = open_cache
    keys = Array.new(500, &:to_s)
    keys.each { |key| cache.set(key, key) }
    hold, go = IO.pipe
    children = Array.new(3) do
      child do |say|
        go.close
        hold.read # Until all are there.
        keys.each { |key| say.call(key) if cache.take(key) }
      end
    end
    go.close
    taken = children.flat_map { |id, from_child| said_by(id, from_child).split }

    assert_equal keys.sort, taken.sort
    assert_empty cache.keys.to_a
    hold.close
  end

  # What a server does that loads the application before it forks its workers.
  def test_grandchildren_and_closed_handles
    cache = open_cache
    cache.get("k")
    text = said_by(*child do |say|
      say.call(said_by(*child { |grand| grand.call(cache.fetch("k") { "from a grandchild" }) }))
      cache.close
      say.call(cache.closed?)
    end)

    assert_equal "from a grandchild\ntrue\n", text
    assert_equal("from a grandchild", cache.fetch("k") { flunk })
  end

  # The child's end runs the finalizers of its copy of the handle.
  def test_a_child_that_ends_takes_nothing_with_it
    cache = open_cache
    cache.set("k", 1)
    cache.fetch("loading") do
      Process.wait(fork { exit!(true) })
      script = "require 'polycache'; cache = Polycache::Cache.new(path: ARGV[0]); " \
               "exit(Process.wait2(fork { cache.get('k') })[1].success? && cache.get('k') == 1)"

      assert system(RbConfig.ruby, *$LOAD_PATH.flat_map { |path| ["-I", path] }, "-e", script,
                    cache.path)
      "loaded"
    end

    assert_equal [1, "loaded"], [cache.get("k"), cache.get("loading")]
    assert_equal 0, cache.stats[:invalidated_loads]
  end

  def test_one_process_loads_for_all
    cache = open_cache
    children = Array.new(4) do
      child do |say|
        20.times { |number| cache.fetch("k#{number}") { say.call(number) && number } }
      end
    end
    loads = children.flat_map { |id, from_child| said_by(id, from_child).split.map(&:to_i) }

    assert_equal (0..19).to_a, loads.sort
  end

  def holder(cache)
    child do |say|
      cache.fetch("k") do
        say.call("loading")
        sleep
      end
    end
  end

  def kill_a_holder(cache, other)
    id, from_child = holder(cache)

    assert_equal "loading\n", from_child.gets
    waiter = Thread.new { other.fetch("k") { "loaded by the waiter" } }
    Thread.pass until waiter.status == "sleep"
    Process.kill(:KILL, id)
    Process.wait(id)

    assert_equal "loaded by the waiter", waiter.value
    from_child.close
  end

  def test_a_killed_holder_is_replaced
    cache = open_cache
    kill_a_holder(cache, cache)
  end

  def test_a_killed_holder_with_a_handle_of_its_own_is_replaced
    cache = open_cache
    path = cache.path
    own = Object.new
    own.define_singleton_method(:fetch) do |key, &load|
      Polycache::Cache.new(path: path, lease_timeout: "1h").fetch(key, &load)
    end
    kill_a_holder(own, cache)
  end

  # A holder that is stopped is alive: its load stands, and it fills when it goes on.
  def test_a_stopped_holder_goes_on
    cache = open_cache
    go_on, go = IO.pipe
    id, from_child = child do |say|
      cache.fetch("k") do
        say.call("loading")
        go_on.gets
        "loaded by the holder"
      end
    end
    from_child.gets
    Process.kill(:STOP, id)
    waiter = Thread.new { cache.fetch("k") { flunk } }
    Thread.pass until waiter.status == "sleep"
    go.puts
    Process.kill(:CONT, id)

    assert_equal "loaded by the holder", waiter.value
    said_by(id, from_child)
  end

  # The lease is the parent's: the child that its loader forked neither fills nor frees it.
  def test_a_fork_within_a_loader
    cache = open_cache
    value = cache.fetch("k") do
      from_child, to_parent = IO.pipe
      id = fork
      # The child leaves the block as any caller does.
      break [from_child, to_parent] unless id

      to_parent.close

      assert_equal "left\n", from_child.gets
      Process.wait(id)
      "parent"
    end
    if value.is_a?(Array)
      value.last.puts("left")
      exit!(true)
    end

    assert_equal "parent", value
    assert_equal "parent", cache.get("k")
    assert_equal 0, cache.stats[:invalidated_loads]
  end
end
