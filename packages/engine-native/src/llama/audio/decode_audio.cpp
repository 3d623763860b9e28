#include "llama/audio/decode_audio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <string_view>

// Only the decoders, as functions of this file: tests also link llama.cpp's own copy, in mtmd-helper.cpp.
#define MINIAUDIO_IMPLEMENTATION
#define ma_atomic_global_lock ingle_ma_atomic_global_lock // the only name that MA_API does not make static
#define MA_API static
#define MA_NO_DEVICE_IO
#define MA_NO_ENCODING
#define MA_NO_ENGINE
#define MA_NO_GENERATION
#define MA_NO_NODE_GRAPH
#define MA_NO_RESOURCE_MANAGER
#include "miniaudio/miniaudio.h"

namespace llama {

using base::Code;

namespace {

/// Frames that are decoded at a time, so that the memory depends on what a file holds, not on what its header claims.
constexpr size_t kFramesPerRead = 16'384;

/// Samples are between -1 and 1, or little beyond. A file of floating-point numbers may have any: what overflows on its way to the
/// model would spread to other requests, through the cells that share a KV cache.
constexpr float kSampleMax = 16;

/// Shorter audio than this is not worth a window of the encoder, and some encoders need a few frames.
constexpr int32_t kPartOfSecondMin = 10;

float bounded(float sample) {
    return std::isfinite(sample) ? std::clamp(sample, -kSampleMax, kSampleMax) : 0;
}

struct DecoderEnd {
    void operator()(ma_decoder* decoder) const {
        ma_decoder_uninit(decoder);
        delete decoder;
    }
};
using Decoder = std::unique_ptr<ma_decoder, DecoderEnd>;

/// Only the format that the first bytes name is tried. Anything else must be MP3, which has no signature of its own.
ma_encoding_format format_of(std::span<const uint8_t> file) {
    const std::string_view begin(reinterpret_cast<const char*>(file.data()),
                                 std::min<size_t>(file.size(), 4));
    if (begin == "RIFF") return ma_encoding_format_wav;
    if (begin == "fLaC") return ma_encoding_format_flac;
    return ma_encoding_format_mp3;
}

Decoder open_file(std::span<const uint8_t> file, int32_t sample_rate) {
    ma_decoder_config config = ma_decoder_config_init(ma_format_f32, 1, static_cast<ma_uint32>(sample_rate));
    config.encodingFormat = format_of(file);
    auto decoder = std::make_unique<ma_decoder>();
    if (ma_decoder_init_memory(file.data(), file.size(), &config, decoder.get()) != MA_SUCCESS)
        return nullptr;
    return Decoder(decoder.release());
}

std::unexpected<base::Error> unreadable(const std::string& reason) {
    return base::fail(Code::audio_invalid, "An audio could not be read: " + reason);
}

base::Result<std::vector<float>> read_all(ma_decoder& decoder, size_t samples_min, size_t samples_max) {
    std::vector<float> samples;
    std::array<float, kFramesPerRead> piece;
    while (true) {
        ma_uint64 frames = 0;
        const ma_result result = ma_decoder_read_pcm_frames(&decoder, piece.data(), piece.size(), &frames);
        std::transform(piece.data(), piece.data() + frames, std::back_inserter(samples), bounded);
        if (samples.size() > samples_max) {
            return unreadable("the audio of a prompt is longer than " +
                              std::to_string(AudioFile::kSecondsMax) + " seconds.");
        }
        if (result != MA_SUCCESS || frames == 0) break;
    }
    if (samples.size() < samples_min) return unreadable("it is shorter than a tenth of a second.");
    return samples;
}

} // namespace

base::Result<std::vector<float>> decode_audio(std::span<const uint8_t> file, int32_t sample_rate,
                                              size_t samples_max) {
    try {
        const Decoder decoder = open_file(file, sample_rate);
        if (decoder == nullptr) return unreadable("it is no WAV, FLAC or MP3 file, or it is damaged.");
        return read_all(*decoder, static_cast<size_t>(sample_rate / kPartOfSecondMin), samples_max);
    } catch (const std::bad_alloc&) {
        return base::fail(Code::out_of_memory, "There is not enough memory for this audio.");
    }
}

} // namespace llama
