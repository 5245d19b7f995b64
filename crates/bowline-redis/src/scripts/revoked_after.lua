-- KEYS[2]: tokens by expiry; KEYS[3]: tokens by the position at which they were revoked
-- ARGV[2]: position; [3]: limit
local tokens, position = {}, ARGV[2]
local found = redis.call('ZRANGEBYSCORE', KEYS[3], '(' .. position, '+inf', 'WITHSCORES', 'LIMIT', 0, ARGV[3])
for at = 1, #found, 2 do
  local left = tonumber(redis.call('ZSCORE', KEYS[2], found[at]) or 0) - now
  position = string.format('%.0f', tonumber(found[at + 1]))
  if left > 0 then
    tokens[#tokens + 1] = {found[at], left}
  end
end
return {'OK', position, #found / 2 >= tonumber(ARGV[3]) and 1 or 0, tokens}
