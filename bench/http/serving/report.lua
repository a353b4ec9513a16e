-- What wrk runs: it prints what a round of load yielded as one JSON object. Where REQUESTS is set it
-- sends exactly so many, and says when the last of them is answered.

local ffi = require("ffi")
ffi.cdef([[
  typedef struct { long seconds; long nanoseconds; } moment;
  int clock_gettime(int clock, moment *now);
]])
local MONOTONIC = 1
local PERCENTILES = { 10, 25, 50, 75, 90, 95, 99 }

local function microseconds()
  local now = ffi.new("moment")
  ffi.C.clock_gettime(MONOTONIC, now)
  return tonumber(now.seconds) * 1e6 + tonumber(now.nanoseconds) / 1e3
end

local limit = tonumber(os.getenv("REQUESTS"))

-- The load comes from one thread; its variables live in a Lua of their own, which `done` asks.
local worker

function setup(thread)
  worker = thread
end

if limit then
  local sent, answered, started = 0, 0, 0

  function init()
    started = microseconds()
  end

  -- Called before each request, with what to wait for in ms: those after the last wait for ever.
  function delay()
    sent = sent + 1
    return sent <= limit and 0 or 1e9
  end

  function response()
    answered = answered + 1
    if answered == limit then
      elapsed = microseconds() - started
      wrk.thread:stop()
      -- wrk's main thread sleeps on, until it is interrupted.
      print("answered")
      io.flush()
    end
  end
end

function done(summary, latency)
  local errors = summary.errors
  local failed = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  local percentiles = {}
  for _, percent in ipairs(PERCENTILES) do
    table.insert(percentiles, string.format('"%d":%.0f', percent, latency:percentile(percent)))
  end
  print(
    string.format(
      '{"requests":%.0f,"microseconds":%.0f,"bytes":%.0f,"failed":%.0f,"latency":{%s}}',
      summary.requests,
      worker:get("elapsed") or summary.duration,
      summary.bytes,
      failed,
      table.concat(percentiles, ",")
    )
  )
end
