-- Quotas of one kind of item.
--   KEYS[2]: ids by expiry
--   KEYS[3]: of each id, its bytes and account
--   KEYS[4]: items and bytes in use, of all ('n', 'b') and of each account
--   ARGV[2]: the account; ARGV[3], [4]: its items and bytes; ARGV[5], [6]: those of all
-- Redis drops expired items by itself. They are counted until a write sweeps them, a few
-- at a time, and more if there is no room otherwise.
local account = ARGV[2]
local max_account_items, max_account_bytes = tonumber(ARGV[3]), tonumber(ARGV[4])
local max_items, max_bytes = tonumber(ARGV[5]), tonumber(ARGV[6])
local SWEPT, SWEPT_IF_FULL = 8, 256

local function used(field)
  return tonumber(redis.call('HGET', KEYS[4], field) or 0)
end

local function add(field, amount)
  if redis.call('HINCRBY', KEYS[4], field, amount) <= 0 then
    redis.call('HDEL', KEYS[4], field)
  end
end

local function count(owner, items, bytes)
  add('n', items)
  add('b', bytes)
  add('n:' .. owner, items)
  add('b:' .. owner, bytes)
end

-- Returns the bytes and the account of an item, or nothing.
local function counted(id)
  local entry = redis.call('HGET', KEYS[3], id)
  if not entry then
    return nil
  end
  local colon = string.find(entry, ':', 1, true)
  return tonumber(string.sub(entry, 1, colon - 1)), string.sub(entry, colon + 1)
end

local function forget(id)
  local bytes, owner = counted(id)
  redis.call('ZREM', KEYS[2], id)
  if bytes then
    redis.call('HDEL', KEYS[3], id)
    count(owner, -1, -bytes)
  end
  return owner
end

-- Called with the id and the account of each item that is swept.
local on_swept = function() end

local function sweep(limit)
  local expired = redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', now, 'LIMIT', 0, limit)
  for _, id in ipairs(expired) do
    on_swept(id, forget(id))
  end
  return #expired
end

local function exceeded(owner, items, bytes)
  if used('n:' .. owner) + items > max_account_items or used('b:' .. owner) + bytes > max_account_bytes then
    return 'ACCOUNT'
  end
  if used('n') + items > max_items or used('b') + bytes > max_bytes then
    return 'ALL'
  end
  return nil
end

-- Counts an item with this size, in place of what was counted for it. Returns which
-- quota is exceeded; then nothing is counted.
local function charge(id, bytes, expiry)
  sweep(SWEPT)
  for attempt = 1, 2 do
    local old_bytes, owner = counted(id)
    local added_items = old_bytes and 0 or 1
    local added_bytes = bytes - (old_bytes or 0)
    owner = owner or account
    local full = nil
    if added_items > 0 or added_bytes > 0 then
      full = exceeded(owner, added_items, added_bytes)
    end
    if not full then
      count(owner, added_items, added_bytes)
      redis.call('HSET', KEYS[3], id, bytes .. ':' .. owner)
      redis.call('ZADD', KEYS[2], expiry, id)
      keep(KEYS[2], expiry)
      keep(KEYS[3], expiry)
      keep(KEYS[4], expiry)
      return nil
    end
    if attempt == 2 or sweep(SWEPT_IF_FULL) == 0 then
      return full
    end
  end
end
