#include "llama/model/file_error.h"

#include <string_view>

namespace llama_rt {

using base::Code;

base::Error file_error(const std::string& path, const std::string& reason) {
    const auto says = [&](std::string_view text) { return reason.find(text) != std::string::npos; };
    if (says("unknown model architecture") || says("unsupported model architecture") ||
        says("CLIP cannot be used")) {
        return {.code = Code::model_unsupported, .message = path + " cannot be run: " + reason + "."};
    }
    if (says("unable to allocate") || says("failed to allocate") || says("out of memory")) {
        return {.code = Code::out_of_memory,
                .message = "There is not enough memory for " + path + ": " + reason +
                           ". Choose a smaller quantization."};
    }
    return {.code = Code::model_invalid,
            .message = path + " cannot be read: " + reason +
                       ". The file may be incomplete or damaged; download it again."};
}

} // namespace llama_rt
