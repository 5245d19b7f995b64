-- KEYS[5]: the events of the session, oldest first. An event is its expiry, its sequence
-- number, whether its stream is the standalone one, and the length of the name of its
-- stream, then that name and the message.
-- ARGV[7]: id; [8]: head of the event without its expiry; [9]: stream; [10]: message;
-- [11]: ttl; [12], [13]: maximum number of events of the session, and of their bytes
local events, id, head = KEYS[5], ARGV[7], ' ' .. ARGV[8] .. '\n' .. ARGV[9]
local MAX_DROPPED = 64
local max_events, max_event_bytes = tonumber(ARGV[12]), tonumber(ARGV[13])
local expiry = now + tonumber(ARGV[11])
local event = string.format('%.0f', expiry) .. head .. ARGV[10]
if #event > max_event_bytes then
  return {'FULL', 'ACCOUNT'}
end

-- The same call, repeated because its answer was lost, has succeeded.
local last = redis.call('LINDEX', events, -1)
if last and string.sub(last, string.find(last, ' ', 1, true), -1) == head .. ARGV[10] then
  return {'OK'}
end

-- Expired events make room first, and then the oldest.
local length = redis.call('LLEN', events)
local bytes = #event
if length > 0 then
  bytes = bytes + math.max((counted(id) or 0) - #id, 0)
end
for _ = 1, MAX_DROPPED do
  local first = redis.call('LINDEX', events, 0)
  if not first then
    break
  end
  local is_expired = tonumber(string.sub(first, 1, string.find(first, ' ', 1, true))) <= now
  if not is_expired and length < max_events and bytes <= max_event_bytes then
    break
  end
  redis.call('LPOP', events)
  length = length - 1
  bytes = bytes - #first
end
local full = charge(id, #id + bytes, expiry)
if full then
  return {'FULL', full}
end
redis.call('RPUSH', events, event)
keep(events, expiry)
return {'OK'}
