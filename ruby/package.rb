# frozen_string_literal: true

# Builds the gems; tools/package.sh calls this.
#
#   ruby ruby/package.rb FOLDER [LIBRARY]
#
# puts into FOLDER polycache-<version>.gem, for every platform: sources, with the crates that the
# extension is made of, which `gem install` compiles where there is a cargo. With LIBRARY, the
# extension as cargo built it here, also polycache-<version>-<platform>.gem, for this Ruby's version
# and platform: it needs no compiler.

require "fileutils"
require "json"
require "open3"
require "rbconfig"
require "rubygems"
require "rubygems/package"
require "tmpdir"

# One gem, put together in a folder of its own.
class GemFolder
  ROOT = File.expand_path("..", __dir__)

  def initialize(folder)
    @folder = folder
    copy("ruby/{lib,sig,exe}/**/*", "ruby/{README.md,polycache.gemspec}") { |name| name[5..] }
    copy("LICENSE-*")
  end

  # Not needed to compile a crate.
  FOR_TESTS = %r{\Acrates/[^/]+/(tests|benches|examples)/}

  # The sources of the extension, as a cargo workspace with a lock file of its own.
  def add_sources
    copy("ruby/ext/**/*") { |name| name[5..] }
    copy(*crates.map { |crate| "#{crate}/**/*" }, without: FOR_TESTS)
    copy("Cargo.{toml,lock}")
    edit("Cargo.toml") do |text|
      text.sub(/^members = \[.*?\]\n/m, %(members = ["crates/*", "ext/polycache"]\n))
          .sub(/^default-members = .*\n/, "")
    end
    edit("ext/polycache/Cargo.toml") { |text| text.gsub('"../../../crates/', '"../../crates/') }
    Dir["crates/*/Cargo.toml", base: @folder].each do |manifest|
      edit(manifest) { |text| lean(text) }
    end
    # Removes what is no longer in this workspace from the lock file, and resolves nothing again.
    cargo("update", "--workspace", at: @folder)
  end

  # The extension, where polycache/extension.rb looks for it.
  def add_library(library)
    abi = RUBY_VERSION[/\A\d+\.\d+/]
    put = "#{@folder}/lib/polycache/#{abi}/polycache.#{RbConfig::CONFIG["DLEXT"]}"
    FileUtils.mkdir_p(File.dirname(put))
    FileUtils.cp(library, put)
  end

  # @yieldparam spec [Gem::Specification] to be changed before the gem is built
  # @return [String] the gem's file
  def build(out)
    Dir.chdir(@folder) do
      spec = Gem::Specification.load(File.join(@folder, "polycache.gemspec"))
      yield spec if block_given?
      file = Gem::DefaultUserInteraction.use_ui(Gem::SilentUI.new) { Gem::Package.build(spec) }
      FileUtils.mv(file, out)
      File.join(out, file)
    end
  end

  private

  GLOBS = File::FNM_EXTGLOB | File::FNM_PATHNAME
  private_constant :GLOBS, :FOR_TESTS

  # Copies what git knows of, so nothing that was built, and calls it what the block says.
  def copy(*globs, without: nil)
    @known ||= run("git", "-C", ROOT, "ls-files", "-z").split("\0")
    found = @known.select do |name|
      globs.any? { |glob| File.fnmatch?(glob, name, GLOBS) } && !without&.match?(name)
    end
    raise "no such files: #{globs}" if found.empty?

    found.each do |name|
      to = File.join(@folder, block_given? ? yield(name) : name)
      FileUtils.mkdir_p(File.dirname(to))
      FileUtils.cp(File.join(ROOT, name), to)
    end
  end

  def edit(name)
    file = File.join(@folder, name)
    before = File.read(file)
    File.write(file, yield(before))
  end

  # A crate's manifest without what is for its tests, which are not in the gem.
  def lean(manifest)
    sections = manifest.split(/^(?=\[)/)
    sections.grep_v(/\A\[(dev-dependencies|\[(bench|test|example)\])\]?/).join
  end

  # Folders of the workspace's crates that the extension is made of, itself left out.
  def crates
    metadata = JSON.parse(cargo("metadata", "--format-version", "1", "--no-deps", at: ROOT))
    by_name = metadata["packages"].to_h { |package| [package["name"], package] }
    needed = []
    queue = ["polycache-ruby"]
    while (name = queue.shift)
      local = by_name.fetch(name)["dependencies"].select { |each| each["path"] }
      names = local.reject { |each| each["kind"] == "dev" }.map { |each| each["name"] }
      queue.concat(names - needed)
      needed |= names
    end
    manifests = needed.map { |each| by_name.fetch(each)["manifest_path"] }
    manifests.map { |manifest| File.dirname(manifest).delete_prefix("#{ROOT}/") }
  end

  # Offline: a lock file that fits needs nothing.
  def cargo(command, *options, at:)
    run("cargo", command, *options, "--offline", "--manifest-path", "#{at}/Cargo.toml")
  end

  def run(*command)
    out, err, status = Open3.capture3(*command)
    raise "#{command.join(" ")} failed:\n#{err}" unless status.success?

    out
  end
end

out, library = ARGV.map { |path| File.expand_path(path) }
abort "usage: ruby ruby/package.rb FOLDER [LIBRARY]" unless out

Dir.mktmpdir do |work|
  FileUtils.mkdir(%w[any native].map { |name| "#{work}/#{name}" })
  sources = GemFolder.new("#{work}/any")
  sources.add_sources
  puts sources.build(out)
  next unless library

  compiled = GemFolder.new("#{work}/native")
  compiled.add_library(library)
  path = compiled.build(out) do |spec|
    # Without the version that this machine's libc may have in its name.
    spec.platform = "#{Gem::Platform.local.cpu}-#{Gem::Platform.local.os}"
    spec.extensions = []
    spec.dependencies.reject! { |each| each.name == "rake" }
    spec.post_install_message = nil
    minor = Gem::Version.new(RUBY_VERSION).segments.first(2)
    spec.required_ruby_version = [">= #{minor.join(".")}", "< #{minor[0]}.#{minor[1] + 1}.dev"]
  end
  puts path
end
