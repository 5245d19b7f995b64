-- KEYS[2]: ids of leased tasks by the end of the lease
-- ARGV[2]: the prefix of tasks; [3]: holder; [4]: duration of the lease
-- Tasks that have expired are skipped, a few at a time: 'AGAIN' means that there may be more.
local LOOKED_AT = 32
local ids = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, LOOKED_AT)
for _, id in ipairs(ids) do
  local task = ARGV[2] .. id
  local known = redis.call('HMGET', task, 'value', 'version', 'account')
  if known[1] then
    local version = tonumber(known[2]) + 1
    redis.call('HSET', task, 'version', version, 'holder', ARGV[3], 'token', '')
    redis.call('ZADD', KEYS[2], now + tonumber(ARGV[4]), id)
    redis.call('PUBLISH', task, '')
    return {'OK', id, known[3], known[1], version}
  end
  redis.call('ZREM', KEYS[2], id)
end
return {#ids == LOOKED_AT and 'AGAIN' or 'NONE'}
