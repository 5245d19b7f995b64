-- KEYS[2]: the journal; KEYS[3]: ids by expiry
-- ARGV[2]: id; [3]: first position to return; [4]: holder; [5]: duration of the lease
local journal, from, lease = KEYS[2], tonumber(ARGV[3]), tonumber(ARGV[5])
local known = redis.call('HMGET', journal, 'next', 'first', 'holder', 'until', 'response')
local next, first = tonumber(known[1] or 0), tonumber(known[2] or 0)

local acquired = 0
if not known[3] or known[3] == ARGV[4] or tonumber(known[4]) <= now then
  redis.call('HSET', journal, 'holder', ARGV[4], 'until', now + lease)
  if redis.call('PTTL', journal) < lease then
    redis.call('PEXPIREAT', journal, now + lease)
    redis.call('ZADD', KEYS[3], 'XX', now + lease, ARGV[2])
  end
  acquired = 1
end

local entries = {}
local position = math.max(from, first)
while position < next do
  local fields = {}
  for at = position, math.min(position + 999, next - 1) do
    fields[#fields + 1] = 'e' .. at
  end
  for _, entry in ipairs(redis.call('HMGET', journal, unpack(fields))) do
    entries[#entries + 1] = entry
  end
  position = position + 1000
end
return {'OK', next, acquired, known[5], entries}
