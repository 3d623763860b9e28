#include "engine/limits.h"

#include "base/types.h"
#include "engine/chain_drafter.h"
#include "sched/context_shift.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>

namespace engine {

using base::Code;
using base::Token;

namespace {

/// Cells that a sequence reserves ahead: few enough to admit many sequences, and enough to rarely need more.
constexpr int32_t kReserveAhead = 64;

/// Number of ended sequences in the prefix cache. Each takes one of llama.cpp's slots, and cells only until another sequence
/// needs them.
constexpr int32_t kCached = 32;

/// Cells of a context that never computes anything.
constexpr int32_t kIdleCells = 64;

/// Recurrent states take memory for every slot, whether used or not.
constexpr int32_t kCachedRecurrent = 8;

/// Memory for taking drafts back where state is recurrent: the states after each of a sequence's last tokens are kept for every
/// slot, whether used or not. Enough for 16 drafts with LFM2 models and 17 slots.
constexpr uint64_t kRollbackBytesMax = uint64_t{128} * 1024 * 1024;
constexpr int32_t kRollbackMax = 16;
/// llama.cpp requires that it computes more tokens at once than a sequence's last token and its drafts.
constexpr int32_t kRollbackTokensMin = 3;

/// Maximum number of checkpoints, whatever their size.
constexpr size_t kCheckpointsMax = 256;

/// Checkpoints are saved at the ends of messages and at multiples of this many tokens.
constexpr int32_t kBoundaryEvery = 1024;

/// Tiles of one image have fewer tokens than this between them; those say where each tile belongs.
constexpr int32_t kTilesApartMax = 16;

/// With streams, cached sequences get the cells that running ones leave, each a whole context.
int32_t streams_of(const llama::ContextOptions& context) {
    return std::min(context.cells / context.context_length, llama::kSlotsMax);
}

int32_t cached_sequences_of(const llama::Model& model, const llama::ContextOptions& context) {
    if (context.has_streams) return std::min(streams_of(context) - context.sequences, kCached);
    // One slot is spare: copies use it.
    const int32_t room = llama::kSlotsMax - 1 - context.sequences;
    return std::clamp(room, 0, model.info().is_recurrent ? kCachedRecurrent : kCached);
}

/// A GPU computes masked cells too, so with one pool of cells a step reads the cells of all sequences, even cached ones, and
/// computes them for each sequence. Streams avoid both costs, but share prefixes by copying, and each takes a whole context. So
/// they are chosen only if there are enough cells for a whole context for every sequence and for one cached sequence.
bool has_streams(const llama::Model& model, const llama::ContextOptions& options) {
    // Recurrent states are one cell per sequence, in the order of a batch, whereas gaps between streams are filled with tokens.
    if (options.kv_unified == "on" || model.info().is_recurrent || !model.workers().empty()) return false;
    if (streams_of(options) <= options.sequences) return false;
    return options.kv_unified == "off" || (options.offloads_kv && model.is_on_gpu());
}

bool requests_mtp(const llama::Model& model, const llama::ContextOptions& options) {
    return options.mtp == "on" && model.info().mtp_layers > 0;
}

/// Number of drafts that can be taken back if state is recurrent.
int32_t rollback_of(const llama::Model& model, const llama::ContextOptions& options) {
    if (!model.info().is_recurrent || !model.info().rolls_back) return 0;
    const int32_t places = slots_of(model, options) + 1;
    const uint64_t bytes = llama::recurrent_state_bytes(model) * static_cast<uint64_t>(places);
    const uint64_t fitting = bytes == 0 ? kRollbackMax : kRollbackBytesMax / bytes;
    const auto most = static_cast<int32_t>(std::min<uint64_t>(fitting, kRollbackMax));
    // Requested by name, they may take more. The memory planner counts it.
    const int32_t requested = requests_mtp(model, options) ? ChainDrafter::kMtpDraftsMax : 0;
    return std::clamp(options.tokens_at_once() - kRollbackTokensMin + 1, 0, std::max(most, requested));
}

/// Not over a network: a small layer drafts faster than that responds.
bool has_mtp(const llama::Model& model, const llama::ContextOptions& options) {
    if (options.mtp == "off" || model.info().mtp_layers == 0 || !model.workers().empty()) return false;
    return !model.info().is_recurrent || rollback_of(model, options) > 0;
}

/// Where images end: other questions about an image share everything up to that point. The tiles of one image are close together.
void add_ends_of_images(const std::vector<base::Token>& prompt, std::vector<int32_t>& lengths) {
    const auto length = static_cast<int32_t>(prompt.size());
    int32_t end = 0;
    for (int32_t at = 0; at < length; at = base::end_of_kind(prompt, at)) {
        if (!base::is_image(prompt[static_cast<size_t>(at)])) continue;
        if (end > 0 && at - end >= kTilesApartMax) lengths.push_back(end);
        end = base::end_of_kind(prompt, at);
    }
    if (end > 0) lengths.push_back(end);
}

/// A reply without its own limit that may continue past the context's end is limited to this many contexts.
constexpr int32_t kContextsGeneratedMax = 4;

/// Whether a run of an image's tokens is this part, from its first to its last token.
bool is_part(const llama::ImagePart& part, std::span<const Token> run) {
    const auto belongs = [&](Token token) { return base::image_of(token) == part.id(); };
    return !base::continues_image(run.front()) && std::ssize(run) == part.tokens() &&
           std::ranges::all_of(run, belongs);
}

std::unexpected<base::Error> outside_vocabulary() {
    return base::fail(Code::invalid_argument, "The prompt has a token outside this model's vocabulary.");
}

std::unexpected<base::Error> larger_than_a_batch(const llama::ImagePart& part, int32_t batch_tokens) {
    return base::fail(Code::invalid_argument,
                      std::string(part.is_audio() ? "An audio" : "An image") + " of this model has " +
                          std::to_string(part.tokens()) +
                          " tokens, which are computed in one step, and a step holds " +
                          std::to_string(batch_tokens) + ". Load the model with batchTokens of at least " +
                          std::to_string(part.tokens()) + ".");
}

base::Error too_long(int64_t prompt_tokens, int64_t context_length) {
    return {.code = Code::context_length_exceeded,
            .message = "The prompt has " + std::to_string(prompt_tokens) + " tokens, and the context holds " +
                       std::to_string(context_length) +
                       " with at least one left for the reply. Shorten the prompt or load the model with a "
                       "longer context.",
            .lengths =
                base::Error::Lengths{.prompt_tokens = prompt_tokens, .context_length = context_length}};
}

/// A chat's messages end after the tokens that end a generation. When the chat becomes too long, the first message is kept; if it
/// is missing or takes half of the context, only the prompt's first token is kept.
sched::ChatTurns turns_of(const llama::Model& model, const std::vector<Token>& prompt,
                          int32_t context_length) {
    sched::ChatTurns turns;
    for (size_t i = 0; i < prompt.size(); ++i) {
        if (model.is_end_of_generation(prompt[i])) turns.ends.push_back(static_cast<int32_t>(i) + 1);
    }
    const auto may_keep = [&](int32_t length) { return 2 * length < context_length; };
    if (!turns.ends.empty() && may_keep(turns.ends.front())) {
        turns.keep = turns.ends.front();
        turns.ends.erase(turns.ends.begin());
    } else if (prompt.front() == model.info().tokens.bos && may_keep(1)) {
        turns.keep = 1;
    }
    return turns;
}

/// Cuts what does not fit out of a prompt; false if that is not enough.
bool drop_oldest(GenerationRequest& request, int32_t context_length) {
    const auto length = static_cast<int32_t>(request.prompt.size());
    const std::optional<sched::Cut> cut =
        request.turns->cut_prompt(length, context_length, request.tokens_max);
    if (!cut) return false;
    const auto first = request.prompt.begin() + cut->keep;
    request.prompt.erase(first, first + cut->drop);
    sched::apply_cut(request.turns->ends, *cut);
    request.dropped = cut->drop;
    return true;
}

base::Result<void> check_mtp(const llama::Model& model, const llama::ContextOptions& options) {
    if (options.mtp != "on" || has_mtp(model, options)) return {};
    std::string reason = "the file has no layers for multi-token prediction that can be computed";
    if (model.info().mtp_layers > 0) reason = "drafts need at least three tokens that are computed at once";
    if (!model.workers().empty()) reason = "the model is on several machines";
    return base::wrong_option("speculation",
                              reason + ". Choose \"off\" or \"ngram\", or leave the option out.");
}

base::Result<void> check_streams(const llama::Model& model, const llama::ContextOptions& options) {
    if (options.kv_unified != "off" || !model.info().is_causal || has_streams(model, options)) return {};
    std::string reason =
        "each of " + std::to_string(options.sequences) + " parallel requests and one cached sequence need " +
        std::to_string(options.context_length) + " cells, and there are " + std::to_string(options.cells);
    if (!model.workers().empty()) reason = "the model is on several machines";
    if (model.info().is_recurrent) reason = "this model has recurrent state";
    return base::wrong_option("kvUnified", reason + ". Leave the option out, or set it to true.");
}

} // namespace

llama::ContextOptions options_for(const llama::Model& model, llama::ContextOptions options,
                                  const llama::Model* draft_model) {
    if (model.info().is_causal) {
        options.has_streams = has_streams(model, options);
        options.rollback = rollback_of(model, options);
        options.has_mtp = has_mtp(model, options);
        if (draft_model != nullptr && draft_model->info().speculator)
            options.tapped_layers = draft_model->info().speculator->layers;
        return options;
    }
    options.context_length = options.cells = options.batch_tokens = options.ubatch_tokens = kIdleCells;
    options.sequences = 1;
    return options;
}

base::Result<void> check_context(const llama::Model& model, const llama::ContextOptions& options) {
    if (model.info().speculator) {
        return base::fail(Code::model_unsupported,
                          model.path() +
                              " is not a model of its own: its layers draft for another one. Load that "
                              "model, with this file as its draft model.");
    }
    if (auto checked = check_streams(model, options); !checked) return checked;
    return check_mtp(model, options);
}

base::Result<void> check_rollback(const llama::Model& model, const llama::ContextOptions& options,
                                  const std::string& param) {
    if (!model.info().is_recurrent || options.rollback > 0) return {};
    if (options.tokens_at_once() < kRollbackTokensMin)
        return base::wrong_option(param, "drafts need at least three tokens that are computed at once. Raise "
                                         "ubatchTokens, or leave the option out.");
    return base::wrong_option(
        param, "drafts would have to be taken back, and keeping the recurrent states of " +
                   std::to_string(slots_of(model, options)) +
                   " sequences for it would take more memory for each token than the " +
                   std::to_string(kRollbackBytesMax >> 20) +
                   " MiB that are used for this. Leave the option out for this model, or load it for "
                   "fewer parallel requests.");
}

int32_t slots_of(const llama::Model& model, const llama::ContextOptions& options) {
    return options.sequences + cached_sequences_of(model, options);
}

sched::Limits limits_of(const llama::Model& model, llama::Context& context,
                        const llama::ContextOptions& options, uint64_t host_tier_bytes,
                        uint64_t checkpoint_bytes) {
    const int32_t cached = cached_sequences_of(model, options);
    // Whatever their lengths are, sequences in streams never compete for cells.
    const int32_t cells =
        options.has_streams ? (options.sequences + cached) * options.context_length : options.cells;
    // A copy of a sliding window has only the window: it cannot be cut or split. Nor can a part of a stream be copied.
    const bool can_copy = !model.info().has_sliding_window && !options.has_streams;
    sched::Limits limits{.cells = cells,
                         .context_length = options.context_length,
                         .sequences = options.sequences,
                         .cached_sequences = cached,
                         .batch_tokens = options.batch_tokens,
                         .checkpoints = 0,
                         .reserve_ahead = kReserveAhead,
                         .can_shift = context.can_shift(),
                         .host_tier_bytes = can_copy ? host_tier_bytes : 0};
    limits.has_whole_images = model.vision() != nullptr && model.vision()->has_whole_images();
    if (model.info().is_recurrent) {
        limits.has_equal_drafts = true;
        const size_t bytes = context.measure_state_bytes();
        if (bytes > 0)
            limits.checkpoints =
                static_cast<int32_t>(std::min<uint64_t>(checkpoint_bytes / bytes, kCheckpointsMax));
        limits.checkpoint_bytes = bytes;
        // Without checkpoints, no prefix of such a state can be shared.
        if (limits.checkpoints == 0) limits.cached_sequences = 0;
    }
    if (limits.cached_sequences == 0) limits.host_tier_bytes = 0;
    return limits;
}

/// Where a chat's messages end: after the tokens that end a generation. Other requests share the first message (often the system
/// message); the chat's next request shares everything up to the last. Long prompts get more boundaries in between.
std::vector<int32_t> boundaries_of(const llama::Model& model, const std::vector<base::Token>& prompt) {
    std::vector<int32_t> lengths;
    if (!model.info().is_recurrent) return lengths;
    const auto length = static_cast<int32_t>(prompt.size());
    for (int32_t at = kBoundaryEvery; at < length; at += kBoundaryEvery)
        lengths.push_back(base::last_edge(prompt, at));
    add_ends_of_images(prompt, lengths);
    const auto ends_message = [&model](base::Token token) { return model.is_end_of_generation(token); };
    const auto first = std::ranges::find_if(prompt, ends_message);
    if (first != prompt.end()) {
        const auto last = std::find_if(prompt.rbegin(), prompt.rend(), ends_message);
        lengths.push_back(static_cast<int32_t>(first - prompt.begin()) + 1);
        lengths.push_back(static_cast<int32_t>(last.base() - prompt.begin()));
    }
    std::ranges::sort(lengths);
    lengths.erase(std::ranges::unique(lengths).begin(), lengths.end());
    return lengths;
}

base::Result<void> check_prompt(const llama::Model& model, int32_t batch_tokens,
                                std::span<const Token> prompt, const llama::ImageParts& images) {
    if (prompt.empty()) return base::fail(Code::invalid_argument, "The prompt has no tokens.");
    const bool are_whole = model.vision() != nullptr && model.vision()->has_whole_images();
    const auto length = static_cast<int32_t>(prompt.size());
    for (int32_t at = 0; at < length;) {
        const Token token = prompt[static_cast<size_t>(at)];
        if (token >= model.info().vocabulary_size) return outside_vocabulary();
        if (!base::is_image(token)) {
            at += 1;
            continue;
        }
        const int32_t end = base::next_edge(prompt, at + 1);
        const auto run = prompt.subspan(static_cast<size_t>(at), static_cast<size_t>(end - at));
        const auto part = llama::find_part(images, base::image_of(token));
        if (part == images.end() || !is_part(**part, run)) return outside_vocabulary();
        if (are_whole && (*part)->tokens() > batch_tokens) return larger_than_a_batch(**part, batch_tokens);
        at = end;
    }
    return {};
}

base::Result<void> check_prediction(const llama::Model& model, std::span<const Token> prediction) {
    const auto is_token = [&](Token token) { return token >= 0 && token < model.info().vocabulary_size; };
    if (!std::ranges::all_of(prediction, is_token)) return outside_vocabulary();
    return {};
}

base::Result<void> check_salt(std::string_view salt) {
    if (sched::is_salt(salt)) return {};
    return base::fail(Code::invalid_argument, "A cache salt has at most 64 digits, 0 to 9 and a to f.");
}

base::Result<void> fit_context(const llama::Model& model, int32_t context_length, bool drops_turns,
                               GenerationRequest& request) {
    const auto prompt_tokens = static_cast<int64_t>(request.prompt.size());
    if (drops_turns) {
        request.turns = turns_of(model, request.prompt, context_length);
        if (!drop_oldest(request, context_length))
            return std::unexpected(too_long(prompt_tokens, context_length));
        if (request.tokens_max < 1) request.tokens_max = kContextsGeneratedMax * context_length;
        return {};
    }
    if (prompt_tokens >= context_length) return std::unexpected(too_long(prompt_tokens, context_length));
    const int32_t room = context_length - static_cast<int32_t>(prompt_tokens);
    request.tokens_max = request.tokens_max < 1 ? room : std::min(request.tokens_max, room);
    return {};
}

} // namespace engine
