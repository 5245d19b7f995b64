-- Stores a session, unless it belongs to another node.
-- KEYS[5]: the session
-- ARGV[7]: id; [8]: value; [9]: ttl; [10]: node
local node = redis.call('HGET', KEYS[5], 'node')
if node and node ~= ARGV[10] then
  return {'OTHER'}
end
local full = charge(ARGV[7], #ARGV[7] + #ARGV[8], now + tonumber(ARGV[9]))
if full then
  return {'FULL', full}
end
redis.call('HSET', KEYS[5], 'node', ARGV[10], 'account', account, 'value', ARGV[8])
redis.call('PEXPIRE', KEYS[5], ARGV[9])
return {'OK'}
