#include "engine/embedding_queue.h"

#include <algorithm>
#include <bit>
#include <new>
#include <ranges>
#include <string>
#include <utility>

namespace engine {

using base::Code;
using llama::Decoded;
using llama::Embedder;

namespace {

/// Maximum number of texts per request, as in OpenAI's API. Bounds the memory for their vectors.
constexpr size_t kTextsMax = 2048;

/// The text length that the first context is created for: most texts are no longer.
constexpr size_t kLengthFirst = 512;

base::Error no_vector(Code code) {
    const bool is_memory = code == Code::out_of_memory;
    return {.code = code,
            .message = is_memory ? "There is not enough memory to embed the text now. Try again later."
                                 : "The model could not embed the text."};
}

base::Error too_long(size_t index, size_t length, int32_t length_max) {
    const auto tokens = static_cast<int64_t>(length);
    return {.code = Code::context_length_exceeded,
            .message = "Text " + std::to_string(index) + " has " + std::to_string(length) +
                       " tokens, and this model takes " + std::to_string(length_max) +
                       " for one embedding. Split the text.",
            .lengths = base::Error::Lengths{.prompt_tokens = tokens, .context_length = length_max}};
}

int32_t tokens_in(const std::vector<std::vector<base::Token>>& texts) {
    size_t tokens = 0;
    for (const std::vector<base::Token>& text : texts) tokens += text.size();
    return static_cast<int32_t>(tokens);
}

} // namespace

EmbeddingQueue::EmbeddingQueue(std::shared_ptr<const llama::Model> model,
                               const llama::ContextOptions& options, llama::ThreadpoolPtr threadpool)
    : model_(std::move(model)),
      options_(options),
      threadpool_(std::move(threadpool)),
      pooling_(Embedder::pooling_of(*model_)),
      is_planned_(plans_embeddings(*model_)),
      length_max_(embedding_length_max(*model_, options)) {}

base::Result<void> EmbeddingQueue::check(const std::vector<std::vector<base::Token>>& texts) const {
    if (!pooling_) return std::unexpected(pooling_.error());
    if (texts.empty() || texts.size() > kTextsMax) {
        return base::fail(Code::invalid_argument,
                          "A request has 1 to " + std::to_string(kTextsMax) + " texts.");
    }
    const auto is_foreign = [size = model_->info().vocabulary_size](base::Token token) {
        return token < 0 || token >= size;
    };
    for (size_t i = 0; i < texts.size(); ++i) {
        if (texts[i].empty())
            return base::fail(Code::invalid_argument, "Text " + std::to_string(i) + " has no tokens.");
        if (std::ranges::any_of(texts[i], is_foreign)) {
            return base::fail(Code::invalid_argument,
                              "Text " + std::to_string(i) + " has a token outside this model's vocabulary.");
        }
        if (std::ssize(texts[i]) > length_max_)
            return std::unexpected(too_long(i, texts[i].size(), length_max_));
    }
    return {};
}

void EmbeddingQueue::add(EmbeddingRequest&& request) {
    waiting_.push_back(request.id);
    requests_.emplace(request.id, Request{.texts = std::move(request.texts),
                                          .limits = std::move(request.limits),
                                          .submitted = request.submitted});
}

std::optional<FinishEvent> EmbeddingQueue::cancel(base::RequestId id) {
    const auto found = requests_.find(id);
    if (found == requests_.end()) return std::nullopt;
    FinishEvent event{};
    event.id = id;
    event.reason = FinishReason::cancelled;
    event.prompt_tokens = tokens_in(found->second.texts);
    leave(id);
    return event;
}

void EmbeddingQueue::step(int32_t tokens_max, std::vector<Event>& events) {
    admit(events);
    if (is_empty()) return;
    if (batch_.empty()) {
        const Text first = round_.front();
        const base::Result<void> made =
            make_embedder_for(tokens_of(first).size(), requests_.at(first.id).limits);
        if (!made) return fail(first.id, made.error(), events);
        fill_batch(tokens_max);
    }
    switch (compute(tokens_max)) {
        case Decoded::ok: return settle(events);
        case Decoded::aborted: return;     // the engine is being stopped and will end all requests
        case Decoded::worker_lost: return; // the engine will end all requests
        case Decoded::failed: return batch_failed(Code::engine_failed, events);
        case Decoded::out_of_memory: return batch_failed(Code::out_of_memory, events);
    }
}

/// Only running requests have memory for their vectors, because the queue may be long. A request without memory for them fails.
void EmbeddingQueue::admit(std::vector<Event>& events) {
    const auto size = static_cast<size_t>(Embedder::vector_size(*model_));
    while (running_ < options_.sequences && !waiting_.empty()) {
        const base::RequestId id = waiting_.front();
        Request& request = requests_.at(id);
        try {
            request.vectors.assign(request.texts.size() * size, 0);
        } catch (const std::bad_alloc&) {
            fail(id, no_vector(Code::out_of_memory), events);
            continue;
        }
        waiting_.pop_front();
        request.started = Clock::now();
        running_ += 1;
        round_.push_back({.id = id, .index = 0});
    }
}

const std::vector<base::Token>& EmbeddingQueue::tokens_of(const Text& text) const {
    return requests_.at(text.id).texts[text.index];
}

std::span<float> EmbeddingQueue::vector_of(const Text& text) {
    const auto size = static_cast<size_t>(Embedder::vector_size(*model_));
    return std::span(requests_.at(text.id).vectors).subspan(text.index * size, size);
}

/// Creates a context for texts of this length, rounded up to a power of two: most requests never need the memory of a long one.
base::Result<void> EmbeddingQueue::make_embedder_for(size_t length, const MemoryLimits& limits) {
    if (embedder_ != nullptr && static_cast<size_t>(embedder_->length_max()) >= length) return {};
    embedder_.reset(); // before the next one, so that there is memory for it
    unplanned_memory_.clear();
    const auto wanted = static_cast<int32_t>(std::bit_ceil(std::max(length, kLengthFirst)));
    const llama::EmbedderOptions options = embedder_options(options_, std::min(wanted, length_max_));
    auto memory = embedding_memory_within(is_planned_ ? MemoryLimits() : limits, *model_, options);
    if (!memory) return std::unexpected(memory.error());
    auto made = Embedder::create(model_, options, threadpool_, is_aborted_);
    if (!made) return std::unexpected(made.error());
    embedder_ = std::move(*made);
    if (!is_planned_) unplanned_memory_ = std::move(*memory);
    return {};
}

/// Takes one text of each request in turn: as many whole texts as fit the batch, but at least one. A text of a failed batch is
/// taken alone.
void EmbeddingQueue::fill_batch(int32_t tokens_max) {
    const int32_t room = std::min(tokens_max, embedder_->batch_tokens());
    int32_t tokens = 0;
    while (!round_.empty() && std::ssize(batch_) < embedder_->batch_texts()) {
        const Text text = round_.front();
        tokens += static_cast<int32_t>(tokens_of(text).size());
        if (!batch_.empty() && (tokens > room || text.is_alone)) return;
        batch_.push_back(text);
        round_.pop_front();
        if (text.is_alone) return;
        if (text.index + 1 < requests_.at(text.id).texts.size())
            round_.push_back({.id = text.id, .index = text.index + 1});
    }
}

Decoded EmbeddingQueue::compute(int32_t tokens_max) {
    parts_.clear();
    int32_t tokens = 0;
    for (const Text& text : batch_) {
        const std::vector<base::Token>& all = tokens_of(text);
        int32_t count = static_cast<int32_t>(all.size()) - text.computed;
        if (batch_.size() == 1 && embedder_->takes_parts())
            count = std::min({count, std::max(tokens_max, 1), embedder_->batch_tokens()});
        parts_.push_back({.text = all, .first = text.computed, .count = count, .vector = vector_of(text)});
        tokens += count;
    }
    const Decoded decoded = embedder_->compute(parts_);
    if (decoded == Decoded::ok) tokens_computed_ += static_cast<uint64_t>(tokens);
    return decoded;
}

void EmbeddingQueue::settle(std::vector<Event>& events) {
    const std::vector<Text> computed = std::exchange(batch_, {});
    for (size_t i = 0; i < computed.size(); ++i) {
        Text text = computed[i];
        text.computed += parts_[i].count;
        Request& request = requests_.at(text.id);
        if (text.computed < std::ssize(request.texts[text.index])) batch_.push_back(text);
        else if (++request.done == request.texts.size()) finish(text.id, events);
    }
}

void EmbeddingQueue::finish(base::RequestId id, std::vector<Event>& events) {
    Request& request = requests_.at(id);
    events.emplace_back(EmbeddingEvent{.id = id,
                                       .vectors = std::move(request.vectors),
                                       .prompt_tokens = tokens_in(request.texts),
                                       .queue_ms = milliseconds(request.submitted, *request.started),
                                       .compute_ms = milliseconds(*request.started, Clock::now())});
    leave(id);
}

void EmbeddingQueue::batch_failed(Code code, std::vector<Event>& events) {
    const std::vector<Text> texts = std::exchange(batch_, {});
    if (texts.size() == 1) return fail(texts[0].id, no_vector(code), events);
    for (const Text& text : texts | std::views::reverse) {
        std::ranges::fill(vector_of(text), 0.0F);
        round_.push_front({.id = text.id, .index = text.index, .is_alone = true});
    }
}

void EmbeddingQueue::fail(base::RequestId id, base::Error error, std::vector<Event>& events) {
    events.emplace_back(FailureEvent{.id = id, .error = std::move(error)});
    leave(id);
}

void EmbeddingQueue::leave(base::RequestId id) {
    const auto is_its = [id](const Text& text) { return text.id == id; };
    if (requests_.at(id).started) running_ -= 1;
    std::erase(waiting_, id);
    std::erase_if(round_, is_its);
    std::erase_if(batch_, is_its);
    requests_.erase(id);
}

void EmbeddingQueue::end_all(const base::Error& error, std::vector<Event>& events) {
    while (!requests_.empty()) fail(requests_.begin()->first, error, events);
}

} // namespace engine
