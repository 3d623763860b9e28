// Decodes audio files to samples, with the miniaudio that llama.cpp vendors. Files come from untrusted clients: the caller has
// checked their headers, and here the number of samples is bounded whatever a header says.
#pragma once

#include "base/fields.h"
#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace llama {

/// A WAV, FLAC or MP3 file.
struct AudioFile {
    static constexpr size_t kBytesMax = size_t{64} * 1024 * 1024;
    /// Maximum length, of one file and of all files of a prompt: some 150 MB while they are prepared.
    static constexpr int32_t kSecondsMax = 600;

    std::vector<uint8_t> data;
};

constexpr auto fields_of(const AudioFile*) {
    return base::rows(base::field("data", &AudioFile::data, {.size_max = AudioFile::kBytesMax}));
}

/// The samples of all channels mixed into one, at `sample_rate` in Hz, all of them finite. `audio_invalid` for a file that cannot
/// be decoded, that is shorter than a tenth of a second, or that has more than `samples_max` samples; `out_of_memory`. Any thread.
base::Result<std::vector<float>> decode_audio(std::span<const uint8_t> file, int32_t sample_rate,
                                              size_t samples_max);

} // namespace llama
