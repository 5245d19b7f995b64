-- Removes what is stored for an id: a session, or its events.
-- KEYS[5]: the value; ARGV[7]: id
redis.call('UNLINK', KEYS[5])
forget(ARGV[7])
return {'OK'}
