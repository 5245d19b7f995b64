-- Removes what is stored for an id: the events of a session.
-- KEYS[5]: the value; ARGV[7]: id
redis.call('UNLINK', KEYS[5])
forget(ARGV[7])
return {'OK'}
