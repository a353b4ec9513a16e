# frozen_string_literal: true

require "test_helper"

require "fileutils"
require "open3"

# The library where the native extension is missing or unfit, and what the extension does to the
# process.
class ExtensionTest < Minitest::Test
  include Caches

  LIBRARY = File.expand_path("../lib", __dir__)
  COMMAND = File.expand_path("../exe/polycache", __dir__)

  def without_extension
    Dir.mktmpdir do |folder|
      FileUtils.cp_r("#{LIBRARY}/.", folder)
      FileUtils.rm(Dir["#{folder}/**/*.{so,bundle}"])
      yield folder
    end
  end

  def ruby(folder, *arguments)
    environment = { "RUBYLIB" => nil, "RUBYOPT" => nil }
    Open3.capture3(environment, RbConfig.ruby, "-I#{folder}", *arguments)
  end

  def test_what_is_pure_needs_no_extension
    without_extension do |folder|
      out, err, status = ruby(folder, "-e", <<~RUBY)
        require "polycache"
        Polycache::Cache.open(memory: true) { |cache| print cache.fetch("k") { [1] } }
        print Polycache::MemoryCache.new.fetch("k") { 2 }, Polycache::RedisNamespace
      RUBY

      assert_predicate status, :success?, err
      assert_equal "[1]2Polycache::RedisNamespace", out
    end
  end

  def test_a_path_without_the_extension_says_what_to_do
    without_extension do |folder|
      code = 'require "polycache"; Polycache::Cache.new(path: ARGV[0])'
      _, err, status = ruby(folder, "-e", code, File.join(@directory, "cache"))

      refute_predicate status, :success?
      assert_match(/Polycache::UnsupportedPlatform/, err)
      assert_match(/a Cache with a path needs the native extension/, err)
      assert_includes err, "gem install polycache --platform ruby"
      refute_path_exists File.join(@directory, "cache")
    end
  end

  def test_an_unfit_extension_says_why
    without_extension do |folder|
      file = "#{folder}/polycache/polycache.#{RbConfig::CONFIG["DLEXT"]}"
      File.write(file, "no library")
      _, err, = ruby(folder, "-e", 'require "polycache"; Polycache::Cache.new(path: "x")')

      assert_match(/UnsupportedPlatform/, err)
      assert_includes err, file
    end
  end

  def test_the_command
    out, err, status = ruby(LIBRARY, COMMAND, "--version")

    assert_equal ["polycache #{Polycache::VERSION}\n", 0], [out, status.exitstatus], err
    without_extension do |folder|
      _, err, status = ruby(folder, COMMAND, "--version")

      assert_equal 4, status.exitstatus
      assert_match(/\Apolycache: the command needs the native extension/, err)
    end
  end

  def test_a_limit_of_file_sizes_is_an_error_and_no_death
    out, err, status = ruby(LIBRARY, "-e", <<~'RUBY', @directory)
      # What a shell gives; the parent of the tests may ignore the signal.
      Signal.trap("XFSZ", "SYSTEM_DEFAULT")
      require "polycache"
      Process.setrlimit(:FSIZE, 100_000)
      begin
        Polycache::Cache.new(path: "#{ARGV[0]}/limited", limit: "4MiB").set("k", 1)
      rescue Polycache::NoSpace, Polycache::IoError => e
        print e.code
      end
    RUBY

    assert_predicate status, :success?, "#{status} #{err}"
    assert_includes %w[no_space io], out
  end

  def test_a_handler_of_that_signal_that_was_there_stays
    out, err, = ruby(LIBRARY, "-e", <<~RUBY)
      Signal.trap("XFSZ") { print "mine" }
      require "polycache"
      Process.kill("XFSZ", Process.pid)
    RUBY

    assert_equal "mine", out, err
  end
end
