#include "llama/context/context.h"

#include "../src/llama-ext.h" // no public header has hidden states
#include "llama/backend/backend.h"
#include "llama/context/filler_rows.h"
#include "llama/context/guarded.h"
#include "llama/model/model.h"
#include "llama/vision/vision.h"

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace llama {

namespace {

/// While one lives, attention is not causal: the tokens of an image attend to each other in some models.
class NonCausalAttention {
public:
    explicit NonCausalAttention(llama_context* context) : context_(context) {
        llama_set_causal_attn(context_, false);
    }
    ~NonCausalAttention() { llama_set_causal_attn(context_, true); }
    NonCausalAttention(const NonCausalAttention&) = delete;
    NonCausalAttention& operator=(const NonCausalAttention&) = delete;

private:
    llama_context* context_;
};

/// Whether a part is a token of a reply, without drafts.
bool is_reply(const BatchPart& part) {
    return part.tokens.size() == 1 && part.drafts.empty() && part.image == nullptr && part.wants_logits &&
           !part.wants_all_logits;
}

/// A token that nothing reads, and that is removed after its batch.
BatchPart filler(base::Slot slot, int32_t position, bool selects) {
    static constexpr base::Token kFiller = 0;
    return {.slot = slot,
            .first = 0,
            .tokens = std::span(&kFiller, 1),
            .wants_logits = selects,
            .position = position,
            .likeliest_suffice = selects};
}

} // namespace

base::Result<std::unique_ptr<Context>> Context::create(std::shared_ptr<const Model> model,
                                                       const ContextOptions& options, int32_t slots) {
    const base::Result<llama_context_params> params = context_params(*model, options, slots);
    if (!params) return std::unexpected(params.error());
    const auto out_of_memory = [&] { return context_out_of_memory(*model, *params); };
    if (!fits_machine(*model, *params)) return std::unexpected(out_of_memory());
    const auto create = [&] {
        std::unique_ptr<Context> context(new Context(model, options, *params, slots));
        check_computable(context->context_.get(), params->n_outputs_max);
        return context;
    };
    auto created = guarded_create<Context>(*model, create, out_of_memory);
    if (created || options.tapped_layers.empty()) return created;
    return std::unexpected(untappable(*model, created.error()));
}

Context::Context(std::shared_ptr<const Model> model, const ContextOptions& options,
                 const llama_context_params& params, int32_t slots)
    : model_(std::move(model)),
      types_{.k = params.type_k, .v = params.type_v},
      outputs_max_(static_cast<int32_t>(params.n_outputs_max)),
      has_yarn_(params.rope_scaling_type == LLAMA_ROPE_SCALING_TYPE_YARN),
      tapped_layers_(options.tapped_layers),
      selected_(selected_candidates(*model_, options)),
      batch_(static_cast<int32_t>(params.n_batch), model_->vision()),
      positions_(static_cast<size_t>(slots) + 1),
      spare_(slots) {
    INGLE_ASSERT(slots <= kSlotsMax);
    context_ = new_context(*model_, params);
    model_->adapters().prepare(context_.get());
    // Without a thread pool, ggml would start and end its threads for every token.
    threadpool_ = make_threadpool(std::max(options.threads, options.threads_batch), options.placement);
    attach(context_.get(), threadpool_.get(), is_aborted_);
    if (options.has_mtp) llama_set_embeddings_nextn(context_.get(), true, true);
    tap_layers(context_.get(), tapped_layers_);
    select_candidates(context_.get(), selected_);
    if (options.has_streams) stream_cells_ = static_cast<int32_t>(llama_n_ctx_seq(context_.get()));
    filler_sequences_ = filler_sequences(*model_, options, slots);
}

Decoded Context::decode(std::span<const BatchPart> parts) {
    thread_.check();
    ErrorLines errors;
    std::optional<NonCausalAttention> non_causal;
    bool is_undone = false; // llama.cpp guarantees that the failed batch changed nothing
    const Decoded decoded = guarded_compute(*model_, is_aborted_, [&] {
        batch_.fill(arranged(parts), positions_);
        if (batch_.has_whole_images()) non_causal.emplace(context_.get());
        apply_adapters();
        const int32_t code = decode_batch(*model_, context_.get(), batch_.raw());
        is_undone = code == 1 || code == -1;
        // If keys could not be rotated, llama.cpp only logs it.
        if (code == 0 && is_shifted_ && !errors.text().empty()) return Decoded::failed;
        return meaning_of(code);
    });
    // A batch moves recurrent states, which are one cell per sequence, including those of sequences that are not in it; after a
    // shift it first rotates all keys. If such a batch is interrupted, every sequence's state may be wrong.
    const bool is_delicate = model_->info().is_recurrent || is_shifted_;
    is_torn_ = decoded != Decoded::ok && !is_undone && is_delicate;
    if (!is_undone) is_shifted_ = false;
    if (remove_fillers()) return decoded;
    is_torn_ = true;
    return Decoded::failed;
}

void Context::apply_adapters() {
    if (scales_given_ == scales_) return;
    scales_given_.reset();
    model_->adapters().apply(context_.get(), scales_);
    scales_given_ = scales_;
}

std::span<const BatchPart> Context::arranged(std::span<const BatchPart> parts) {
    return stream_cells_ > 0 ? in_streams(parts) : in_pool(parts);
}

/// Prompts beside replies change the graph anyway, but llama.cpp computes both on their own where states are recurrent, if the replies come
/// first.
std::span<const BatchPart> Context::in_pool(std::span<const BatchPart> parts) {
    const auto others = std::ranges::find_if_not(parts, is_reply);
    const auto rows = static_cast<int32_t>(others - parts.begin());
    const bool are_apart =
        others == parts.end() || (model_->info().is_recurrent && std::none_of(others, parts.end(), is_reply));
    const int32_t fillers = filled_rows(rows) - rows;
    places_.clear();
    if (rows == 0 || fillers == 0 || fillers > filler_sequences_ || !are_apart) return parts;
    ordered_.clear();
    for (int32_t number = 1; number <= fillers; ++number)
        ordered_.push_back(filler(spare_ + number, 0, true));
    ordered_.insert(ordered_.end(), parts.begin(), parts.end());
    places_.resize(parts.size());
    std::iota(places_.begin(), places_.end(), static_cast<size_t>(fillers));
    return ordered_;
}

/// llama.cpp computes adjacent streams together, and others one after the other, each with a pass over all weights. So the parts
/// are ordered by stream, and a stream in between that has nothing to compute gets a token, which is removed afterwards. So do those
/// around a batch of replies alone: a graph is built for certain streams.
std::span<const BatchPart> Context::in_streams(std::span<const BatchPart> parts) {
    std::vector<size_t> order(parts.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, {}, [&](size_t part) { return parts[part].slot; });
    const auto decodes = [&](size_t part) {
        return parts[part].tokens.size() == 1 && parts[part].image == nullptr;
    };
    const auto last = std::find_if(order.rbegin(), order.rend(), decodes);
    const base::Slot last_decoding = last == order.rend() ? -1 : parts[*last].slot;
    const bool are_filled = selected_ > 0 && std::ranges::all_of(parts, is_reply);
    const base::Slot first = parts[order.front()].slot;
    const auto [first_stream, end_stream] =
        are_filled ? streams_around(first, last_decoding) : std::pair(first, last_decoding + 1);
    bool is_between = false; // two decoding sequences
    ordered_.clear();
    places_.assign(parts.size(), 0);
    fill_streams(first_stream, first, are_filled);
    for (const size_t part : order) {
        if (is_between && parts[part].slot <= last_decoding)
            fill_streams(ordered_.back().slot + 1, parts[part].slot, are_filled);
        is_between |= decodes(part);
        places_[part] = ordered_.size();
        ordered_.push_back(parts[part]);
    }
    fill_streams(last_decoding + 1, end_stream, are_filled);
    return ordered_;
}

/// The streams, from the first to before the last one, that the graph of a batch of replies from `first` to `last` computes: the
/// smallest aligned range, so that it seldom differs from that of the batch before.
std::pair<base::Slot, base::Slot> Context::streams_around(base::Slot first, base::Slot last) const {
    for (int32_t rows = filled_rows(last + 1 - first); rows < spare_; rows = filled_rows(rows + 1)) {
        const base::Slot begin = std::min(first - first % rows, spare_ - rows);
        if (last < begin + rows) return {begin, begin + rows};
    }
    return {0, spare_};
}

/// A gap stays if one of its streams cannot take a token.
void Context::fill_streams(base::Slot from, base::Slot to, bool selects) {
    const llama_memory_t memory = llama_get_memory(context_.get());
    const size_t before = ordered_.size();
    for (base::Slot slot = from; slot < to; ++slot) {
        const int32_t position = llama_memory_seq_pos_max(memory, slot) + 1;
        if (position >= stream_cells_ || !positions_.are_plain(slot)) return ordered_.resize(before);
        ordered_.push_back(filler(slot, position, selects));
    }
}

bool Context::remove_fillers() {
    bool are_removed = true;
    for (const BatchPart& part : ordered_) {
        if (part.position < 0) continue;
        are_removed &= guarded(false, [&] {
            return llama_memory_seq_rm(llama_get_memory(context_.get()), part.slot, part.position, -1);
        });
    }
    ordered_.clear();
    return are_removed;
}

bool Context::is_worker_lost() const {
    return is_any_lost(model_->workers());
}

bool Context::undo(std::span<const BatchPart> parts) {
    bool are_undone = !is_torn_;
    for (const BatchPart& part : parts)
        are_undone =
            are_undone && !positions_.is_inside(part.slot, part.first) && remove(part.slot, part.first);
    return are_undone;
}

/// Where a part is in the batch.
size_t Context::place_of(size_t part) const {
    return places_.empty() ? part : places_[part];
}

/// Below 0 if the part wants no logits.
int32_t Context::index_of(size_t part, size_t output) const {
    const int32_t index = batch_.logits_index(place_of(part));
    return index < 0 ? index : index + static_cast<int32_t>(output);
}

float* Context::logits(size_t part, size_t output) {
    thread_.check();
    const int32_t index = index_of(part, output);
    if (index < 0) return nullptr;
    float* logits = guarded<float*>(nullptr, [&] { return llama_get_logits_ith(context_.get(), index); });
    model_->suppress(logits);
    return logits;
}

Context::Likeliest Context::likeliest(size_t part, size_t output) {
    thread_.check();
    const int32_t index = index_of(part, output);
    if (index < 0 || selected_ == 0) return {};
    return guarded(Likeliest{}, [&]() -> Likeliest {
        const base::Token* tokens = llama_get_candidate_tokens_ith(context_.get(), index);
        const float* logits = llama_get_candidate_logits_ith(context_.get(), index);
        if (tokens == nullptr || logits == nullptr) return {};
        return {.tokens = {tokens, selected_}, .logits = {logits, selected_}};
    });
}

bool Context::add_states(size_t part, size_t token, std::vector<const float*>& states) {
    thread_.check();
    const int32_t index = batch_.token_index(place_of(part)) + static_cast<int32_t>(token);
    const auto add = [&](const float* state) {
        if (state != nullptr) states.push_back(state);
        return state != nullptr;
    };
    return guarded(false, [&] {
        if (tapped_layers_.empty()) return add(llama_get_embeddings_nextn_ith(context_.get(), index));
        return std::ranges::all_of(tapped_layers_, [&](int32_t layer) {
            const auto number = static_cast<uint32_t>(layer);
            return add(llama_get_embeddings_layer_inp_ith(context_.get(), number, index));
        });
    });
}

BatchCounts Context::counts() const {
    const llama_batch_counts counts = llama_get_batch_counts(context_.get());
    return {.graph_us = static_cast<uint64_t>(counts.t_build_us),
            .launch_us = static_cast<uint64_t>(counts.t_launch_us),
            .wait_us = static_cast<uint64_t>(counts.t_wait_us),
            .device_us = static_cast<uint64_t>(counts.t_device_us),
            .graphs_built = counts.n_built,
            .output_bytes = counts.n_bytes};
}

uint64_t Context::token_bytes() const {
    return llama_get_memory(context_.get()) == nullptr ? 0 : kv_token_bytes(*model_, types_);
}

bool Context::can_generate() const {
    return llama_get_memory(context_.get()) != nullptr && model_->info().is_causal;
}

bool Context::remove(base::Slot slot, int32_t from) {
    thread_.check();
    llama_memory_t memory = llama_get_memory(context_.get());
    const int32_t position = from == 0 ? -1 : positions_.of(slot, from);
    positions_.cut(slot, from);
    return guarded(false, [&] { return llama_memory_seq_rm(memory, slot, position, -1); });
}

bool Context::share(base::Slot from, base::Slot to, int32_t first, int32_t length) {
    thread_.check();
    const int32_t begin = positions_.of(from, first);
    const int32_t end = positions_.of(from, length);
    positions_.set(to, positions_.before(from, length));
    if (stream_cells_ > 0) {
        INGLE_ASSERT(first == 0);
        return guarded(false, [&] {
            const llama_memory_t memory = llama_get_memory(context_.get());
            llama_memory_seq_cp(memory, from, to, -1, -1); // a stream is copied as a whole
            return llama_memory_seq_rm(memory, to, end, -1);
        });
    }
    return guarded(false, [&] {
        llama_memory_seq_cp(llama_get_memory(context_.get()), from, to, begin, end);
        return true;
    });
}

void Context::clear() {
    thread_.check();
    llama_memory_clear(llama_get_memory(context_.get()), false);
    positions_.clear();
    is_shifted_ = false;
    is_torn_ = false;
}

bool Context::ends_at(base::Slot slot, int32_t length) {
    thread_.check();
    const llama_pos last = llama_memory_seq_pos_max(llama_get_memory(context_.get()), slot);
    return last == positions_.of_last(slot, length);
}

bool Context::reaches(base::Slot slot, int32_t length) {
    thread_.check();
    const llama_pos last = llama_memory_seq_pos_max(llama_get_memory(context_.get()), slot);
    return last >= positions_.of_last(slot, length);
}

std::vector<uint8_t> Context::save(base::Slot slot) {
    thread_.check();
    constexpr llama_state_seq_flags kPartial = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;
    return guarded(std::vector<uint8_t>(), [&] {
        std::vector<uint8_t> state(llama_state_seq_get_size_ext(context_.get(), slot, kPartial));
        const size_t written =
            llama_state_seq_get_data_ext(context_.get(), state.data(), state.size(), slot, kPartial);
        if (written != state.size()) state.clear();
        return state;
    });
}

bool Context::restore(base::Slot slot, const std::vector<uint8_t>& state) {
    thread_.check();
    constexpr llama_state_seq_flags kPartial = LLAMA_STATE_SEQ_FLAGS_PARTIAL_ONLY;
    if (state.empty()) return false;
    return guarded(false, [&] {
        return llama_state_seq_set_data_ext(context_.get(), state.data(), state.size(), slot, kPartial) > 0;
    });
}

size_t Context::measure_state_bytes() {
    const base::Token token = 0;
    const BatchPart part{.slot = 0, .first = 0, .tokens = std::span(&token, 1), .wants_logits = true};
    // Measured with its own threads: the first thread that computes with the pool is placed like the pool, and this is not the
    // engine's thread.
    llama_detach_threadpool(context_.get());
    const bool is_ok = decode(std::span(&part, 1)) == Decoded::ok;
    attach(context_.get(), threadpool_.get(), is_aborted_);
    const size_t bytes = is_ok ? save(0).size() : 0;
    clear();
    thread_.release(); // the engine's own thread takes over
    return bytes;
}

/// A shift rotates all keys of the cache, those of cells that do not move by zero. Where that is not exact (quantized keys are
/// rounded again, some positions also scale keys), it would change the state of other sequences.
bool Context::can_shift() const {
    const bool are_keys_exact = types_.k == GGML_TYPE_F16 || types_.k == GGML_TYPE_F32;
    return are_keys_exact && !has_yarn_ && model_->info().has_plain_positions &&
           !model_->info().is_recurrent && llama_memory_can_shift(llama_get_memory(context_.get()));
}

bool Context::shift(base::Slot slot, int32_t kept, int32_t dropped) {
    thread_.check();
    const llama_memory_t memory = llama_get_memory(context_.get());
    const int32_t end = kept + dropped;
    is_shifted_ = true;
    return guarded(false, [&] {
        if (!llama_memory_seq_rm(memory, slot, kept, end)) return false;
        llama_memory_seq_add(memory, slot, end, -1, -dropped);
        return true;
    });
}

State Context::copy_out(base::Slot slot, int32_t first, int32_t length, uint64_t bytes_max) {
    INGLE_ASSERT(spare_ < kSlotsMax);
    State state;
    if (share(slot, spare_, first, length)) state = copy_spare(bytes_max);
    state.leaps = positions_.before(slot, length);
    is_torn_ |= !remove(spare_, 0);
    return state;
}

State Context::copy_spare(uint64_t bytes_max) {
    return guarded(State{}, [&] {
        State state{.bytes = nullptr, .size = llama_state_seq_get_size_ext(context_.get(), spare_, 0)};
        if (state.size == 0 || state.size > bytes_max) return state;
        state.bytes = std::make_unique_for_overwrite<uint8_t[]>(state.size);
        const size_t written =
            llama_state_seq_get_data_ext(context_.get(), state.bytes.get(), state.size, spare_, 0);
        if (written != state.size) state.bytes.reset();
        return state;
    });
}

bool Context::copy_in(base::Slot slot, const Copy& copy) {
    thread_.check();
    const auto& [state, first, length, checkpoint] = copy;
    const bool fits = guarded(false, [&] {
        return llama_state_seq_set_data_ext(context_.get(), state.bytes.get(), state.size, spare_, 0) > 0;
    });
    positions_.set(spare_, state.leaps);
    const bool is_there =
        fits && share(spare_, slot, first, length) && (checkpoint == nullptr || restore(slot, *checkpoint));
    is_torn_ |= fits && !is_there;
    is_torn_ |= !remove(spare_, 0);
    return is_there && !is_torn_;
}

} // namespace llama
