// Keeps track of the requested report of reusable blocks (sched/kv_blocks.h). A report is made only after the previous one was
// taken, so reports never pile up for a slow reader.
#pragma once

#include "sched/kv_blocks.h"

#include <atomic>
#include <optional>

namespace engine {

class BlockReports {
public:
    /// Any thread. Requests one report: of the changes since the last one, or of everything.
    void request(bool of_everything) {
        auto nothing = Wanted::nothing;
        if (of_everything) wanted_.store(Wanted::everything);
        else wanted_.compare_exchange_strong(nothing, Wanted::changes);
    }

    /// The engine's thread. Returns the requested report, once there is something to report. `blocks` may be null.
    std::optional<sched::KvReport> take(sched::KvBlocks* blocks) {
        if (blocks == nullptr) return std::nullopt;
        const Wanted wanted = wanted_.exchange(Wanted::nothing);
        if (wanted == Wanted::nothing) return std::nullopt;
        if (wanted == Wanted::everything) blocks->restate();
        if (blocks->has_changes()) {
            sched::KvReport report = blocks->take_report();
            if (report.is_restated || !report.removed.empty() || !report.stored.empty()) return report;
        }
        request(false); // nothing to report yet; meanwhile, a full report may have been requested
        return std::nullopt;
    }

private:
    enum class Wanted { nothing, changes, everything };
    std::atomic<Wanted> wanted_ = Wanted::nothing;
};

} // namespace engine
