-- Keeps a ledger: objects with metatables, strings built and taken apart, closures over rows, sorted reports.
-- Its numbers come from a generator of its own, so the work is the same in every run.
local count = tonumber(arg[1] or "20000")

local state = 1
local function below(limit)
  state = (state * 1103515245 + 12345) & 0x7fffffff
  return (state >> 8) % limit
end

local Entry = {}
Entry.__index = Entry

function Entry.new(number)
  local entry = setmetatable({ number = number, account = "account-" .. below(400), parts = {} }, Entry)
  for part = 1, 1 + below(4) do
    entry.parts[part] = { cents = below(100000), note = ("part %d of %d"):format(part, number) }
  end
  return entry
end

function Entry:sum()
  local sum = 0
  for _, part in ipairs(self.parts) do sum = sum + part.cents end
  return sum
end

function Entry:line()
  local words = {}
  for _, part in ipairs(self.parts) do words[#words + 1] = part.note:gsub("%d+", function(n) return "<" .. n .. ">" end) end
  return self.account .. ": " .. table.concat(words, ", ")
end

local accounts, length = {}, 0
for number = 1, count do
  local entry = Entry.new(number)
  local known = accounts[entry.account] or {}
  accounts[entry.account] = known
  known[#known + 1] = entry
  length = length + #entry:line()
end

-- Splits by the middle, down to single entries: a recursion that allocates in every step.
local function report(entries)
  if #entries <= 1 then return { sum = entries[1] and entries[1]:sum() or 0, of = #entries } end
  local left, right = {}, {}
  for i, entry in ipairs(entries) do
    local half = i <= #entries // 2 and left or right
    half[#half + 1] = entry
  end
  local a, b = report(left), report(right)
  return { sum = a.sum + b.sum, of = a.of + b.of }
end

local rows = {}
for account, entries in pairs(accounts) do
  table.sort(entries, function(a, b) return a.number < b.number end)
  rows[#rows + 1] = { account = account, total = report(entries) }
end
table.sort(rows, function(a, b) return a.account < b.account end)
print(length, #rows, rows[1].account, rows[1].total.sum)
