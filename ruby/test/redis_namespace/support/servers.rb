# frozen_string_literal: true

require "socket"
require "tmpdir"

# Redis and Valkey servers of the tests' own, on free ports of the loopback interface. Each is
# started when it is first asked for, and ended by its own process id with the tests.
module Servers
  # What tools/setup.sh servers installs; one that is not there is left out.
  PROGRAMS = %w[redis-server redis-server-8 valkey-server].select do |name|
    system("which #{name} >/dev/null 2>&1")
  end.freeze
  # Seconds for one to come up.
  PATIENCE = 10

  module_function

  # All but the one that is used by default.
  def others(&) = PROGRAMS.drop(1).each(&)

  # @return [Integer] the port
  def port(program = PROGRAMS.first)
    (@ports ||= {})[program] ||= start(program)
  end

  # A Sentinel that watches the server on that port, and calls it "main".
  #
  # @return [Integer] its port
  def sentinel(watched)
    (@sentinels ||= {})[watched] ||= in_folder do |folder, port|
      state = File.join(folder, "sentinel.conf")
      File.write(state, "sentinel monitor main 127.0.0.1 #{watched} 1\n")
      [PROGRAMS.first, state, "--sentinel", "--bind", "127.0.0.1", "--port", port.to_s]
    end
  end

  # A cluster of three primaries.
  #
  # @return [Array<Integer>] their ports
  def cluster
    @cluster ||= begin
      ports = Array.new(3) { start_of_cluster }
      nodes = ports.map { |port| "127.0.0.1:#{port}" }
      system("redis-cli", "--cluster-yes", "--cluster", "create", *nodes, out: File::NULL) ||
        raise("no cluster comes up")
      ports
    end
  end

  # A cluster of three primaries with a replica each.
  #
  # @return [Array<Integer>] their ports
  def cluster_with_replicas
    @cluster_with_replicas ||= begin
      ports = Array.new(6) { start_of_cluster }
      nodes = ports.map { |port| "127.0.0.1:#{port}" }
      create = %w[redis-cli --cluster-yes --cluster create]
      system(*create, *nodes, "--cluster-replicas", "1", out: File::NULL) ||
        raise("no cluster comes up")
      ports
    end
  end

  def start_of_cluster
    in_folder do |folder, port|
      options = "--bind 127.0.0.1 --port #{port} --dir #{folder} --cluster-enabled yes " \
                "--cluster-port #{free_port} --cluster-node-timeout 2000 " \
                "--repl-diskless-sync-delay 0".split
      [PROGRAMS.first, *options, "--save", ""]
    end
  end

  def start(program)
    in_folder do |folder, port|
      options = "--bind 127.0.0.1 --port #{port} --dir #{folder} --notify-keyspace-events KEA".split
      [program, *options, "--save", ""]
    end
  end

  def in_folder
    port = free_port
    folder = Dir.mktmpdir("polycache-server-")
    pid = Process.spawn(*yield(folder, port), out: File::NULL)
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
    deadline = now + PATIENCE
    begin
      TCPSocket.open("127.0.0.1", port, &:close)
    rescue SystemCallError
      raise "no server comes up on port #{port}" if now > deadline

      sleep 0.02
      retry
    end
  end

  def now = Process.clock_gettime(Process::CLOCK_MONOTONIC)

  def free_port
    TCPServer.open("127.0.0.1", 0) { |server| server.addr[1] }
  end
end
