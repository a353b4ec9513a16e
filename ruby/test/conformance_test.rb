# frozen_string_literal: true

require "test_helper"
require_relative "support/conformance_case"

# spec/conformance: what every package does alike, a test a case for each set of tiers.
class ConformanceTest < Minitest::Test
  FOLDER = File.expand_path("../../spec/conformance", __dir__)

  Dir.children(FOLDER).grep(/\.json\z/).sort.each do |file|
    cases = JSON.parse(File.read(File.join(FOLDER, file)), max_nesting: false)
    cases.product(ConformanceCase::TIERS.keys).each do |description, tiers|
      define_method("test_#{tiers}: #{file.delete_suffix(".json")}: #{description["name"]}") do
        Dir.mktmpdir("polycache-test") do |directory|
          ConformanceCase.new(self, directory, description, tiers).run
        end
      end
    end
  end
end
