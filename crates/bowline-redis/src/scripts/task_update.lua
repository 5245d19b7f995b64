-- ARGV[7]: id; [8]: version; [9]: value; [10]: 'keep', 'take' or 'end' the lease;
-- [11]: holder; [12]: duration of the lease; [13]: token of the call
local task, id, version = KEYS[5], ARGV[7], tonumber(ARGV[8])
local known = redis.call('HMGET', task, 'version', 'account', 'token')
if known[2] ~= account then
  return {'CONFLICT'}
end
if tonumber(known[1]) ~= version then
  -- The same call, repeated because its answer was lost, has succeeded.
  if tonumber(known[1]) == version + 1 and known[3] == ARGV[13] then
    return {'OK'}
  end
  return {'CONFLICT'}
end
local full = charge(id, #id + #ARGV[9], now + redis.call('PTTL', task))
if full then
  return {'FULL', full}
end
redis.call('HSET', task, 'value', ARGV[9], 'version', version + 1, 'token', ARGV[13])
if ARGV[10] == 'take' then
  redis.call('HSET', task, 'holder', ARGV[11])
  redis.call('ZADD', KEYS[6], now + tonumber(ARGV[12]), id)
  keep(KEYS[6], now + redis.call('PTTL', task))
elseif ARGV[10] == 'end' then
  redis.call('HDEL', task, 'holder')
  redis.call('ZREM', KEYS[6], id)
end
redis.call('PUBLISH', task, '')
return {'OK'}
