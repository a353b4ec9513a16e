# frozen_string_literal: true

require "json"

# What every Ruby subject of a benchmark shares: it answers the controller's lines of JSON
# (bench/README.md, "A subject") on behalf of a subject.
#
# A subject is a class whose `new` takes the request's options as keywords, with
#   name         what rows call it; ours begin with `polycache`
#   versions     names and versions of what is measured
#   notes        said in each row
#   operations   by name: the unit of its figures, and a callable that is given a round's seconds
#   check        raises unless what it reads is what it wrote; runs before anything is timed
#   close
module Subject
  def self.serve(kind)
    subject = nil
    $stdin.each_line do |line|
      request = JSON.parse(line, symbolize_names: true)
      command = request.delete(:command)
      reply =
        begin
          subject = kind.new(**request) if command == "open"
          answer(subject, command, request)
        rescue StandardError, LoadError => e
          { error: "#{e.class}: #{e.message}" }
        end
      puts JSON.generate(reply)
      $stdout.flush
      break if command == "close"
    end
  end

  def self.answer(subject, command, request)
    case command
    when "open" then describe(subject)
    when "run"
      _unit, run = subject.operations.fetch(request[:operation])
      { value: run.call(request[:seconds]) }
    else
      subject&.public_send(command)
      {}
    end
  end

  def self.describe(subject)
    {
      subject: subject.name,
      versions: subject.versions,
      notes: subject.notes,
      operations: subject.operations.transform_values(&:first)
    }
  end
end
