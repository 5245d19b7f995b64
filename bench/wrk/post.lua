-- What wrk posts, and what it says: that it begins, and at the end one line of
-- JSON.
--
-- Arguments: the body, the sessions to take turns with (joined by commas, or
-- nothing), and the headers. With sessions, `@@@@@@@@` in the body becomes a
-- number that no other request has; without, all requests are the same, which
-- costs wrk the least.

local gap = "@@@@@@@@"
local number = 10000000
local requests = {}
local turn = 0

local function prepare(session)
   wrk.headers["Mcp-Session-Id"] = session
   local text = wrk.format()
   local parts, from = {}, 1
   while true do
      local at = text:find(gap, from, true)
      if not at then break end
      parts[#parts + 1] = text:sub(from, at - 1)
      from = at + #gap
   end
   parts[#parts + 1] = text:sub(from)
   return parts
end

local function numbered()
   turn = turn % #requests + 1
   number = number + 1
   return table.concat(requests[turn], number)
end

function init(args)
   wrk.method = "POST"
   wrk.body = args[1]
   for i = 3, #args do
      local name, value = args[i]:match("^([^:]+): (.*)$")
      wrk.headers[name] = value
   end
   for session in args[2]:gmatch("[^,]+") do
      requests[#requests + 1] = prepare(session)
   end
   if #requests > 0 then
      request = numbered
   end
   -- Whoever started wrk counts its time from here.
   io.write("ready\n")
   io.flush()
end

function done(summary, latency, _)
   local errors = summary.errors
   local broken = errors.connect + errors.read + errors.write + errors.timeout
   io.write(string.format(
      '{"requests":%d,"microseconds":%d,"p50":%.2f,"refused":%d,"broken":%d}\n',
      summary.requests, summary.duration, latency:percentile(50), errors.status, broken))
end
