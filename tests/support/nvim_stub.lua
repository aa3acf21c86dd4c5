-- SPDX-License-Identifier: GPL-3.0-or-later
-- Loads share/nvim/photofinish.lua in Neovim with a stub of nvim-dap, and writes what it has made of it as JSON into $PF_OUT.
-- $PF_RACES: a document of 'photofinish races --json'.
local stub = { adapters = {}, configurations = { c = { { name = "mine" } } } }
local requests = {}
local frame = { id = 7 }
local races = vim.fn.json_decode(vim.fn.readfile(vim.env.PF_RACES))
local present = nil
function stub.session()
  return present
end
package.preload["dap"] = function()
  return stub
end
package.preload["dap.utils"] = function()
  return {
    pick_process = function()
      return 4711
    end,
  }
end
local said = {}
vim.notify = function(text)
  table.insert(said, text)
end
local asked = {}
vim.fn.input = function(prompt)
  table.insert(asked, prompt)
  return prompt:find("Ranks") and "3" or prompt:find("Arguments") and " a  b " or "/x/" .. prompt:match("%w+"):lower()
end

local photofinish = require("photofinish")
photofinish.setup({ command = "/opt/photofinish" })
photofinish.setup({ command = "/opt/photofinish" }) -- twice does no harm

vim.cmd("PhotofinishRaces") -- no session
present = {
  current_frame = frame,
  request = function(_, command, arguments, done)
    table.insert(requests, { command, arguments })
    if command == "photofinish/races" then
      done(nil, races)
    elseif command == "evaluate" then
      done(nil, { result = "by rank 2" })
    else
      done({ message = "refused" })
    end
  end,
}
vim.cmd("PhotofinishRaces")
vim.cmd("PhotofinishReplayHere")
vim.cmd("PhotofinishReplayTo 0:17")
vim.cmd("PhotofinishReplayTo nonsense")
vim.cmd("PhotofinishWhichMessage a[3] + 1")

-- Suspects come first, then by their numbers.
local function made_up(weight)
  return { weight = weight, receive = { rank = 0, serial = 1 }, alternatives = {} }
end
local ranked = {}
for _, item in ipairs(photofinish.race_items({ races = { made_up("other"), made_up("before failure"), made_up("first"), made_up("other") } })) do
  table.insert(ranked, item.nr)
end

local function plain(value)
  if type(value) == "function" then
    return value()
  elseif type(value) == "table" then
    local copy = {}
    for key, each in pairs(value) do
      copy[key] = plain(each)
    end
    return copy
  end
  return value
end
local quickfix = {}
for _, item in ipairs(vim.fn.getqflist()) do
  table.insert(quickfix, { vim.fn.bufname(item.bufnr), item.lnum, item.text })
end
vim.fn.writefile({
  vim.fn.json_encode({
    adapter = stub.adapters.photofinish,
    configurations = plain(stub.configurations),
    requests = requests,
    said = said,
    quickfix = quickfix,
    ranked = ranked,
  }),
}, vim.env.PF_OUT)
vim.cmd("qall!")
