-- KEYS[2]: the task; KEYS[3]: ids of leased tasks by the end of the lease
-- ARGV[2]: id; [3]: account; [4]: holder; [5]: duration of the lease
local known = redis.call('HMGET', KEYS[2], 'account', 'holder')
if known[1] ~= ARGV[3] or known[2] ~= ARGV[4] then
  return {'OK', 0}
end
redis.call('ZADD', KEYS[3], now + tonumber(ARGV[5]), ARGV[2])
return {'OK', 1}
