-- KEYS[2]: tokens by expiry; KEYS[3]: tokens by the position at which they were revoked
-- ARGV[2]: token; [3]: ttl; [4]: maximum number of tokens
local SWEPT = 256
for _, expired in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, SWEPT)) do
  redis.call('ZREM', KEYS[2], expired)
  redis.call('ZREM', KEYS[3], expired)
end
local expiry, known = now + tonumber(ARGV[3]), redis.call('ZSCORE', KEYS[2], ARGV[2])
if not known and redis.call('ZCARD', KEYS[2]) >= tonumber(ARGV[4]) then
  return {'FULL', 'ALL'}
end
if known and tonumber(known) >= expiry then
  return {'OK'}
end
-- Positions are times, so they increase even if all data was lost.
local position = time[1] * 1000000 + time[2]
local last = redis.call('ZREVRANGE', KEYS[3], 0, 0, 'WITHSCORES')
if last[2] then
  position = math.max(position, tonumber(last[2]) + 1)
end
redis.call('ZADD', KEYS[2], expiry, ARGV[2])
redis.call('ZADD', KEYS[3], string.format('%.0f', position), ARGV[2])
keep(KEYS[2], expiry)
keep(KEYS[3], expiry)
return {'OK'}
