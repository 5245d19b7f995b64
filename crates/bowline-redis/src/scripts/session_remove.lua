-- Removes a session, if it belongs to this node.
-- KEYS[5]: the session; ARGV[7]: id; [8]: node
if redis.call('HGET', KEYS[5], 'node') == ARGV[8] then
  redis.call('UNLINK', KEYS[5])
  forget(ARGV[7])
end
return {'OK'}
