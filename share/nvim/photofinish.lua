-- SPDX-License-Identifier: GPL-3.0-or-later
-- Photofinish in Neovim (0.7 or later), over nvim-dap: require("photofinish").setup() in init.lua, once nvim-dap is there.
-- Adds the adapter "photofinish", configurations for C, C++, Fortran and Python, and commands:
--   :PhotofinishRaces              the racing receives as a quickfix list, the first suspect first
--   :PhotofinishReplayTo R:SERIAL  rank R just before its event SERIAL, the others at the cut that it needs
--   :PhotofinishReplayHere         the same for the race of the quickfix list's line
--   :PhotofinishWhichMessage EXPR  which message filled a variable of the frame
local M = {}

M.filetypes = { "c", "cpp", "fortran", "python" }

local function ask_file(prompt, default)
  return function()
    return vim.fn.input(prompt, default, "file")
  end
end

local function ask_words(prompt)
  return function()
    return vim.split(vim.fn.input(prompt), "%s+", { trimempty = true })
  end
end

--- What can be launched and attached to. `filetype`: of the program. Each call makes new tables.
function M.configurations(filetype)
  local here = vim.fn.getcwd() .. "/"
  local program = filetype == "python" and "python3" or ask_file("Program: ", here)
  local arguments = filetype == "python"
      and function()
        return { vim.fn.input("Script: ", vim.fn.expand("%"), "file") }
      end
    or ask_words("Arguments: ")
  return {
    {
      name = "Photofinish: to the failure of a trace",
      type = "photofinish",
      request = "launch",
      trace = ask_file("Trace (.pft): ", here),
      ["until"] = "failure",
    },
    {
      name = "Photofinish: a trace, to the first breakpoint",
      type = "photofinish",
      request = "launch",
      trace = ask_file("Trace (.pft): ", here),
    },
    {
      name = "Photofinish: record, then replay",
      type = "photofinish",
      request = "launch",
      program = program,
      args = arguments,
      launcher = function()
        return { "mpirun", "-n", vim.fn.input("Ranks: ", "4") }
      end,
      cwd = "${workspaceFolder}",
      stopOnEntry = true,
    },
    {
      name = "Photofinish: attach to a running job",
      type = "photofinish",
      request = "attach",
      processId = function()
        return require("dap.utils").pick_process()
      end,
    },
    {
      name = "Photofinish: core files",
      type = "photofinish",
      request = "attach",
      coreFiles = ask_words("Core files: "),
    },
  }
end

local function session()
  local found = require("dap").session()
  if found == nil then
    vim.notify("No session of Photofinish: start one with :DapContinue", vim.log.levels.WARN)
  end
  return found
end

local function failed(err)
  vim.notify("Photofinish: " .. tostring(type(err) == "table" and err.message or err), vim.log.levels.ERROR)
end

local rank_of_weight = { first = 0, ["before failure"] = 1, other = 2 }

--- Items of a quickfix list of the document of 'photofinish races --json', those that most likely matter first.
function M.race_items(document)
  local items = {}
  for number, race in ipairs(document.races) do
    local receive = race.receive
    table.insert(items, {
      filename = type(receive.file) == "string" and receive.file or nil,
      lnum = type(receive.line) == "number" and receive.line or 0,
      nr = number,
      text = string.format(
        "race %d (%s): rank %d event %d, %d %s",
        number,
        race.weight,
        receive.rank,
        receive.serial,
        #race.alternatives,
        #race.alternatives == 1 and "alternative" or "alternatives"
      ),
      user_data = { rank = receive.rank, serial = receive.serial },
      weight = rank_of_weight[race.weight] or 3,
    })
  end
  table.sort(items, function(a, b)
    if a.weight ~= b.weight then
      return a.weight < b.weight
    end
    return a.nr < b.nr
  end)
  for _, item in ipairs(items) do
    item.weight = nil
  end
  return items
end

function M.races()
  local present = session()
  if present == nil then
    return
  end
  present:request("photofinish/races", vim.empty_dict(), function(err, document)
    if err then
      failed(err)
      return
    end
    local items = M.race_items(document)
    vim.fn.setqflist({}, " ", { title = "Races", items = items })
    M.last_races = items
    if #items == 0 then
      vim.notify("Photofinish: no receive could have taken another message")
    else
      vim.cmd("copen")
    end
  end)
end

--- `place`: "RANK:SERIAL".
function M.replay_to(place)
  local rank, serial = tostring(place):match("^%s*(%d+):(%d+)%s*$")
  if rank == nil then
    vim.notify("Photofinish: write RANK:SERIAL, as 0:17", vim.log.levels.ERROR)
    return
  end
  local present = session()
  if present ~= nil then
    present:request("photofinish/replayTo", { rank = tonumber(rank), serial = tonumber(serial) }, function(err)
      if err then
        failed(err)
      end
    end)
  end
end

function M.replay_here()
  local line = vim.fn.getqflist({ idx = 0 }).idx
  local item = M.last_races and M.last_races[line]
  if item == nil then
    vim.notify("Photofinish: :PhotofinishRaces makes the list first", vim.log.levels.WARN)
    return
  end
  M.replay_to(item.user_data.rank .. ":" .. item.user_data.serial)
end

function M.which_message(expression)
  local present = session()
  if present == nil then
    return
  end
  local frame = present.current_frame
  present:request("evaluate", {
    expression = "which-message " .. expression,
    context = "repl",
    frameId = frame and frame.id or nil,
  }, function(err, body)
    if err then
      failed(err)
    else
      vim.notify(body.result)
    end
  end)
end

--- `options.command`: where photofinish lies, if it is not in PATH. `options.trust`: also traces that you have not recorded
--- are run. `options.filetypes`: that get the configurations.
function M.setup(options)
  options = options or {}
  local dap = require("dap")
  local words = { "dap" }
  if options.trust then
    table.insert(words, "--trust")
  end
  dap.adapters.photofinish = { type = "executable", command = options.command or "photofinish", args = words }
  for _, filetype in ipairs(options.filetypes or M.filetypes) do
    dap.configurations[filetype] = dap.configurations[filetype] or {}
    local known = {}
    for _, each in ipairs(dap.configurations[filetype]) do
      known[each.name] = true
    end
    for _, each in ipairs(M.configurations(filetype)) do
      if not known[each.name] then
        table.insert(dap.configurations[filetype], each)
      end
    end
  end
  local command = vim.api.nvim_create_user_command
  command("PhotofinishRaces", M.races, { desc = "The racing receives as a quickfix list" })
  command("PhotofinishReplayTo", function(given)
    M.replay_to(given.args)
  end, { nargs = 1, desc = "A rank just before an event" })
  command("PhotofinishReplayHere", M.replay_here, { desc = "To the race of the quickfix list's line" })
  command("PhotofinishWhichMessage", function(given)
    M.which_message(given.args)
  end, { nargs = "+", desc = "Which message filled a variable" })
end

return M
