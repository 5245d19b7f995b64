-- ARGV[7]: id; [8]: value; [9]: holder; [10]: duration of the lease; [11]: ttl;
-- [12]: maximum number of tasks of the account; [13]: token of the call
local task, id = KEYS[5], ARGV[7]
local known = redis.call('HGET', task, 'token')
if known then
  -- The same call, repeated because its answer was lost, has succeeded.
  return {known == ARGV[13] and 'OK' or 'EXISTS'}
end
local max = tonumber(ARGV[12])
if used('n:' .. account) >= max then
  sweep(SWEPT_IF_FULL)
  if used('n:' .. account) >= max then
    return {'TOO_MANY'}
  end
end
local expiry = now + tonumber(ARGV[11])
local full = charge(id, #id + #ARGV[8], expiry)
if full then
  return {'FULL', full}
end
local lease_end = now + tonumber(ARGV[10])
redis.call('HSET', task, 'value', ARGV[8], 'version', 1, 'account', account,
  'holder', ARGV[9], 'token', ARGV[13])
redis.call('PEXPIREAT', task, expiry)
redis.call('ZADD', KEYS[6], lease_end, id)
keep(KEYS[6], expiry)
redis.call('ZADD', KEYS[7] .. account, 0, id)
keep(KEYS[7] .. account, expiry)
return {'OK'}
