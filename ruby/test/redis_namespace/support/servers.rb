# frozen_string_literal: true

require "socket"
require "tmpdir"

# Redis and Valkey servers of the tests' own, on free ports of the loopback interface. Each is started
# when it is first asked for, and ended by its own process id with the tests.
module Servers
  # What tools/setup.sh servers installs; one that is not there is left out.
  PROGRAMS = %w[redis-server redis-server-8 valkey-server].select { |name| system("which #{name} >/dev/null 2>&1") }.freeze
  # Seconds for one to come up.
  PATIENCE = 10

  module_function

  # @return [Integer] the port
  def port(program = PROGRAMS.first)
    (@ports ||= {})[program] ||= start(program)
  end

  def start(program)
    port = free_port
    folder = Dir.mktmpdir("polycache-server-")
    pid = Process.spawn(program, "--bind", "127.0.0.1", "--port", port.to_s, "--save", "", "--dir", folder,
                        "--notify-keyspace-events", "KEA", out: File::NULL)
    owner = Process.pid
    Minitest.after_run { stop(pid, folder) if Process.pid == owner }
    wait(port)
    port
  end

  def stop(pid, folder)
    Process.kill("TERM", pid)
    Process.wait(pid)
    FileUtils.rm_rf(folder)
  end

  def wait(port)
    deadline = Process.clock_gettime(Process::CLOCK_MONOTONIC) + PATIENCE
    begin
      TCPSocket.open("127.0.0.1", port, &:close)
    rescue SystemCallError
      raise "no server comes up on port #{port}" if Process.clock_gettime(Process::CLOCK_MONOTONIC) > deadline

      sleep 0.02
      retry
    end
  end

  def free_port
    TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
  end
end
