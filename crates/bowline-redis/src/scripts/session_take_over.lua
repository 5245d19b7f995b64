-- Gives a session to another node, if it belongs to the one that it is taken from. Repeated
-- because its answer was lost, it finds the new node and has succeeded.
-- KEYS[2]: the session; ARGV[2]: the old node; ARGV[3]: the new node
local node = redis.call('HGET', KEYS[2], 'node')
if node ~= ARGV[2] and node ~= ARGV[3] then
  return {'OTHER'}
end
redis.call('HSET', KEYS[2], 'node', ARGV[3])
return {'OK'}
