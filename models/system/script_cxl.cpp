// SPDX-License-Identifier: Apache-2.0
// Messages of CXL.cache and CXL.mem by script, as any agent might send them.
#include "codec/cxl_message_json.h"
#include "config/problems.h"
#include "flitwise/error.h"
#include "system/script_session.h"

namespace flitwise {
namespace {

CxlWidths widths_on(const LinkConfig& link) {
  const CxlFlitForm form = link.preset.cxl == CxlFlits::k68 ? CxlFlitForm::k68
                           : link.cxl.latency_optimised     ? CxlFlitForm::k256LatencyOptimised
                                                            : CxlFlitForm::k256;
  return {form, link.cxl.identity_bits};
}

}  // namespace

const FabricDevice* ScriptSession::device_at(const std::string& port) {
  std::vector<std::string> names;
  for (const FabricDevice& device : machine_.fabric().devices) {
    const std::string above = device.root_port->name();
    if (port == device.name || port == above) {
      return &device;
    }
    names.push_back(device.name);
    names.push_back(above);
  }
  bad_value("port: unknown port '" + port + "'; expected " + config::alternatives(names) +
            config::nearest_hint(port, names, "port"));
  return nullptr;
}

void ScriptSession::run(const CxlOp& op) {
  const FabricDevice* const device = device_at(op.port);
  if (device == nullptr) {
    return;
  }
  const LinkConfig& link = machine_.fabric().links[device->link].link->config();
  if (link.preset.cxl == CxlFlits::kNone) {
    bad_value("port: the link of '" + op.port + "' is not a CXL link");
    return;
  }
  const CxlSend sent =
      nested("message", [&] { return send_from_json(op.message, widths_on(link), {}); });
  const CxlChannelInfo& channel = info_of(sent.message.channel);
  const bool is_down = channel.direction == CxlDirection::kDownstream;
  if (is_down == (op.port == device->name)) {
    bad_value(std::string("port: ") + channel.name + (is_down ? " goes down" : " goes up") +
              "; expected " + (is_down ? device->root_port->name() : device->name));
    return;
  }
  PacketRef packet = cxl_packet(machine_.pool, {0, sent.message, sent.line}, true);
  packet->request = token_;
  if (!machine_.fabric().send_message(*device, std::move(packet))) {
    bad_value(std::string("message: nobody has ") + channel.name + " on the link of " +
              device->name);
  }
}

}  // namespace flitwise
