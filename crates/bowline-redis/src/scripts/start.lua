-- Returns the generation of the data, and sets it if there is none.
-- KEYS[1]: the generation; ARGV[1]: a new one
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return redis.call('GET', KEYS[1])
