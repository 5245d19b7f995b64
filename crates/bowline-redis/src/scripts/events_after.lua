-- KEYS[2]: the events of the session
-- ARGV[2]: stream; [3]: sequence number
local CHUNK = 256
local found, from = {}, 0
while true do
  local events = redis.call('LRANGE', KEYS[2], from, from + CHUNK - 1)
  for _, event in ipairs(events) do
    local expiry, sequence, standalone, length, start = string.match(event, '^(%d+) (%d+) (%d) (%d+)\n()')
    local stream_end = start + tonumber(length)
    if tonumber(expiry) > now and tonumber(sequence) > tonumber(ARGV[3])
        and string.sub(event, start, stream_end - 1) == ARGV[2] then
      found[#found + 1] = {sequence, standalone, string.sub(event, stream_end)}
    end
  end
  if #events < CHUNK then
    break
  end
  from = from + CHUNK
end
return {'OK', found}
