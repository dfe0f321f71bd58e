// SPDX-License-Identifier: Apache-2.0
// Which agent is meant.
#include "cxl/cxl_agents.h"

#include <utility>

#include "cxl/channels.h"

namespace flitwise {

bool CxlAgents::send(PacketRef message) const {
  const CxlChannelInfo& info = info_of(message->cxl->channel);
  const bool is_down = info.direction == CxlDirection::kDownstream;
  if (info.protocol == CxlProtocol::kCache && cache != nullptr) {
    is_down ? home->port(home_port).to_link.send(std::move(message), now())
            : cache->send(std::move(message));
  } else if (info.protocol == CxlProtocol::kMem && hdm_host != nullptr) {
    (is_down ? hdm_host->to_link : hdm_device->to_link).send(std::move(message), now());
  } else if (info.protocol == CxlProtocol::kMem && mem_host != nullptr) {
    is_down ? mem_host->send(std::move(message)) : mem_device->send(std::move(message));
  } else {
    return false;
  }
  return true;
}

void CxlAgents::link_lost() const {
  if (mem_host != nullptr) {
    mem_host->link_lost();
    mem_device->link_lost();
  }
  if (hdm_host != nullptr) {
    hdm_host->link_lost();
    hdm_device->link_lost();
  }
  if (cache != nullptr) {
    cache->link_lost(home->lines_received(home_port));
    home->link_lost(home_port);
  }
}

void CxlAgents::link_up() const {
  if (mem_host != nullptr) {
    mem_host->link_up();
  }
  if (hdm_host != nullptr) {
    hdm_host->link_up();
  }
  if (cache != nullptr) {
    home->link_up(home_port);
    cache->link_up();
  }
}

void CxlAgents::attach(WorkloadVia via, Engine& engine, Engine* of_host) const {
  const bool has_both = via == WorkloadVia::kCxlBoth;  // [CXL-8.2]
  if (via == WorkloadVia::kCxlCache) {
    cache->attach(engine);
  }
  if (via == WorkloadVia::kCxlMem || has_both) {
    Engine& work = has_both ? *of_host : engine;
    hdm_host != nullptr ? hdm_host->attach(work) : mem_host->attach(work);
    wake_host();
  }
  if (via == WorkloadVia::kCxlOwn || has_both) {
    hdm_device->attach(engine);
  }
  wake(via);
}

void CxlAgents::wake(WorkloadVia via) const {
  if (via == WorkloadVia::kCxlCache) {
    cache->wake();
  } else if (via == WorkloadVia::kCxlMem) {
    wake_host();
  } else if (via == WorkloadVia::kCxlOwn || via == WorkloadVia::kCxlBoth) {
    hdm_device->wake();
  }
}

void CxlAgents::wake_host() const {
  hdm_host != nullptr ? hdm_host->wake() : mem_host->wake();
}

}  // namespace flitwise
