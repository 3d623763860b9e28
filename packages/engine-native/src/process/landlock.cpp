#include "process/confinement.h"

#ifdef __linux__

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace process {

namespace {

// Older headers lack these: the calls have the same numbers on every architecture, the structures only grow.
constexpr long kCreateRuleset = 444;
constexpr long kAddRule = 445;
constexpr long kRestrictSelf = 446;

struct Ruleset {
    uint64_t files;
    uint64_t tcp;
    uint64_t scopes;
};
struct [[gnu::packed]] PathRule {
    uint64_t allowed;
    int32_t file;
};
constexpr int kPathRule = 1;
constexpr uint32_t kAskVersion = 1;
constexpr uint32_t kAskErrata = 2;

// Rights to files. Those up to kMakeSymlink are of version 1.
constexpr uint64_t kExecute = 1U << 0U;
constexpr uint64_t kWriteFile = 1U << 1U;
constexpr uint64_t kReadFile = 1U << 2U;
constexpr uint64_t kReadFolder = 1U << 3U;
constexpr uint64_t kRemoveFolder = 1U << 4U;
constexpr uint64_t kRemoveFile = 1U << 5U;
constexpr uint64_t kMakeFolder = 1U << 7U;
constexpr uint64_t kMakeFile = 1U << 8U;
constexpr uint64_t kMakeSymlink = 1U << 12U;
constexpr uint64_t kMoveToFolder = 1U << 13U;  // version 2
constexpr uint64_t kTruncate = 1U << 14U;      // version 3
constexpr uint64_t kControlDevice = 1U << 15U; // version 5

constexpr uint64_t kReads = kReadFile | kReadFolder;
constexpr uint64_t kWrites =
    kReads | kWriteFile | kTruncate | kControlDevice | kMakeFile | kMakeFolder | kRemoveFile | kRemoveFolder;
/// Only these may be in the rule of a path that is not a folder.
constexpr uint64_t kOfOneFile = kExecute | kWriteFile | kReadFile | kTruncate | kControlDevice;

constexpr int kTcpVersion = 4;
constexpr uint64_t kBindAndConnect = 3;
constexpr int kScopesVersion = 6;
constexpr uint64_t kScopeOfSockets = 1;
constexpr uint64_t kScopeOfSignals = 2;
/// The correction after which threads of one process may still signal each other.
constexpr long kSignalsOfThreads = 2;

/// All rights that this version of Landlock can take away.
uint64_t rights_of(long version) {
    uint64_t rights = (kMakeSymlink << 1U) - 1;
    if (version >= 2) rights |= kMoveToFolder;
    if (version >= 3) rights |= kTruncate;
    if (version >= 5) rights |= kControlDevice;
    return rights;
}

/// Fails only if the kernel refuses a path that exists.
bool allow(int ruleset, const std::string& path, uint64_t rights) {
    const int file = open(path.c_str(), O_PATH | O_CLOEXEC);
    if (file < 0) return true;
    struct stat about{};
    bool is_allowed = fstat(file, &about) == 0;
    if (!S_ISDIR(about.st_mode)) rights &= kOfOneFile;
    const PathRule rule{.allowed = rights, .file = file};
    is_allowed = is_allowed && syscall(kAddRule, ruleset, kPathRule, &rule, 0) == 0;
    close(file);
    return is_allowed;
}

std::atomic<int> ruleset_of_all = -1;

bool restrict_thread() {
    return syscall(kRestrictSelf, ruleset_of_all.load(), 0) == 0;
}

} // namespace

std::vector<std::string> restrict_with_landlock(const FileRights& rights) {
    const long version = syscall(kCreateRuleset, nullptr, 0, kAskVersion);
    if (version < 1) return {};
    Ruleset rules{.files = rights_of(version), .tcp = 0, .scopes = 0};
    std::vector<std::string> restricted = {"files"};
    if (version >= kTcpVersion) {
        rules.tcp = kBindAndConnect;
        restricted.emplace_back("TCP");
    }
    if (version >= kScopesVersion) {
        rules.scopes = kScopeOfSockets;
        restricted.emplace_back("abstract sockets");
        const long errata = syscall(kCreateRuleset, nullptr, 0, kAskErrata);
        if (errata > 0 && (errata & kSignalsOfThreads) != 0) {
            rules.scopes |= kScopeOfSignals;
            restricted.emplace_back("signals");
        }
    }
    // A kernel that does not know the later fields accepts them as zeros.
    const int ruleset = static_cast<int>(syscall(kCreateRuleset, &rules, sizeof(rules), 0));
    if (ruleset < 0) return {};
    bool is_restricted = true;
    for (const std::string& path : rights.readable)
        is_restricted = is_restricted && allow(ruleset, path, kReads & rules.files);
    for (const std::string& path : rights.writable)
        is_restricted = is_restricted && allow(ruleset, path, kWrites & rules.files);
    ruleset_of_all = ruleset;
    is_restricted = is_restricted && on_every_thread(restrict_thread);
    close(ruleset);
    return is_restricted ? restricted : std::vector<std::string>{};
}

} // namespace process
#endif
