# frozen_string_literal: true

require_relative "helper"
require "net/http"

# A response cache and cached reads in Puma's workers, which were forked from a loaded application.
class PumaOnRailsTest < Minitest::Test
  include OnRails

  def setup
    super
    skip "no puma here: tools/setup.sh rails installs it" if Gem.find_files("puma.rb").empty?
  end

  def teardown
    stop if @puma
    super
  end

  somewhere "two workers" do
    start
    at_once("/unique").then do |answers|
      assert_equal ["200"], answers.map(&:code).uniq
      assert_equal 1, answers.map(&:body).uniq.size
      statuses = answers.map { |answer| answer["cache-status"].delete_prefix("polycache; ") }

      assert_equal 1, statuses.count("fwd=miss; stored")
      assert_empty statuses - ["fwd=miss; stored", "hit", "hit; collapsed"]
    end
    users = Array.new(30) { |number| "u#{number}" }
    said = at_once("/account") { |number| { "Cookie" => "user=#{users[number]}" } }

    assert_equal users.map { |user| "account of #{user}" }, said.map(&:body)
    assert_equal "account of nobody", get("/account").body
  end

  somewhere "each worker shows what others write" do
    start
    key = "#{@prefix}-stream"
    seen = {}
    %w[teal red].each_with_index do |color, number|
      plain("XADD", key, "#{number + 1}-1", "color", color)
      seen.clear
      until_true("both workers show #{color}: #{seen}") do
        page = JSON.parse(get("/read/#{key}").body)
        seen[page["by"]] = page["value"].last.dig(1, "color")
        seen.size == 2 && seen.values.uniq == [color]
      end
    end
  end

  private

  def start
    folders = $LOAD_PATH.flat_map { |path| ["-I", path.to_s] }
    from_puma, to_us = IO.pipe
    @puma = Process.spawn(RbConfig.ruby, *folders, File.join(__dir__, "serving.rb"), @directory,
                          @port.to_s, @prefix, in: File::NULL, out: to_us, err: %i[child out])
    to_us.close
    said = []
    until said.last&.start_with?("port ")
      line = from_puma.gets or flunk "Puma does not start: #{said.join}"
      said << line
    end
    @web = Integer(said.last.delete_prefix("port "))
    # What it says must have a reader.
    @reader = Thread.new { from_puma.read }
  end

  def stop
    Process.kill("TERM", @puma)
    Process.wait(@puma)
    @reader&.join
  end

  def get(path, headers = {})
    Net::HTTP.start("127.0.0.1", @web) { |http| http.get(path, headers) }
  end

  def at_once(path)
    Array.new(30) do |number|
      Thread.new { get(path, block_given? ? yield(number) : {}) }
    end.map(&:value)
  end
end
