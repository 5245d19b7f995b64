-- KEYS[5]: the task, which is also the channel of its changes; KEYS[6]: ids of leased
-- tasks by the end of the lease; KEYS[7]: the prefix of the ids of each account
on_swept = function(id, owner)
  redis.call('ZREM', KEYS[6], id)
  if owner then
    redis.call('ZREM', KEYS[7] .. owner, id)
  end
end
