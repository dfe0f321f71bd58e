// SPDX-License-Identifier: Apache-2.0
// flitwise linux: a Linux kernel as the software of the host.
#include <fmt/format.h>
#include <stdlib.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "cli/commands.h"
#include "cli/run_files.h"
#include "cli/trace_options.h"
#include "common/embedded.h"
#include "common/input_file.h"
#include "common/interrupt.h"
#include "config/load.h"
#include "config/traces.h"
#include "flitwise/error.h"
#include "flitwise/kernel.h"
#include "guest/guest_session.h"

namespace flitwise::cli {
namespace {

namespace fs = std::filesystem;

struct LinuxOptions {
  std::string file;
  LoadOptions load;
  std::string kernel = "build/linux/linux";
  std::string initrd = "build/linux/initrd.gz";
  std::string device_tree = "build/linux/flitwise.dtb";
  std::string script;
  TraceOptions traces;
  unsigned patience = 120;
};

/// A folder of our own, gone with its owner.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = (fs::temp_directory_path() / "flitwise-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) {
      throw std::system_error(errno, std::generic_category(), name);
    }
    path_ = name;
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Throws ConfigError where it is not there.
std::string file_of(const std::string& path, const char* option) {
  if (!fs::is_regular_file(path)) {
    throw ConfigError({{path, 0, 0, "",
                        fmt::format("{} is not there; scripts/linux builds kernel, initrd and "
                                    "device tree below build/linux",
                                    option)}});
  }
  return fs::absolute(path).string();
}

/// What Linux could not use, or would not know of.
void check_machine(const Config& config, const std::string& file) {
  constexpr std::uint64_t kMebibyte = 1 << 20;
  const auto refuse = [&](const char* key, const std::string& problem) {
    throw ConfigError({{file, 0, 0, key, problem}});
  };
  refuse_packets(config, file, "flitwise linux");
  const std::uint64_t memory = config.host.memory.size;
  if (memory < 32 * kMebibyte || memory > GuestBus::kBase || memory % kMebibyte != 0) {
    refuse("host.memory.size",
           fmt::format("{} bytes are the memory of Linux, which ends below its PCI devices; "
                       "expected 32MiB to 256MiB, whole MiB, such as 64MiB",
                       memory));
  }
  if (config.link.carrier != Carrier::kPcie) {
    refuse("link.carrier", "Linux has no configuration space to look at; expected pcie");
  }
  if (config.iommu.translation != Translation::kOff) {
    refuse("iommu.translation", "user-mode Linux has no driver for it; expected off");
  }
  if (config.host.requester_check) {
    refuse("host.requester_check",
           "nobody tells the root complex which functions Linux has found; expected false");
  }
  if (config.system.hosts != 1) {
    refuse("system.hosts",
           fmt::format("{} hosts, of which Linux is one; expected 1", config.system.hosts));
  }
}

GuestPlan plan_of(const LinuxOptions& options, const Config& config, const fs::path& folder) {
  GuestPlan plan;
  plan.folder = folder.string();
  plan.patience = std::chrono::seconds(options.patience);
  plan.words = {file_of(options.kernel, "--kernel"),
                fmt::format("mem={}M", config.host.memory.size >> 20),
                "initrd=" + file_of(options.initrd, "--initrd"),
                "dtb=" + file_of(options.device_tree, "--device-tree"),
                fmt::format("time-travel=ext:{}", UmlPeer::kTimeSocket),
                "norandmaps",
                "con0=fd:0,fd:1",
                "panic=-1",
                "pci=pcie_bus_safe",  // the largest payload that all have, as link.mps says
                "hostfs=" + plan.folder,
                "uml_dir=" + plan.folder};
  plan.console = [](const std::string& text) {
    std::fwrite(text.data(), 1, text.size(), stdout);
    std::fflush(stdout);
  };
  return plan;
}

/// Of what the guest has run; 0 where it has left none.
int status_in(const fs::path& folder) {
  std::ifstream file(folder / "status");
  int status = 0;
  file >> status;
  return file ? status : 0;
}

int run_linux(const LinuxOptions& options) {
  LoadNotes notes;
  Config config = options.file.empty() ? config_from_text(embedded::linux_config(), "linux.yaml",
                                                          "", options.load, &notes)
                                       : load_config(options.file, options.load, &notes);
  check_machine(config, options.file.empty() ? "linux.yaml" : options.file);
  read_trace_options(options.traces, config.trace);
  check_traces(config);
  print_without_effect(notes.given);
  const PrivateFolder folder;
  GuestPlan plan = plan_of(options, config, folder.path());
  if (!options.script.empty()) {
    const std::string script = input_text(options.script, "a script for the guest");
    std::ofstream(folder.path() / "run.sh", std::ios::binary) << script;
  }
  watch_for_interrupt();
  RunFiles files({}, config.trace);
  try {
    run_in_kernel([&] {
      Machine machine(config);
      GuestSession session(machine, std::move(plan));
      session.run();
      machine.result();  // what traces hold back
      const GuestBus::Counts& counts = session.accesses();
      fmt::print(stderr,
                 "flitwise: Linux ran for {:.6f} s: {} reads and {} writes of configuration "
                 "space, {} reads and {} writes of memory, {} without an answer, {} interrupts\n",
                 now().ns() / 1e9, counts.config_reads, counts.config_writes, counts.reads,
                 counts.writes, counts.unanswered, session.interrupts());
      if (session.flaws() > 0) {
        fmt::print(stderr, "flitwise: warning: {} flaws in the queues of the guest\n",
                   session.flaws());
      }
      return kOk;
    });
  } catch (const SimulationError&) {
    files.put_traces_in_place();
    throw;
  }
  files.put_traces_in_place();
  const int status = status_in(folder.path());
  if (status != 0) {
    fmt::print(stderr, "flitwise: what Linux has run ended with exit code {}\n", status);
  }
  return status == 0 ? kOk : kCheckFailed;
}

}  // namespace

void add_linux_command(CLI::App& app, Action& action) {
  const auto [command, options] = add_command<LinuxOptions>(
      app, "linux", "Let a Linux kernel drive the machine, in its time", action, run_linux);
  command.add_option("config", options.file, "Configuration file; without it, one endpoint")
      ->type_name("CONFIG.yaml");
  add_set_option(command, options.load);
  add_seed_option(command, options.load);
  add_path(command, "--kernel", options.kernel, "User-mode Linux; default: build/linux/linux",
           "FILE");
  add_path(command, "--initrd", options.initrd,
           "Its first file system; default: build/linux/initrd.gz", "FILE");
  add_path(command, "--device-tree", options.device_tree,
           "What it is told of the machine; default: build/linux/flitwise.dtb", "FILE");
  add_path(command, "--run", options.script,
           "Shell script to run in the guest, instead of a tour of its devices", "SCRIPT");
  add_trace_options(command, options.traces);
  command
      .add_option("--patience", options.patience,
                  "Give the guest up where it says nothing for so long, of real time; default: 120")
      ->type_name("SECONDS")
      ->check(CLI::Range(1U, 86'400U).description(""));
  command.footer(
      "The console of Linux is on stdout. scripts/linux builds kernel, initrd and device tree\n"
      "once. Exit code 1: the script ended with another code than 0; 3: the kernel panicked, was\n"
      "killed or did not get on\n\n"
      "Example:\n  flitwise linux --run list.sh --trace pcapng=linux.pcapng");
}

}  // namespace flitwise::cli
