-- SPDX-License-Identifier: Apache-2.0
-- Dissector of links in captures of flitwise: TLPs of both modes, DLLPs, flits and messages of CXL.
--   tshark -X lua_script:flitwise.lua -r run.pcapng -Y 'flitwise.tlp.tag == 5'
-- Wireshark loads it from its folder of personal Lua plugins (Help > About > Folders).
-- Layouts: docs/formats/pcapng.md of flitwise, and the base specification of PCI Express.

local p = Proto("flitwise", "flitwise link")

local units = {[0] = "TLP", "TLP of flit mode", "malformed TLP", "DLLP", "flit", "CXL message", "bit-packed message"}
local purposes = {[0] = "none", "ALLOC", "DEALLOC", "flush", "acknowledgement"}
local address_types = {[0] = "untranslated", "translation request", "translated", "reserved"}
local statuses = {[0] = "SC", "UR", "RRS", "reserved", "CA", "reserved", "reserved", "reserved"}
local routings = {[0] = "to root complex", "by address", "by ID", "broadcast", "local", "gathered"}
local messages = {[0x00] = "Unlock", [0x01] = "Invalidate Request", [0x02] = "Invalidate Completion", [0x04] = "Page Request",
  [0x05] = "PRG Response", [0x10] = "LTR", [0x12] = "OBFF", [0x14] = "PM_Active_State_Nak", [0x18] = "PM_PME",
  [0x19] = "PME_Turn_Off", [0x1b] = "PME_TO_Ack", [0x20] = "Assert_INTA", [0x24] = "Deassert_INTA", [0x30] = "ERR_COR",
  [0x31] = "ERR_NONFATAL", [0x33] = "ERR_FATAL", [0x50] = "Set_Slot_Power_Limit", [0x52] = "PTM Request",
  [0x53] = "PTM Response", [0x7e] = "Vendor_Defined Type 0", [0x7f] = "Vendor_Defined Type 1"}
local fc_classes = {[0] = "posted", "non-posted", "completion"}
local channels = {[0] = "D2H Req", "D2H Rsp", "D2H Data", "H2D Req", "H2D Rsp", "H2D Data", "M2S Req", "M2S RwD", "M2S BIRsp",
  "S2M NDR", "S2M DRS", "S2M BISnp"}

local f = {}
local function field(name, make, label, ...)
  f[name] = make("flitwise." .. name, label, ...)
end
-- The head of each unit.
field("unit", ProtoField.uint8, "Unit", base.DEC, units)
field("up", ProtoField.bool, "Towards the root")
field("replay", ProtoField.bool, "Sent again")
field("damaged", ProtoField.bool, "Damaged by a bit error")
field("lost", ProtoField.bool, "Lost")
field("in_flit", ProtoField.bool, "Ends in a flit")
field("length_only", ProtoField.bool, "Payload stands as zeros")
field("purpose", ProtoField.uint8, "For handles", base.DEC, purposes)
field("sequence", ProtoField.uint16, "Sequence number")
field("behind_handle", ProtoField.string, "Requester behind the handle")
field("uid", ProtoField.uint64, "Number of the packet")
field("first_ps", ProtoField.uint64, "First symbol, ps")
field("last_ps", ProtoField.uint64, "Last symbol, ps")
-- TLPs
field("tlp.type", ProtoField.string, "Type")
field("tlp.fmt", ProtoField.uint8, "Fmt")
field("tlp.type_code", ProtoField.uint8, "Type code", base.HEX)
field("tlp.tc", ProtoField.uint8, "Traffic class")
field("tlp.at", ProtoField.uint8, "Address type", base.DEC, address_types)
field("tlp.ido", ProtoField.bool, "ID-based ordering")
field("tlp.ro", ProtoField.bool, "Relaxed ordering")
field("tlp.ns", ProtoField.bool, "No snoop")
field("tlp.th", ProtoField.bool, "Processing hint")
field("tlp.td", ProtoField.bool, "ECRC")
field("tlp.ep", ProtoField.bool, "Poisoned")
field("tlp.id_is_handle", ProtoField.bool, "The identity is a handle")
field("tlp.handle", ProtoField.uint16, "Handle")
field("tlp.length", ProtoField.uint16, "Length, DW")
field("tlp.requester", ProtoField.string, "Requester ID")
field("tlp.completer", ProtoField.string, "Completer ID")
field("tlp.destination", ProtoField.string, "Destination ID")
field("tlp.tag", ProtoField.uint16, "Tag")
field("tlp.first_be", ProtoField.uint8, "First DW BE", base.HEX)
field("tlp.last_be", ProtoField.uint8, "Last DW BE", base.HEX)
field("tlp.address", ProtoField.uint64, "Address", base.HEX)
field("tlp.no_write", ProtoField.bool, "No Write")
field("tlp.register", ProtoField.uint16, "Register offset", base.HEX)
field("tlp.status", ProtoField.uint8, "Status", base.DEC, statuses)
field("tlp.bcm", ProtoField.bool, "BCM")
field("tlp.byte_count", ProtoField.uint16, "Byte count")
field("tlp.lower_address", ProtoField.uint8, "Lower address", base.HEX)
field("tlp.message", ProtoField.uint8, "Message code", base.HEX, messages)
field("tlp.routing", ProtoField.uint8, "Routing", base.DEC, routings)
field("tlp.message_dw2", ProtoField.uint32, "Header DW 2", base.HEX)
field("tlp.message_dw3", ProtoField.uint32, "Header DW 3", base.HEX)
field("tlp.pasid", ProtoField.uint32, "PASID")
field("tlp.privileged", ProtoField.bool, "Privileged mode requested")
field("tlp.execute", ProtoField.bool, "Execute requested")
field("tlp.prefix", ProtoField.uint32, "Prefix", base.HEX)
field("tlp.payload", ProtoField.bytes, "Payload")
field("tlp.request_in", ProtoField.framenum, "Request in", base.NONE, frametype.REQUEST)
field("tlp.completion_in", ProtoField.framenum, "Last completion in", base.NONE, frametype.RESPONSE)
field("tlp.time_ns", ProtoField.double, "Time since the request, ns")
-- DLLPs
field("dllp.type", ProtoField.string, "DLLP")
field("dllp.sequence", ProtoField.uint16, "AckNak_Seq_Num")
field("dllp.class", ProtoField.uint8, "Class", base.DEC, fc_classes)
field("dllp.vc", ProtoField.uint8, "Virtual channel")
field("dllp.hdr_scale", ProtoField.uint8, "HdrScale")
field("dllp.hdr_fc", ProtoField.uint8, "HdrFC")
field("dllp.data_scale", ProtoField.uint8, "DataScale")
field("dllp.data_fc", ProtoField.uint16, "DataFC")
field("dllp.crc", ProtoField.uint16, "CRC", base.HEX)
-- CXL
field("cxl.channel", ProtoField.uint8, "Channel", base.DEC, channels)
field("cxl.opcode", ProtoField.uint8, "Opcode", base.HEX)
field("cxl.id", ProtoField.uint16, "ID")
field("cxl.address", ProtoField.uint64, "Address", base.HEX)
field("cxl.byte_enables", ProtoField.uint64, "Byte enables", base.HEX)
field("cxl.identity", ProtoField.uint64, "Identity", base.HEX)
field("payload_bytes", ProtoField.uint32, "Bytes of payload")

local list = {}
for _, one in pairs(f) do list[#list + 1] = one end
p.fields = list

local damaged = ProtoExpert.new("flitwise.damaged.expert", "A bit error has hit this unit", expert.group.CHECKSUM, expert.severity.WARN)
local lost = ProtoExpert.new("flitwise.lost.expert", "This unit never arrives", expert.group.SEQUENCE, expert.severity.WARN)
local replayed = ProtoExpert.new("flitwise.replay.expert", "Sent again", expert.group.SEQUENCE, expert.severity.NOTE)
local malformed = ProtoExpert.new("flitwise.malformed.expert", "Malformed TLP", expert.group.MALFORMED, expert.severity.ERROR)
local short = ProtoExpert.new("flitwise.short.expert", "The bytes end too early", expert.group.MALFORMED, expert.severity.ERROR)
local refused = ProtoExpert.new("flitwise.refused.expert", "The request was refused", expert.group.RESPONSE_CODE, expert.severity.NOTE)
p.experts = {damaged, lost, replayed, malformed, short, refused}

local function bdf(value)
  return string.format("%02x:%02x.%x", bit.rshift(value, 8), bit.band(bit.rshift(value, 3), 31), bit.band(value, 7))
end
local function bits(dw, low, width)
  return bit.band(bit.rshift(dw, low), bit.lshift(1, width) - 1)
end
local function flag(dw, place)
  return bits(dw, place, 1) == 1
end

-- Of each link: requests without their last completion, by requester and tag, and by handle and tag, which a refusal
-- echoes; completions that did not arrive. What is known of each packet that has been looked at once.
local open, missed, known = {}, {}, {}
function p.init()
  open, missed, known = {}, {}, {}
end
local interface = Field.new("frame.interface_id")

-- "MRd" and so on by Fmt and Type; what follows from it.
local kinds = {["0/0"] = "MRd", ["1/0"] = "MRd", ["0/1"] = "MRdLk", ["1/1"] = "MRdLk", ["2/0"] = "MWr", ["3/0"] = "MWr", ["0/2"] = "IORd", ["2/2"] = "IOWr",
  ["0/4"] = "CfgRd0", ["2/4"] = "CfgWr0", ["0/5"] = "CfgRd1", ["2/5"] = "CfgWr1", ["0/10"] = "Cpl", ["2/10"] = "CplD",
  ["0/11"] = "CplLk", ["2/11"] = "CplDLk", ["2/12"] = "FetchAdd", ["3/12"] = "FetchAdd", ["2/13"] = "Swap", ["3/13"] = "Swap",
  ["2/14"] = "CAS", ["3/14"] = "CAS", ["2/27"] = "DMWr", ["3/27"] = "DMWr"}
-- Type[7:0] of flit mode: kind, whether the header has four DWs.
local flit_kinds = {[0x03] = {"MRd", false}, [0x20] = {"MRd", true}, [0x01] = {"MRdLk", false}, [0x21] = {"MRdLk", true},
  [0x40] = {"MWr", false}, [0x60] = {"MWr", true}, [0x02] = {"IORd", false}, [0x42] = {"IOWr", false}, [0x04] = {"CfgRd0", false},
  [0x44] = {"CfgWr0", false}, [0x05] = {"CfgRd1", false}, [0x45] = {"CfgWr1", false}, [0x0a] = {"Cpl", false}, [0x4a] = {"CplD", false},
  [0x0b] = {"CplLk", false}, [0x4b] = {"CplDLk", false}, [0x4c] = {"FetchAdd", false}, [0x6c] = {"FetchAdd", true}, [0x4d] = {"Swap", false},
  [0x6d] = {"Swap", true}, [0x4e] = {"CAS", false}, [0x6e] = {"CAS", true}, [0x5b] = {"DMWr", false}, [0x7b] = {"DMWr", true}}
local memory = {MRd = true, MRdLk = true, MWr = true, FetchAdd = true, Swap = true, CAS = true, DMWr = true}
local with_data = {MWr = true, IOWr = true, CfgWr0 = true, CfgWr1 = true, CplD = true, CplDLk = true, FetchAdd = true, Swap = true, CAS = true,
  DMWr = true, MsgD = true}
local posted = {MWr = true, Msg = true, MsgD = true}

-- The fields of a TLP as a table, and where each DW stands; nothing where the bytes end too early.
local function read_tlp(range, is_flit)
  local t, at = {prefixes = {}}, 0
  local function dw(place)
    return range:len() >= place + 4 and range(place, 4):uint() or nil
  end
  local first = dw(0)
  while first and (is_flit and (bits(first, 24, 8) == 0x8d or bits(first, 24, 8) == 0x8e or bits(first, 24, 8) == 0x8f) or
                   not is_flit and bits(first, 29, 3) == 4) do
    t.prefixes[#t.prefixes + 1] = {at, first}
    if not is_flit and bits(first, 24, 8) == 0x91 then
      t.pasid, t.privileged, t.execute = bits(first, 0, 20), flag(first, 21), flag(first, 20)
    elseif bits(first, 24, 8) == 0x9e then
      t.handle = bits(first, 0, 12)
    end
    at = at + 4
    first = dw(at)
  end
  if not first then return nil end
  t.at_dw = at
  local wide
  if is_flit then
    local code = bits(first, 24, 8)
    local kind = flit_kinds[code]
    if kind then
      t.kind, wide = kind[1], kind[2]
    elseif code >= 0x30 and code <= 0x35 or code >= 0x70 and code <= 0x75 then
      t.kind, wide, t.routing = code >= 0x70 and "MsgD" or "Msg", true, bits(code, 0, 3)
    else
      return nil
    end
    t.code, t.tc = code, bits(first, 21, 3)
    t.ido, t.ro, t.ns, t.th, t.td = flag(first, 12), flag(first, 11), flag(first, 10), flag(first, 17), bits(first, 13, 3) == 1
  else
    t.fmt, t.code = bits(first, 29, 3), bits(first, 24, 5)
    wide = bits(t.fmt, 0, 1) == 1
    if bits(t.code, 3, 2) == 2 and wide then
      t.kind, t.routing = bits(t.fmt, 1, 1) == 1 and "MsgD" or "Msg", bits(t.code, 0, 3)
    else
      t.kind = kinds[t.fmt .. "/" .. t.code]
    end
    if not t.kind then return nil end
    t.tc, t.at, t.ido, t.ro, t.ns = bits(first, 20, 3), bits(first, 10, 2), flag(first, 18), flag(first, 13), flag(first, 12)
    t.th, t.td, t.ep, t.id_is_handle = flag(first, 16), flag(first, 15), flag(first, 14), flag(first, 17)
  end
  t.is_completion = t.kind:sub(1, 3) == "Cpl"
  t.is_message = t.kind:sub(1, 3) == "Msg"
  t.length = bits(first, 0, 10)
  if t.length == 0 and (with_data[t.kind] or not posted[t.kind] and not t.is_completion) then t.length = 1024 end
  local dws = wide and 4 or 3
  local d1, d2, d3 = dw(at + 4), dw(at + 8), wide and dw(at + 12) or 0
  if not (d1 and d2 and d3) then return nil end
  local ohc_a
  local behind = at + 4 * dws
  if is_flit then
    t.ep = flag(d1, 15)
    if flag(first, 16) then
      ohc_a = dw(behind)
      if not ohc_a then return nil end
      behind = behind + 4
    end
    behind = behind + (t.th and 4 or 0)
    local e = ({[0] = 0, 1, 2, 4})[bits(first, 19, 2)]
    for i = 0, e - 1 do
      local word = dw(behind + 4 * i)
      if not word then return nil end
      if word ~= 0 then t.prefixes[#t.prefixes + 1] = {behind + 4 * i, word} end
      if bits(word, 24, 8) == 0x9e then t.handle = bits(word, 0, 12) end
    end
    behind = behind + 4 * e
  end
  t.payload_at, t.payload_bytes = behind, with_data[t.kind] and 4 * t.length or 0
  local high = is_flit and 0 or bit.bor(bit.lshift(bits(first, 23, 1), 9), bit.lshift(bits(first, 19, 1), 8))
  if t.is_completion then
    t.completer, t.requester = bits(d1, 16, 16), bits(d2, 16, 16)
    if is_flit then
      t.tag, t.byte_count = bits(d1, 0, 14), bits(d2, 0, 12)
      t.lower = bit.bor(bit.lshift(bits(d1, 14, 1), 6), bit.lshift(bits(d2, 12, 4), 2), ohc_a and bits(ohc_a, 3, 2) or 0)
      t.status = ohc_a and bits(ohc_a, 0, 3) or 0
      t.id_is_handle = ohc_a ~= nil and flag(ohc_a, 5)
    else
      t.status, t.bcm, t.byte_count = bits(d1, 13, 3), flag(d1, 12), bits(d1, 0, 12)
      t.tag, t.lower = bit.bor(high, bits(d2, 8, 8)), bits(d2, 0, 7)
    end
    if t.byte_count == 0 then t.byte_count = 4096 end
  else
    t.requester = bits(d1, 16, 16)
    t.tag = is_flit and bits(d1, 0, 14) or bit.bor(high, bits(d1, 8, 8))
    if is_flit then t.id_is_handle = flag(d1, 14) end
    if t.is_message then
      t.message, t.dw2, t.dw3 = bits(d1, 0, 8), d2, d3
      if is_flit then t.tag = bits(d1, 8, 6) end
    elseif t.kind:sub(1, 3) == "Cfg" then
      t.destination, t.register = bits(d2, 16, 16), bits(d2, 2, 10) * 4
    else
      local low = wide and d3 or d2
      t.address = UInt64.new(bit.band(low, 0xfffffffc) % 4294967296, wide and d2 % 4294967296 or 0)
      if is_flit and memory[t.kind] then t.at = bits(low, 0, 2) end
    end
    if not t.is_message then
      if is_flit then
        local enables = ohc_a and not (t.kind == "FetchAdd" or t.kind == "Swap" or t.kind == "CAS")
        t.first_be = enables and bits(ohc_a, 0, 4) or 15
        t.last_be = enables and bits(ohc_a, 4, 4) or (t.length > 1 and 15 or 0)
      else
        t.first_be, t.last_be = bits(d1, 0, 4), bits(d1, 4, 4)
      end
    end
    if ohc_a and (memory[t.kind] or t.is_message) then
      local by_id = t.is_message and t.routing == 2
      local valid, privileged, execute, shift = 30, 29, 28, 8
      if by_id then valid, privileged, execute, shift = 22, 21, 20, 0 end
      if flag(ohc_a, valid) then
        t.pasid, t.privileged, t.execute = bits(ohc_a, shift, 20), flag(ohc_a, privileged), flag(ohc_a, execute)
      end
      if t.kind == "MRd" and t.at == 1 then t.no_write = flag(ohc_a, 31) end
    elseif not is_flit and t.kind == "MRd" and t.at == 1 then
      t.no_write = bits(wide and d3 or d2, 0, 1) == 1
    end
  end
  if t.id_is_handle and not t.handle then t.handle = t.requester end
  return t
end

local function is_last(t)
  if t.kind == "Cpl" or t.kind == "CplLk" or t.status ~= 0 then return true end
  return t.byte_count + t.lower % 4 <= 4 * t.length
end

-- Requests and completions of a link know each other by the frames in which they stand. A request is out since it was
-- sent first; a completion answers it once it has arrived.
local function match(t, pinfo, head)
  local number = pinfo.number
  if known[number] then return end
  known[number] = {ps = head.last}
  local link = interface()
  link = (link and link.value or 0) .. "/"
  local by_handle = t.id_is_handle and link .. "handle/" .. t.requester .. "/" .. t.tag
  local by_id = link .. (head.behind_handle or t.requester) .. "/" .. t.tag
  if not t.is_completion then
    if not posted[t.kind] and not head.replay then
      local request = {number = number, by_id = by_id, by_handle = by_handle}
      open[by_id] = request
      if by_handle then open[by_handle] = request end
    end
    return
  end
  local unit = link .. head.uid
  if head.is_missing then
    missed[unit] = true
    return
  end
  if head.replay and not missed[unit] then return end
  missed[unit] = nil
  local request = open[by_handle or by_id]
  if not request then return end
  known[number].request = request.number
  if is_last(t) then
    known[request.number].completion = number
    open[request.by_id] = nil
    if request.by_handle then open[request.by_handle] = nil end
  end
end

local function show_tlp(t, range, tree, pinfo, head)
  local node = tree:add(p, range, "TLP: " .. t.kind)
  local function add(name, value, place, size)
    if value ~= nil then
      node:add(f[name], place and range(place, size or 4) or range(t.at_dw, 4), value)
    end
  end
  local at = t.at_dw
  for _, one in ipairs(t.prefixes) do add("tlp.prefix", one[2], one[1]) end
  add("tlp.pasid", t.pasid)
  add("tlp.privileged", t.privileged)
  add("tlp.execute", t.execute)
  add("tlp.type", t.kind)
  add("tlp.fmt", t.fmt)
  add("tlp.type_code", t.code)
  add("tlp.tc", t.tc)
  add("tlp.at", t.at)
  for _, name in ipairs({"ido", "ro", "ns", "th", "td", "ep", "id_is_handle"}) do add("tlp." .. name, t[name]) end
  add("tlp.handle", t.handle)
  add("tlp.length", t.length)
  add("tlp.requester", bdf(t.requester), at + (t.is_completion and 8 or 4))
  add("tlp.tag", t.tag, at + (t.is_completion and 8 or 4))
  if t.completer then add("tlp.completer", bdf(t.completer), at + 4) end
  add("tlp.status", t.status, at + 4)
  add("tlp.bcm", t.bcm, at + 4)
  add("tlp.byte_count", t.byte_count, at + 4)
  add("tlp.lower_address", t.lower, at + 8)
  add("tlp.first_be", t.first_be, at + 4)
  add("tlp.last_be", t.last_be, at + 4)
  add("tlp.address", t.address, at + 8)
  add("tlp.no_write", t.no_write)
  if t.destination then add("tlp.destination", bdf(t.destination), at + 8) end
  add("tlp.register", t.register, at + 8)
  add("tlp.message", t.message, at + 4)
  add("tlp.routing", t.routing)
  add("tlp.message_dw2", t.dw2, at + 8)
  add("tlp.message_dw3", t.dw3, at + 12)
  if t.payload_bytes > 0 then
    local there = math.min(t.payload_bytes, range:len() - t.payload_at)
    if there > 0 then node:add(f["tlp.payload"], range(t.payload_at, there)) end
    if there < t.payload_bytes then node:add_proto_expert_info(short) end
  end
  match(t, pinfo, head)
  local own = known[pinfo.number]
  if own and own.completion then node:add(f["tlp.completion_in"], own.completion):set_generated() end
  if own and own.request then
    node:add(f["tlp.request_in"], own.request):set_generated()
    node:add(f["tlp.time_ns"], (head.last - known[own.request].ps):tonumber() / 1000):set_generated()
  end
  if t.is_completion and t.status ~= 0 then node:add_proto_expert_info(refused) end
  local info = t.kind
  if t.is_completion then
    info = info .. string.format(" to %s tag %d %s, %d bytes left", bdf(t.requester), t.tag, statuses[t.status], t.byte_count)
  elseif t.is_message then
    info = info .. string.format(" %s from %s", messages[t.message] or string.format("code 0x%02x", t.message), bdf(t.requester))
  else
    info = info .. string.format(" from %s tag %d", t.id_is_handle and "handle " .. t.handle or bdf(t.requester), t.tag)
    if t.address then info = info .. " at 0x" .. t.address:tohex():gsub("^0+", "") .. string.format(", %d DW", t.length) end
    if t.register then info = info .. string.format(" to %s register 0x%x", bdf(t.destination), t.register) end
  end
  if t.pasid then info = info .. " PASID " .. t.pasid end
  return info
end

local function show_dllp(range, tree)
  if range:len() < 6 then return nil end
  local dw = range(0, 4):uint()
  local code = bits(dw, 24, 8)
  local node = tree:add(p, range, "DLLP")
  local name
  local families = {[0x4] = {"InitFC1", 0}, [0x5] = {"InitFC1", 1}, [0x6] = {"InitFC1", 2}, [0xc] = {"InitFC2", 0}, [0xd] = {"InitFC2", 1},
    [0xe] = {"InitFC2", 2}, [0x8] = {"UpdateFC", 0}, [0x9] = {"UpdateFC", 1}, [0xa] = {"UpdateFC", 2}}
  local family = families[bits(dw, 28, 4)]
  if code == 0x00 or code == 0x10 then
    name = code == 0 and "Ack" or "Nak"
    node:add(f["dllp.sequence"], range(2, 2), bits(dw, 0, 12))
    name = name .. " " .. bits(dw, 0, 12)
  elseif family then
    name = family[1] .. " " .. fc_classes[family[2]]
    node:add(f["dllp.class"], range(0, 1), family[2])
    node:add(f["dllp.vc"], range(0, 1), bits(dw, 24, 3))
    node:add(f["dllp.hdr_scale"], range(1, 1), bits(dw, 22, 2))
    node:add(f["dllp.hdr_fc"], range(1, 2), bits(dw, 14, 8))
    node:add(f["dllp.data_scale"], range(2, 1), bits(dw, 12, 2))
    node:add(f["dllp.data_fc"], range(2, 2), bits(dw, 0, 12))
    name = name .. string.format(", header %d, data %d", bits(dw, 14, 8), bits(dw, 0, 12))
  else
    name = string.format("DLLP 0x%02x", code)
  end
  node:add(f["dllp.type"], range(0, 1), name:match("^%S+"))
  node:add(f["dllp.crc"], range(4, 2))
  return name
end

local function show_cxl(range, tree)
  if range:len() < 32 then return nil end
  local node = tree:add(p, range, "CXL message")
  node:add(f["cxl.channel"], range(0, 1))
  node:add(f["cxl.opcode"], range(1, 1))
  node:add(f["cxl.id"], range(2, 2))
  node:add(f["cxl.address"], range(4, 8))
  node:add(f["cxl.byte_enables"], range(12, 8))
  node:add(f["cxl.identity"], range(20, 8))
  node:add(f["payload_bytes"], range(28, 4))
  local channel = range(0, 1):uint()
  return string.format("%s opcode 0x%x id %d", channels[channel] or "channel " .. channel, range(1, 1):uint(), range(2, 2):uint())
end

function p.dissector(tvb, pinfo, tree)
  pinfo.cols.protocol = "flitwise"
  local root = tree:add(p, tvb())
  if tvb:len() < 32 or tvb(0, 1):uint() ~= 1 then
    root:add_proto_expert_info(short)
    return tvb:len()
  end
  local flags = tvb(2, 1):uint()
  local unit = tvb(1, 1):uint()
  root:add(f["unit"], tvb(1, 1))
  local head = {replay = flag(flags, 1), is_missing = flag(flags, 2) or flag(flags, 3), uid = tostring(tvb(8, 8):uint64()),
    last = tvb(24, 8):uint64()}
  for i, name in ipairs({"up", "replay", "damaged", "lost", "in_flit", "length_only"}) do root:add(f[name], tvb(2, 1), flag(flags, i - 1)) end
  root:add(f["purpose"], tvb(3, 1))
  root:add(f["sequence"], tvb(4, 2))
  if tvb(6, 2):uint() ~= 0 then
    head.behind_handle = tvb(6, 2):uint()
    root:add(f["behind_handle"], tvb(6, 2), bdf(head.behind_handle))
  end
  root:add(f["uid"], tvb(8, 8))
  root:add(f["first_ps"], tvb(16, 8))
  root:add(f["last_ps"], tvb(24, 8))
  if flag(flags, 2) then root:add_proto_expert_info(damaged) end
  if flag(flags, 3) then root:add_proto_expert_info(lost) end
  if flag(flags, 1) then root:add_proto_expert_info(replayed) end
  local up = flag(flags, 0)
  pinfo.cols.src = up and "device" or "root"
  pinfo.cols.dst = up and "root" or "device"
  local info = units[unit] or "unknown unit"
  if tvb:len() > 32 then
    local range = tvb(32)
    if unit == 0 or unit == 1 then
      local t = read_tlp(range, unit == 1)
      if t then
        info = show_tlp(t, range, tree, pinfo, head)
      else
        root:add_proto_expert_info(malformed)
      end
    elseif unit == 2 then
      root:add_proto_expert_info(malformed)
    elseif unit == 3 then
      info = show_dllp(range, tree) or info
    elseif unit == 5 then
      info = show_cxl(range, tree) or info
    elseif range:len() >= 4 then
      root:add(f["payload_bytes"], range(0, 4))
    end
  end
  local purpose = purposes[tvb(3, 1):uint()]
  if purpose and purpose ~= "none" then info = info .. " [" .. purpose .. "]" end
  if flag(flags, 1) then info = info .. " [sent again]" end
  if flag(flags, 2) then info = info .. " [damaged]" end
  pinfo.cols.info = info
  return tvb:len()
end
