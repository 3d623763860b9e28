// Which report of reusable blocks the engine's user wants next (sched/kv_blocks.h). A report is made only after the last one was
// taken, so a slow user never piles up reports.
#pragma once

#include "sched/kv_blocks.h"

#include <atomic>
#include <optional>

namespace engine {

class BlockReports {
public:
    /// Any thread. Asks for one report: of what has changed since the last one, or of everything.
    void request(bool of_everything) {
        auto nothing = Wanted::nothing;
        if (of_everything) wanted_.store(Wanted::everything);
        else wanted_.compare_exchange_strong(nothing, Wanted::changes);
    }

    /// The engine's thread. The report that was asked for, once there is something to tell. `blocks` may be null.
    std::optional<sched::KvReport> take(sched::KvBlocks* blocks) {
        if (blocks == nullptr) return std::nullopt;
        const Wanted wanted = wanted_.exchange(Wanted::nothing);
        if (wanted == Wanted::nothing) return std::nullopt;
        if (wanted == Wanted::everything) blocks->restate();
        if (blocks->has_changes()) {
            sched::KvReport report = blocks->take_report();
            if (report.is_restated || !report.removed.empty() || !report.stored.empty()) return report;
        }
        request(false); // nothing to tell yet; meanwhile everything may have been asked for
        return std::nullopt;
    }

private:
    enum class Wanted { nothing, changes, everything };
    std::atomic<Wanted> wanted_ = Wanted::nothing;
};

} // namespace engine
