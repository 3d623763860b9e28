#include "engine/slot_states.h"

#include "base/types.h"
#include "engine/limits.h"
#include "llama/backend/backend.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <future>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

namespace engine {

using base::Code;
using base::Result;
using base::Token;

namespace {

/// How soon a waiting thread notices that it is aborted or that the engine was stopped.
constexpr std::chrono::milliseconds kCheckEvery{20};

std::string name_of(int32_t id_slot) {
    return "Slot " + std::to_string(id_slot);
}

base::Error not_written(StateWrite end) {
    switch (end) {
        case StateWrite::done:
        case StateWrite::failed: break;
        case StateWrite::aborted:
            return {.code = Code::aborted, .message = "The change of the slot was aborted."};
        case StateWrite::in_the_way:
            return {.code = Code::invalid_argument,
                    .message = "There is a folder, or something else that is no file, with this name."};
        case StateWrite::no_space:
            return {.code = Code::engine_failed, .message = "The file cannot be written: the disk is full."};
    }
    return {.code = Code::engine_failed,
            .message = "The file cannot be written: check the folder of the slots and its rights."};
}

} // namespace

/// Shared by the thread that waits and the engine's. Until it is done, only the engine's thread uses what is not constant.
struct SlotStates::Task {
    const SlotCommand command;
    std::promise<Result<void>> done = {};
    /// Nobody waits any longer.
    std::atomic<bool> is_abandoned = false;
    /// The text to save or to restore.
    sched::SlotText text = {};
    /// Copied so far, or to be restored.
    std::vector<SavedSegment> segments = {};
    uint64_t bytes = 0;
    int32_t tokens = 0;

    sched::SlotName name() const { return {command.cache_salt, command.id_slot}; }
    sched::Text view() const { return {text.tokens, text.space}; }
};

Result<SlotChange> SlotStates::change(const SlotCommand& command, const std::atomic<bool>& is_aborted) {
    if (auto checked = check(command); !checked) return std::unexpected(checked.error());
    const auto task = std::make_shared<Task>(command);
    uint64_t bytes = 0;
    if (command.action == SlotAction::restore) {
        auto read_file = read(file_of(command));
        if (!read_file) return std::unexpected(read_file.error());
        const auto is_own = [&](const SavedSegment& saved) {
            return sched::has_salt(saved.space, command.cache_salt);
        };
        if (!std::ranges::all_of(read_file->segments, is_own))
            return base::fail(Code::invalid_argument, "The file was saved by requests with another salt.");
        bytes = read_file->bytes;
        task->segments = std::move(read_file->segments);
    }
    if (auto done = wait(task, is_aborted); !done) return std::unexpected(done.error());
    if (command.action == SlotAction::save) return write(file_of(command), *task, is_aborted);
    return SlotChange{.tokens = task->tokens, .bytes = bytes};
}

Result<void> SlotStates::check(const SlotCommand& command) const {
    if (options_.bytes_max == 0) {
        return base::fail(
            Code::invalid_argument,
            "The state of this model's slots cannot be kept: that needs cacheRamMiB above 0, all sequences "
            "in one pool of cells, and a model without a sliding window.");
    }
    if (auto checked = check_salt(command.cache_salt); !checked) return checked;
    if (command.action == SlotAction::erase) return {};
    if (options_.folder.empty())
        return base::fail(Code::invalid_argument, "The model was loaded without a folder for slots.");
    // A second check, below that of the option's names: a file is never outside the folder.
    const std::filesystem::path name(std::u8string(command.file.begin(), command.file.end()));
    if (command.file.empty() || command.file.starts_with('.') || name.has_parent_path() ||
        name.has_root_path())
        return base::fail(Code::invalid_argument, "The file must be a name without a folder.");
    return {};
}

StateFile SlotStates::file_of(const SlotCommand& command) const {
    const std::string folder =
        command.cache_salt.empty() ? options_.folder : options_.folder + "/" + command.cache_salt;
    return {.path = folder + "/" + command.file, .key = options_.key};
}

Result<StateRead> SlotStates::read(const StateFile& file) const {
    StateRead result = read_state_file(file, options_.bytes_max, text_in(options_.vocabulary_size));
    switch (result.end) {
        case StateRead::End::complete: return result;
        case StateRead::End::absent:
            return base::fail(Code::invalid_argument, "There is no file with this name.");
        case StateRead::End::foreign:
            return base::fail(
                Code::invalid_argument,
                "The file was not saved here by this model with these settings and this build.");
        case StateRead::End::damaged:
            return base::fail(Code::invalid_argument, "The file is damaged, or was altered.");
        case StateRead::End::too_large: break;
    }
    return base::fail(Code::out_of_memory, "The file's state is larger than cacheRamMiB.");
}

/// Gives a task to the engine's thread and waits until it is done.
Result<void> SlotStates::wait(const TaskPtr& task, const std::atomic<bool>& is_aborted) {
    std::future<Result<void>> done = task->done.get_future();
    {
        std::lock_guard lock(mutex_);
        arrived_.push_back(task);
    }
    wake_();
    while (done.wait_for(kCheckEvery) != std::future_status::ready) {
        const bool is_over = is_stopped_.load();
        if (!is_over && !is_aborted.load()) continue;
        task->is_abandoned.store(true);
        return is_over ? base::fail(Code::disposed, "The engine was stopped.")
                       : base::fail(Code::aborted, "The change of the slot was aborted.");
    }
    return done.get();
}

Result<SlotChange> SlotStates::write(const StateFile& file, const Task& task,
                                     const std::atomic<bool>& is_aborted) const {
    std::vector<SegmentView> views;
    for (const SavedSegment& saved : task.segments)
        views.push_back(
            {.text = saved.text, .space = saved.space, .first = saved.first, .segment = &saved.segment});
    if (const StateWrite end = write_state_file(file, views, &is_aborted); end != StateWrite::done)
        return std::unexpected(not_written(end));
    std::error_code error;
    const uint64_t bytes = std::filesystem::file_size(
        std::filesystem::path(std::u8string(file.path.begin(), file.path.end())), error);
    return SlotChange{.tokens = task.tokens, .bytes = error ? 0 : bytes};
}

bool SlotStates::is_empty() {
    std::lock_guard lock(mutex_);
    return arrived_.empty() && saves_.empty();
}

void SlotStates::take_in(sched::Scheduler& scheduler, KvExecutor& executor) {
    std::deque<TaskPtr> arrived;
    {
        std::lock_guard lock(mutex_);
        arrived.swap(arrived_);
    }
    for (const TaskPtr& task : arrived) {
        const sched::SlotName name = task->name();
        if (task->command.action == SlotAction::restore) {
            task->done.set_value(restore(*task, scheduler, executor));
            continue;
        }
        const sched::SlotText* text = scheduler.slot_text(name);
        if (text == nullptr) {
            task->done.set_value(base::fail(
                Code::invalid_argument, name_of(name.id) + " has no text: no request with it has ended."));
            continue;
        }
        task->text = *text;
        if (task->command.action == SlotAction::save) {
            if (std::ranges::none_of(text->tokens, base::is_image)) saves_.push_back(task);
            else {
                // Image ids are meaningful only in this process.
                task->done.set_value(base::fail(
                    Code::invalid_argument,
                    "Texts with images or audio cannot be saved: " + name_of(name.id) + " has some."));
            }
            continue;
        }
        task->tokens = scheduler.erase(task->view());
        scheduler.forget_text(name);
        task->done.set_value({});
    }
}

Result<void> SlotStates::restore(Task& task, sched::Scheduler& scheduler, KvExecutor& executor) {
    const auto length = [](const SavedSegment& saved) { return saved.text.size(); };
    const auto longest = std::ranges::max_element(task.segments, {}, length);
    if (longest == task.segments.end()) return base::fail(Code::invalid_argument, "The file has no state.");
    task.text = {longest->text, longest->space};
    executor.adopt(std::move(task.segments), scheduler);
    task.tokens = scheduler.kv_cache().host_tier().reach(task.view(), 0);
    if (task.tokens == 0 && task.text.tokens.size() >= sched::HostTier::kSegmentMin)
        return base::fail(Code::out_of_memory, "The file's state is larger than cacheRamMiB.");
    scheduler.name_text(task.name(), task.text);
    return {};
}

bool SlotStates::copy(const sched::Scheduler& scheduler, const KvExecutor& executor) {
    while (!saves_.empty() && saves_.front()->is_abandoned.load()) saves_.pop_front();
    if (saves_.empty()) return true;
    const TaskPtr task = saves_.front();
    const std::optional<sched::KeptPart> part = scheduler.kv_cache().find_part(task->view(), task->tokens);
    if (!part) {
        saves_.pop_front();
        task->done.set_value(task->tokens > 0 ? Result<void>()
                                              : base::fail(Code::invalid_argument,
                                                           "The text of " + name_of(task->command.id_slot) +
                                                               " is no longer in the prefix cache."));
        return true;
    }
    std::optional<HostTierStore::Segment> segment = executor.copy(*part, options_.bytes_max - task->bytes);
    if (!segment) {
        saves_.pop_front();
        task->done.set_value(
            base::fail(Code::out_of_memory, "The state of " + name_of(task->command.id_slot) +
                                                " does not fit cacheRamMiB, or the free memory."));
        return !executor.is_torn();
    }
    task->bytes += HostTierStore::size_of(*segment);
    task->tokens = part->length;
    const auto end = task->text.tokens.begin() + part->length;
    task->segments.push_back({.text = {task->text.tokens.begin(), end},
                              .space = task->text.space,
                              .first = part->first,
                              .segment = std::move(*segment)});
    return true;
}

} // namespace engine
