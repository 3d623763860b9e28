// Saves the state of a text to a file, restores it, and erases it, when a client asks for it. A text is named by the id_slot of the
// latest request that ended with it.
//
//     change (any thread, which waits) ─▶ [engine thread: take_in, copy, copy, …] ─▶ change goes on
//
// Files are read and written by the waiting thread. The engine's thread copies one segment in a step, so that replies continue; what it
// has copied is in host memory until it is written, and takes at most as much as the host KV tier may have.
#pragma once

#include "base/fields.h"
#include "base/result.h"
#include "base/types.h"
#include "engine/kv_executor.h"
#include "engine/state_file.h"
#include "sched/scheduler.h"

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace engine {

enum class SlotAction { save, restore, erase };

struct SlotCommand {
    SlotAction action;
    int32_t id_slot;
    /// The name of a file in SlotStates::Options::folder, or with a salt in its folder there, which exists; not used by `erase`.
    std::string file = {};
    /// That of the requests whose text this is.
    std::string cache_salt = {};
};

constexpr auto fields_of(const SlotCommand*) {
    constexpr std::pair<const char*, SlotAction> kActions[] = {
        {"save", SlotAction::save}, {"restore", SlotAction::restore}, {"erase", SlotAction::erase}};
    return base::rows(base::choice("action", &SlotCommand::action, kActions),
                      base::field("idSlot", &SlotCommand::id_slot, {.min = 0}),
                      base::field("file", &SlotCommand::file),
                      base::field("cacheSalt", &SlotCommand::cache_salt));
}

struct SlotChange {
    /// Tokens whose state was saved, will be swapped in, or was erased.
    int32_t tokens = 0;
    /// The size of the file; 0 without one.
    uint64_t bytes = 0;
};

constexpr auto fields_of(const SlotChange*) {
    return base::rows(base::field("tokens", &SlotChange::tokens), base::field("bytes", &SlotChange::bytes));
}

class SlotStates {
public:
    struct Options {
        /// Of the files; empty for none.
        std::string folder;
        /// Of the engine's states, and so of the files.
        StateKey key;
        /// The size of the host KV tier; 0 if the model has none, and no state can be copied.
        uint64_t bytes_max;
        base::Token vocabulary_size;
    };
    /// `wake` makes the engine's thread call take_in(); any thread.
    SlotStates(Options options, std::function<void()> wake)
        : options_(std::move(options)), wake_(std::move(wake)) {}

    /// Any thread but the engine's. Fails with `invalid_argument` (no such text or file, a file of another model, a damaged one, a
    /// model without a host KV tier), `out_of_memory`, `engine_failed` (the file cannot be written), `aborted` or `disposed`.
    base::Result<SlotChange> change(const SlotCommand& command, const std::atomic<bool>& is_aborted);

    /// Any thread. Ends all changes.
    void stop() { is_stopped_.store(true); }

    /// The engine's thread. Whether nothing is left to take in or to copy.
    bool is_empty();

    /// The engine's thread, between steps: erases, restores, and finds the texts to save.
    void take_in(sched::Scheduler& scheduler, KvExecutor& executor);

    /// The engine's thread, once the plan of a step is executed on the KV cache. Copies the next part of a text to save. False if the
    /// KV cache is lost.
    bool copy(const sched::Scheduler& scheduler, const KvExecutor& executor);

private:
    struct Task;
    using TaskPtr = std::shared_ptr<Task>;

    base::Result<void> check(const SlotCommand& command) const;
    base::Result<StateRead> read(const StateFile& file) const;
    base::Result<SlotChange> write(const StateFile& file, const Task& task,
                                   const std::atomic<bool>& is_aborted) const;
    base::Result<void> wait(const TaskPtr& task, const std::atomic<bool>& is_aborted);
    static base::Result<void> restore(Task& task, sched::Scheduler& scheduler, KvExecutor& executor);
    StateFile file_of(const SlotCommand& command) const;

    // Constant after construction.
    const Options options_;
    const std::function<void()> wake_;

    // Has its own lock.
    std::atomic<bool> is_stopped_ = false;

    // Guarded by mutex_.
    std::mutex mutex_;
    std::deque<TaskPtr> arrived_;

    // Owned by the engine's thread.
    std::deque<TaskPtr> saves_;
};

} // namespace engine
