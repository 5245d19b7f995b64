-- KEYS[2]: the ids of the account
-- ARGV[2]: the prefix of tasks; [3]: the id to start after, or ''; [4]: limit
-- Ids of tasks that have expired are removed, up to a number of them.
local MAX_REMOVED = 1024
local start, limit, removed = '-', tonumber(ARGV[4]), 0
if ARGV[3] ~= '' then
  start = '(' .. ARGV[3]
end
local tasks = {}
while #tasks < limit and removed < MAX_REMOVED do
  local wanted = limit - #tasks
  local ids = redis.call('ZRANGEBYLEX', KEYS[2], start, '+', 'LIMIT', 0, wanted)
  for _, id in ipairs(ids) do
    local known = redis.call('HMGET', ARGV[2] .. id, 'value', 'version', 'holder')
    if known[1] then
      tasks[#tasks + 1] = {id, known[1], known[2], known[3]}
    else
      redis.call('ZREM', KEYS[2], id)
      removed = removed + 1
    end
    start = '(' .. id
  end
  if #ids < wanted then
    break
  end
end
return {'OK', tasks}
