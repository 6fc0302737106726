-- Sends the requests of a file in turn (method, path and body, separated by tabs) and prints the outcome as JSON.
local requests = {}
local at = 0

function init(args)
  for line in io.lines(args[1]) do
    local method, path, body = line:match("^([^\t]*)\t([^\t]*)\t(.*)$")
    requests[#requests + 1] = wrk.format(method, path, nil, body ~= "" and body or nil)
  end
end

function request()
  at = at % #requests + 1
  return requests[at]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\n{"requests":%d,"failed":%d,"micros":%d,"p50Micros":%d,"p99Micros":%d}\n',
    summary.requests,
    errors.connect + errors.read + errors.write + errors.status + errors.timeout,
    summary.duration,
    latency:percentile(50),
    latency:percentile(99)
  ))
end
