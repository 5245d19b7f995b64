-- KEYS[2]: the journal; KEYS[3]: ids by expiry
-- ARGV[2]: id; [3]: holder; [4]: duration of the lease
local journal, lease = KEYS[2], tonumber(ARGV[4])
if redis.call('HGET', journal, 'holder') == ARGV[3] then
  redis.call('HSET', journal, 'until', now + lease)
  if redis.call('PTTL', journal) < lease then
    redis.call('PEXPIREAT', journal, now + lease)
    redis.call('ZADD', KEYS[3], 'XX', now + lease, ARGV[2])
  end
end
return {'OK'}
