#include "llama/quantize/quantize.h"

#include "imatrix-loader.h"
#include "llama/backend/backend.h"
#include "llama/model/model.h"

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <map>
#include <string_view>
#include <vector>

#include "llama.h"

namespace llama {

using base::Code;

namespace {

/// Bytes of a tensor's rows in memory at a time; llama.cpp's default, 8 GiB, is more than many machines have.
constexpr size_t kBufferBytes = size_t{512} * 1024 * 1024;

/// An importance matrix as llama.cpp takes it: by weight name, the importance of each column.
using Importances = std::map<std::string, std::vector<float>>;

struct Importance {
    Importances matrices;
    /// Origin of the importances, recorded in the quantized file.
    std::string source;
    std::string dataset;
    int32_t chunks = 0;
};

/// Divides each matrix's sums by its count. A matrix that was never used gets an importance of 1 everywhere.
std::vector<float> means_of(const common_imatrix_entry& entry, bool is_legacy) {
    std::vector<float> means = entry.sums;
    const size_t columns = means.size() / entry.counts.size();
    for (size_t i = 0; i < means.size(); ++i) {
        const auto count = static_cast<float>(entry.counts[i / columns]);
        if (count > 0) means[i] /= count;
        else if (!is_legacy) means[i] = 1;
    }
    return means;
}

base::Result<Importance> read_importance(const std::string& path) {
    Importance importance{.matrices = {}, .source = {}, .dataset = {}};
    if (path.empty()) return importance;
    common_imatrix file;
    if (!common_imatrix_load(path, file) || file.entries.empty() || (!file.is_legacy && !file.has_metadata))
        return base::fail(Code::invalid_argument, path + " is not an importance matrix.");
    for (const auto& [name, entry] : file.entries) {
        if (entry.counts.empty() || entry.sums.size() % entry.counts.size() != 0)
            return base::fail(Code::invalid_argument, path + " is damaged: its sums do not fit its counts.");
        importance.matrices.emplace(name, means_of(entry, file.is_legacy));
    }
    importance.source = std::filesystem::path(path).filename().string();
    if (!file.datasets.empty()) importance.dataset = file.datasets.front();
    importance.chunks = file.chunk_count;
    return importance;
}

llama_model_kv_override text_key(const char* key, const std::string& text) {
    llama_model_kv_override entry{};
    entry.tag = LLAMA_KV_OVERRIDE_TYPE_STR;
    std::snprintf(entry.key, sizeof entry.key, "%s", key);
    std::snprintf(entry.val_str, sizeof entry.val_str, "%s", text.c_str());
    return entry;
}

llama_model_kv_override number_key(const char* key, int64_t number) {
    llama_model_kv_override entry{};
    entry.tag = LLAMA_KV_OVERRIDE_TYPE_INT;
    std::snprintf(entry.key, sizeof entry.key, "%s", key);
    entry.val_i64 = number;
    return entry;
}

/// The keys that llama.cpp's own tool writes, terminated by an empty one.
std::vector<llama_model_kv_override> keys_of(const Importance& importance) {
    std::vector<llama_model_kv_override> keys;
    keys.push_back(text_key("quantize.imatrix.file", importance.source));
    if (!importance.dataset.empty()) keys.push_back(text_key("quantize.imatrix.dataset", importance.dataset));
    keys.push_back(number_key("quantize.imatrix.entries_count", std::ssize(importance.matrices)));
    if (importance.chunks > 0) keys.push_back(number_key("quantize.imatrix.chunks_count", importance.chunks));
    keys.emplace_back();
    return keys;
}

/// Reads llama.cpp's "…: failed to quantize: REASON", which may follow other lines.
base::Error quantize_error(const std::string& path, const std::string& lines) {
    const std::string reason = reason_after("failed to quantize: ", lines);
    const auto says = [&](std::string_view text) { return reason.find(text) != std::string::npos; };
    if (says("imatrix") || says("importance matrix"))
        return {.code = Code::invalid_argument, .message = "imatrix: " + reason + ".", .param = "imatrix"};
    if (says("requantizing"))
        return {.code = Code::invalid_argument, .message = path + " is already quantized: " + reason + "."};
    if (says("iostream"))
        return {.code = Code::engine_failed, .message = "The quantized file could not be written."};
    return file_error(path, reason);
}

/// Runs llama.cpp's quantization; calls `hear` with its log lines. `is_plan` writes nothing.
base::Result<void> run(const QuantizeOptions& options, bool is_plan, const LogListener::Hear& hear) {
    ensure_backend();
    if (const base::Result<void> checked = check_gguf(options.input); !checked)
        return std::unexpected(checked.error());
    const base::Result<Importance> importance = read_importance(options.imatrix);
    if (!importance) return std::unexpected(importance.error());

    llama_model_quantize_params params = llama_model_quantize_default_params();
    params.ftype = static_cast<llama_ftype>(options.file_type);
    params.nthread = options.threads;
    params.allow_requantize = options.allow_requantize;
    params.dry_run = is_plan;
    params.max_buf_size = kBufferBytes;
    std::vector<llama_model_imatrix_data> matrices;
    std::vector<llama_model_kv_override> keys;
    if (!importance->matrices.empty()) {
        for (const auto& [name, values] : importance->matrices)
            matrices.push_back({.name = name.c_str(), .data = values.data(), .size = values.size()});
        matrices.push_back({.name = nullptr, .data = nullptr, .size = 0});
        keys = keys_of(*importance);
        params.imatrix = matrices.data();
        params.kv_overrides = keys.data();
    }
    const ErrorLines errors;
    const LogListener listener(hear);
    if (llama_model_quantize(options.input.c_str(), options.output.c_str(), &params) == 0) return {};
    return std::unexpected(quantize_error(options.input, errors.text()));
}

} // namespace

base::Result<double> plan_quantization(const QuantizeOptions& options) {
    double mebibytes = -1;
    const base::Result<void> planned = run(options, true, [&](int, const char* text) {
        const char* sum = std::strstr(text, "quant size");
        if (sum != nullptr) std::sscanf(sum, "quant size = %lf", &mebibytes);
    });
    if (!planned) return std::unexpected(planned.error());
    INGLE_ASSERT(mebibytes >= 0); // fails if llama.cpp's log line has changed
    return mebibytes * 1024 * 1024;
}

base::Result<void> quantize(const QuantizeOptions& options,
                            const std::function<void(const std::string& name)>& on_tensor) {
    return run(options, false, [&](int, const char* text) {
        // "[  12/ 146] blk.1.ffn_down.weight … - [ 2048, …"
        int number = 0;
        char name[GGML_MAX_NAME] = "";
        if (std::sscanf(text, "[%d/%*d] %63s", &number, name) == 2) on_tensor(name);
    });
}

} // namespace llama
