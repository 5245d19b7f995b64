-- Stores a value: a sealed state.
-- KEYS[5]: the value
-- ARGV[7]: id; [8]: value; [9]: ttl
local full = charge(ARGV[7], #ARGV[7] + #ARGV[8], now + tonumber(ARGV[9]))
if full then
  return {'FULL', full}
end
redis.call('SET', KEYS[5], ARGV[8], 'PX', ARGV[9])
return {'OK'}
