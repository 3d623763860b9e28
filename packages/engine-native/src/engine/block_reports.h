// Keeps track of the requested report of reusable blocks (sched/kv_blocks.h). A report is made only after the previous one was
// taken, so reports never pile up for a slow reader.
#pragma once

#include "engine/events.h"
#include "sched/kv_blocks.h"

#include <atomic>
#include <optional>
#include <utility>

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
    std::optional<KvBlocksEvent> take(sched::KvBlocks* blocks) {
        if (blocks == nullptr) return std::nullopt;
        const Wanted wanted = wanted_.exchange(Wanted::nothing);
        if (wanted == Wanted::nothing) return std::nullopt;
        if (wanted == Wanted::everything) blocks->restate();
        if (blocks->has_changes()) {
            sched::KvReport report = blocks->take_report();
            if (report.is_restated || !report.removed.empty() || !report.stored.empty())
                return event_of(std::move(report));
        }
        request(false); // nothing to report yet; meanwhile, a full report may have been requested
        return std::nullopt;
    }

private:
    static KvBlocksEvent event_of(sched::KvReport&& report) {
        KvBlocksEvent event{
            .is_restated = report.is_restated, .removed = {}, .stored = std::move(report.stored)};
        for (const auto& [medium, hash] : report.removed)
            (medium == sched::KvMedium::device ? event.removed.device : event.removed.host).push_back(hash);
        return event;
    }

    enum class Wanted { nothing, changes, everything };
    std::atomic<Wanted> wanted_ = Wanted::nothing;
};

} // namespace engine
