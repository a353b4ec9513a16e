# frozen_string_literal: true

# Forked children that tell their parent something over a pipe.
module Children
  # Runs the block in a child with what it calls to say something; gives the child's id and the end
  # of the pipe to read from. The child ends without at_exit handlers: those are minitest's.
  def child
    from_child, to_parent = IO.pipe
    id = fork do
      from_child.close
      code = 1
      begin
        yield ->(text) { to_parent.puts(text) }
        code = 0
      rescue Exception => e # rubocop:disable Lint/RescueException
        to_parent.puts("#{e.class}: #{e.message}")
      end
      to_parent.close
      exit!(code)
    end
    to_parent.close
    [id, from_child]
  end

  # Runs the block, which moves objects, in a child: it crashes when one is not where it was, and
  # some gems' extensions (rbs 2.7) do not stand it.
  def while_objects_move
    skip "this platform does not compact" unless GC.respond_to?(:compact)

    assert_equal "fine\n", said_by(*child do |say|
      yield
      say.call("fine")
    end)
  end

  # What a child says until it ends, which has to be well.
  def said_by(id, from_child)
    text = from_child.read
    _, status = Process.wait2(id)
    assert status.success?, "the child failed: #{text}"
    text
  end
end
