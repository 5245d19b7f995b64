-- Registers a node, or renews its lease. Returns whether the lease had not ended. Not
-- repeatable: the second time it would always return that.
-- KEYS[2]: the node; ARGV[2]: address; ARGV[3]: lease
local known = redis.call('EXISTS', KEYS[2])
redis.call('SET', KEYS[2], ARGV[2], 'PX', ARGV[3])
return {'OK', known}
