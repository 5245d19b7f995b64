-- Begins every script. KEYS[1] has the generation of the data, and ARGV[1] is the one
-- that the caller knows: if they differ, the data was lost and nothing may be written.
if redis.call('GET', KEYS[1]) ~= ARGV[1] then
  return {'LOST'}
end

-- The time of the store: the clocks of nodes differ.
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)

-- Keeps a key until `expiry` at least.
local function keep(key, expiry)
  if redis.call('PTTL', key) < expiry - now then
    redis.call('PEXPIREAT', key, expiry)
  end
end
