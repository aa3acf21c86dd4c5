// SPDX-License-Identifier: GPL-3.0-or-later
#include "replay_engine/protocol/recorded_environment.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cinttypes>
#include <cstdio>
#include <iterator>
#include <map>
#include <optional>

#include "replay_engine/base/crc32c.h"

namespace pf::protocol {
namespace {

constexpr std::size_t kMaxValue = 4096;  ///< bytes; of longer ones a checksum is kept
constexpr std::size_t kMaxShown = 60;

// Names; with '*' at the end, all that begin so.
constexpr std::array kUnseen{"PF_*",
                             "PHOTOFINISH_*",
                             "OMPI_*",
                             "OPAL_*",
                             "ORTE_*",
                             "PMIX_*",
                             "PMI_*",
                             "PRTE_*",
                             "PALS_*",
                             "HYDRA_*",
                             "HYDI_*",
                             "HYD_*",
                             "MPIR_*",
                             "MPISPAWN_*",
                             "MPI_LOCAL*",
                             "I_MPI_*",
                             "SLURM_*",
                             "SLURMD_*",
                             "SRUN_*",
                             "SBATCH_*",
                             "PBS_*",
                             "LSB_*",
                             "LSF_*",
                             "FLUX_*",
                             "ALPS_*",
                             "COBALT_*",
                             "IPATH_NO_BACKTRACE",
                             "HFI_NO_BACKTRACE"};
constexpr std::array kTodays{"TMPDIR",
                             "TMP",
                             "TEMP",
                             "TEMPDIR",
                             "HOME",
                             "USER",
                             "LOGNAME",
                             "USERNAME",
                             "HOSTNAME",
                             "HOST",
                             "SHELL",
                             "MAIL",
                             "DISPLAY",
                             "WAYLAND_*",
                             "XAUTHORITY",
                             "XDG_*",
                             "DBUS_*",
                             "SSH_*",
                             "GPG_*",
                             "KRB5CCNAME",
                             "SESSION_*",
                             "DESKTOP_*",
                             "GNOME_*",
                             "KDE_*",
                             "GTK_*",
                             "QT_*",
                             "TERM",
                             "TERM_*",
                             "COLORTERM",
                             "WINDOWID",
                             "VTE_*",
                             "TMUX*",
                             "STY",
                             "COLUMNS",
                             "LINES",
                             "SHLVL",
                             "PWD",
                             "OLDPWD",
                             "_",
                             "INVOCATION_ID",
                             "JOURNAL_STREAM",
                             "CUDA_VISIBLE_DEVICES",
                             "HIP_VISIBLE_DEVICES",
                             "ROCR_VISIBLE_DEVICES",
                             "GPU_DEVICE_ORDINAL"};
constexpr std::array kUnsafe{
    "PATH",          "LD_*",        "GLIBC_*",      "GCONV_PATH",  "LOCPATH",    "NLSPATH",
    "GETCONF_DIR",   "HOSTALIASES", "RES_OPTIONS",  "LOCALDOMAIN", "NIS_PATH",   "BASH_*",
    "ENV",           "SHELLOPTS",   "BASHOPTS",     "IFS",         "PS4",        "PROMPT_COMMAND",
    "EDITOR",        "VISUAL",      "PAGER",        "LESSOPEN",    "LESSCLOSE",  "GIT_*",
    "PYTHON*",       "PERL*",       "RUBY*",        "GEM_*",       "NODE_*",     "LUA_*",
    "JAVA_*",        "_JAVA_*",     "JDK_*",        "CLASSPATH",   "R_PROFILE*", "R_LIBS*",
    "R_ENVIRON*",    "R_HOME",      "JULIA_*",      "OMP_TOOL*",   "OPENSSL_*",  "OCL_ICD_*",
    "VK_*",          "LIBGL_*",     "DEBUGINFOD_*", "GUILE_*",     "TCL*",       "XLA_*",
    "HDF5_PLUGIN_*", "CC",          "CXX"};
/// Given back although kUnsafe has their family.
constexpr std::array kSafe{"PYTHONHASHSEED",   "PYTHONUTF8",     "PYTHONIOENCODING",
                           "PYTHONUNBUFFERED", "PYTHONOPTIMIZE", "PYTHONDONTWRITEBYTECODE"};
constexpr std::array kUnsafeEnds{"_PRELOAD", "PLUGIN_PATH", "_PLUGINS", "MODULE_PATH",
                                 "LIBRARY_PATH"};
/// Anywhere in a name, and as one of its words.
constexpr std::array kSecretParts{"TOKEN",      "SECRET", "PASSW",   "PASSPHRASE",
                                  "CREDENTIAL", "APIKEY", "PRIVATE", "SIGNATURE"};
constexpr std::array kSecretWords{"KEY",   "KEYS",   "AUTH", "PASS", "CRED",
                                  "CREDS", "COOKIE", "JWT",  "PIN",  "PAT"};

template <std::size_t Size>
bool isAmong(std::string_view name, const std::array<const char*, Size>& patterns) {
  return std::any_of(patterns.begin(), patterns.end(), [&](std::string_view pattern) {
    return pattern.back() == '*' ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                 : name == pattern;
  });
}

bool isSecretName(std::string_view given) {
  std::string name;
  std::transform(given.begin(), given.end(), std::back_inserter(name), [](char c) {
    return static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  });
  if (std::any_of(kSecretParts.begin(), kSecretParts.end(),
                  [&](const char* part) { return name.find(part) != std::string::npos; })) {
    return true;
  }
  for (std::size_t at = 0; at <= name.size();) {
    const std::size_t stop = std::min(name.find_first_of("_-.", at), name.size());
    const std::string word = name.substr(at, stop - at);
    if (std::find(kSecretWords.begin(), kSecretWords.end(), word) != kSecretWords.end()) {
      return true;
    }
    at = stop + 1;
  }
  return false;
}

/// A key, or an address with a password in it: scheme://user:password@host.
bool isSecretValue(std::string_view value) {
  const std::size_t scheme = value.find("://");
  const std::size_t at = scheme == std::string_view::npos ? scheme : value.find('@', scheme);
  return at != std::string_view::npos || value.find("-----BEGIN") != std::string_view::npos;
}

/// Of a secret 16 bits: one in 65,536 guesses fits, so that the trace does not confirm one.
std::string digestOf(const std::string& name, std::string_view value) {
  const std::string all = name + "=" + std::string(value);
  const std::uint32_t crc = crc32c(all.data(), all.size(), 0);
  std::array<char, 16> text{};
  if (useOf(name, value) == VariableUse::Secret) {
    std::snprintf(text.data(), text.size(), "%04" PRIx32, (crc ^ crc >> 16U) & 0xFFFFU);
  } else {
    std::snprintf(text.data(), text.size(), "%08" PRIx32, crc);
  }
  return text.data();
}

std::string shown(std::string_view value) {
  std::string out = "'";
  for (const char each : value.substr(0, kMaxShown)) {
    const bool plain = static_cast<unsigned char>(each) >= 0x20 && each != 0x7F;
    out += plain ? each : '?';
  }
  return out + (value.size() > kMaxShown ? "…'" : "'");
}

struct Recorded {
  std::map<std::string, std::string> values;
  std::map<std::string, std::string> digests;
};

Recorded recordedOf(const LaunchContext& facts) {
  Recorded out;
  for (const ContextFact& fact : facts) {
    if (fact.kind == "environ" && useOf(fact.name) == VariableUse::Given) {
      out.values[fact.name] = fact.value;
    } else if (fact.kind == "digest") {
      out.digests[fact.name] = fact.value;
    }
  }
  return out;
}

/// What a replay does about one variable. `now`: its value, if it is set.
class Restoration {
 public:
  Restoration(const Recorded& recorded, bool give) : m_recorded(recorded), m_give(give) {}

  void variable(const std::string& name, const std::optional<std::string>& now) {
    if (const auto value = m_recorded.values.find(name); value != m_recorded.values.end()) {
      ofValue(name, value->second, now);
    } else if (const auto digest = m_recorded.digests.find(name);
               digest != m_recorded.digests.end()) {
      const bool same = now && digestOf(name, *now) == digest->second;
      keep(name, now);
      tellOther(name, now, same, true);
    } else if (useOf(name) == VariableUse::Given || useOf(name) == VariableUse::Secret) {
      if (m_give) {
        tell("given", name, "not set (here it is)");
      } else {
        keep(name, now);
        tellOther(name, now, false, false);
      }
    } else {
      keep(name, now);
      tellOther(name, now, useOf(name) == VariableUse::Unseen, false);
    }
  }
  GivenEnvironment take() { return std::move(m_out); }

 private:
  void keep(const std::string& name, const std::optional<std::string>& value) {
    if (value) {
      m_out.environment.push_back(name + "=" + *value);
    }
  }
  void tell(const char* kind, const std::string& name, const std::string& text) {
    m_out.differences.push_back({kind, name, text, {}});
  }
  void tellOther(const std::string& name, const std::optional<std::string>& now, bool same,
                 bool was) {
    if (!same) {
      tell("other", name, !now ? "not set here" : was ? "another one here" : "set here only");
    }
  }
  void ofValue(const std::string& name, const std::string& recorded,
               const std::optional<std::string>& now) {
    keep(name, m_give ? recorded : now);
    if (now == recorded) {
      return;
    }
    const bool secret = now && useOf(name, *now) == VariableUse::Secret;
    const std::string here = !now ? "not set" : secret ? "another one" : shown(*now);
    if (m_give) {
      tell("given", name, shown(recorded) + " (here: " + here + ")");
    } else {
      tell("other", name, here + ", recorded: " + shown(recorded));
    }
  }

  const Recorded& m_recorded;
  bool m_give;
  GivenEnvironment m_out;
};

}  // namespace

bool neverGivenBack(std::string_view name) {
  return (isAmong(name, kUnsafe) && !isAmong(name, kSafe)) ||
         std::any_of(kUnsafeEnds.begin(), kUnsafeEnds.end(),
                     [&](std::string_view end) { return name.ends_with(end); });
}

VariableUse useOf(std::string_view name, std::string_view value) {
  if (isAmong(name, kUnseen)) {
    return VariableUse::Unseen;
  }
  if (neverGivenBack(name)) {
    return VariableUse::Unsafe;
  }
  if (isAmong(name, kTodays)) {
    return VariableUse::Todays;
  }
  return isSecretName(name) || isSecretValue(value) ? VariableUse::Secret : VariableUse::Given;
}

LaunchContext environmentFacts(const std::vector<std::string>& environment) {
  LaunchContext facts;
  for (const std::string& entry : environment) {
    const std::size_t equals = entry.find('=');
    if (equals == std::string::npos || equals == 0) {
      continue;
    }
    const std::string name = entry.substr(0, equals);
    const std::string value = entry.substr(equals + 1);
    const VariableUse use = useOf(name, value);
    if (use == VariableUse::Given && value.size() <= kMaxValue) {
      facts.push_back({"environ", name, value, {}});
    } else if (use != VariableUse::Unseen) {
      facts.push_back({"digest", name, digestOf(name, value), {}});
    }
  }
  return facts;
}

GivenEnvironment giveBackEnvironment(const LaunchContext& recorded,
                                     const std::vector<std::string>& now, bool give) {
  const Recorded known = recordedOf(recorded);
  if (known.values.empty() && known.digests.empty()) {
    return {now, {}};
  }
  Restoration restoration(known, give);
  std::map<std::string, bool> seen;
  for (const std::string& entry : now) {
    const std::size_t equals = std::min(entry.find('='), entry.size());
    const std::string name = entry.substr(0, equals);
    if (seen.emplace(name, true).second && equals < entry.size()) {
      restoration.variable(name, entry.substr(equals + 1));
    }
  }
  for (const auto* names : {&known.values, &known.digests}) {
    for (const auto& [name, value] : *names) {
      if (seen.emplace(name, true).second) {
        restoration.variable(name, std::nullopt);
      }
    }
  }
  return restoration.take();
}

}  // namespace pf::protocol
