-- KEYS[2]: the journal; ARGV[2]: holder
local journal = KEYS[2]
if redis.call('HGET', journal, 'holder') == ARGV[2] then
  -- A journal without entries is gone with its lease.
  redis.call('HDEL', journal, 'holder', 'until')
  redis.call('PUBLISH', journal, '')
end
return {'OK'}
