-- KEYS[5]: the journal, which is also the channel of its changes
-- ARGV[7]: id; [8]: position; [9]: entry; [10]: whether earlier entries are dropped;
-- [11]: whether it is the last entry; [12]: the response; [13]: ttl; [14]: token of the call
local journal, id, position, entry = KEYS[5], ARGV[7], tonumber(ARGV[8]), ARGV[9]
local truncates, is_last = ARGV[10] == '1', ARGV[11] == '1'
local known = redis.call('HMGET', journal, 'next', 'first', 'bytes', 'token')
local next, first = tonumber(known[1] or 0), tonumber(known[2] or 0)

if position ~= next then
  -- The same call, repeated because its answer was lost, has succeeded.
  if position == next - 1 and known[4] == ARGV[14] then
    return {'OK'}
  end
  return {'CONFLICT'}
end

local expiry = now + math.max(tonumber(ARGV[13]), redis.call('PTTL', journal))
local bytes = #entry
if not truncates then
  bytes = bytes + tonumber(known[3] or 0)
end
-- Responses may be dropped, entries may not: they have half of the room to themselves.
local response = is_last and ARGV[12]
if response and (used('b:' .. account) + #response > max_account_bytes / 2
    or used('b') + #response > max_bytes / 2) then
  response = false
end
local full = charge(id, #id + bytes + (response and #response or 0), expiry)
if full and response then
  response = false
  full = charge(id, #id + bytes, expiry)
end
if full then
  return {'FULL', full}
end

if truncates then
  for from = first, next - 1, 1000 do
    local fields = {}
    for at = from, math.min(from + 999, next - 1) do
      fields[#fields + 1] = 'e' .. at
    end
    redis.call('HDEL', journal, unpack(fields))
  end
  first = position
end
redis.call('HSET', journal, 'next', next + 1, 'first', first, 'bytes', bytes,
  'token', ARGV[14], 'e' .. position, entry)
if is_last then
  redis.call('HDEL', journal, 'holder', 'until')
  if response then
    redis.call('HSET', journal, 'response', response)
  end
end
redis.call('PEXPIREAT', journal, expiry)
redis.call('PUBLISH', journal, '')
return {'OK'}
