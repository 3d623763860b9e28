// The part of model.h that checks a file's GGUF header before llama.cpp reads it, and explains why it cannot be loaded.
#include "llama/backend/backend.h"
#include "llama/model/model.h"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace llama {

using base::Code;

namespace {

constexpr uint32_t kVersionMin = 2;
constexpr uint32_t kVersionMax = 3;
/// magic, version, number of tensors, number of metadata entries
constexpr uint64_t kHeaderBytes = 24;
/// Fewest bytes that describe one tensor or metadata entry: no file can hold more entries than its size divided by this.
constexpr uint64_t kEntryBytesMin = 12;

template <class T>
T read_number(const char* bytes) {
    static_assert(std::endian::native == std::endian::little, "GGUF files here are little-endian");
    T value;
    std::memcpy(&value, bytes, sizeof value);
    return value;
}

base::Result<void> check_header(const std::string& path, const std::array<char, kHeaderBytes>& header,
                                uint64_t size) {
    if (std::memcmp(header.data(), "GGUF", 4) != 0) {
        return base::fail(Code::model_invalid,
                          path + " is not a GGUF file. Ingle loads models in the GGUF format.");
    }
    const auto version = read_number<uint32_t>(header.data() + 4);
    if (version < kVersionMin || version > kVersionMax) {
        return base::fail(Code::model_invalid, path + " is GGUF version " + std::to_string(version) +
                                                   "; versions 2 and 3 (little-endian) are read.");
    }
    const auto tensors = read_number<uint64_t>(header.data() + 8);
    const auto entries = read_number<uint64_t>(header.data() + 16);
    const uint64_t count_max = size / kEntryBytesMin;
    if (tensors > count_max || entries > count_max || tensors + entries > count_max) {
        return base::fail(Code::model_invalid,
                          path + " is damaged: its header declares more entries than the file can hold.");
    }
    return {};
}

} // namespace

base::Result<void> check_gguf(const std::string& path) {
    std::error_code error;
    const std::filesystem::file_status status = std::filesystem::status(path, error);
    if (error || !std::filesystem::exists(status)) {
        return base::fail(Code::model_not_found, "There is no model file at " + path + ".");
    }
    if (!std::filesystem::is_regular_file(status)) {
        return base::fail(Code::model_not_found,
                          path + " is not a file. Give the path of the .gguf file itself.");
    }
    const uint64_t size = std::filesystem::file_size(path, error);
    std::ifstream file(path, std::ios::binary);
    if (error || !file) {
        return base::fail(Code::model_not_found,
                          "The model file " + path + " cannot be opened: " + std::strerror(errno) + ".");
    }
    std::array<char, kHeaderBytes> header{};
    file.read(header.data(), header.size());
    if (file.gcount() < static_cast<std::streamsize>(header.size())) {
        return base::fail(Code::model_invalid, path + " is too short to be a GGUF file. Download it again.");
    }
    return check_header(path, header, size);
}

base::Error file_error(const std::string& path, const std::string& reason) {
    const auto says = [&](std::string_view text) { return reason.find(text) != std::string::npos; };
    if (says("unknown model architecture") || says("unsupported model architecture") ||
        says("CLIP cannot be used")) {
        return {.code = Code::model_unsupported, .message = path + " cannot be run: " + reason + "."};
    }
    if (is_out_of_memory(reason)) {
        return {.code = Code::out_of_memory,
                .message = "There is not enough memory for " + path + ": " + reason +
                           ". Choose a smaller quantization or, on a GPU, fewer layers."};
    }
    return {.code = Code::model_invalid,
            .message = path + " cannot be read: " + reason +
                       ". The file may be incomplete or damaged; download it again."};
}

std::string reason_after(std::string_view mark, const std::string& lines) {
    const size_t at = lines.rfind(mark);
    const size_t begin = at == std::string::npos ? 0 : at + mark.size();
    return lines.substr(begin, lines.find('\n', begin) - begin);
}

} // namespace llama
