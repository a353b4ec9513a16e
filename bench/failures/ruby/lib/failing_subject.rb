# frozen_string_literal: true

require "json"

# A client or a cache whose behaviour is looked at; `failures/subject.py` says what it is asked.
class FailingSubject
  def versions = {}
  def loads? = true

  # What an operation came to.
  def outcome(operation, key)
    case operation
    when "set" then set(key, "stored") == false ? "nothing stored" : "stored"
    when "load" then load(key) == "loaded" ? "loaded" : "found"
    else get(key).nil? ? "miss" : "value"
    end
  rescue StandardError => e
    "error: #{e.class}: #{e.message[0, 120]}"
  end

  def serve
    $stdin.each_line do |line|
      request = JSON.parse(line)
      say(request["command"] == "open" ? opened(request) : run(request))
    end
  end

  private

  def opened(request)
    connect(request["url"], request["directory"])
    { versions:, loads: loads? }
  end

  def run(request)
    before = began = now
    came = ""
    request["times"].times do
      began = now
      came = outcome(request["operation"], request["key"])
    end
    { ms: now - began, total_ms: now - before, outcome: came }
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC, :float_millisecond)

  def say(answer)
    $stdout.puts(JSON.generate(answer))
    $stdout.flush
  end
end
