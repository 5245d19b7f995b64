-- KEYS[5]: the proof; ARGV[7]: id; [8]: ttl; [9]: token of the call; [10]: one account may
-- use one in this many of the free places, so others always find some
local known = redis.call('GET', KEYS[5])
if known then
  -- The same call, repeated because its answer was lost, has succeeded.
  return {known == ARGV[9] and 'OK' or 'USED'}
end
sweep(SWEPT)
max_account_items = math.floor((max_items - used('n')) / tonumber(ARGV[10]))
local full = charge(ARGV[7], #ARGV[7], now + tonumber(ARGV[8]))
if full then
  return {'FULL', full}
end
redis.call('SET', KEYS[5], ARGV[9], 'PX', ARGV[8])
return {'OK'}
