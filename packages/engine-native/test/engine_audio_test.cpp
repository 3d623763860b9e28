// Texts about audio: those of llama.cpp's own way, with its own decoder of audio files; audio next to images; equal and other
// audios in the prefix cache; and files that are refused.
#include "check.h"
#include "engine_harness.h"
#include "llama/audio/decode_audio.h"
#include "mtmd_reference.h"

#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <numbers>
#include <string>
#include <vector>

using llama::AudioFile;
using llama::Media;
using llama::RgbImage;
using test::EngineHarness;
using test::ModelPtr;

namespace {

constexpr int32_t kRate = 16'000;

template <class T>
void append(std::vector<uint8_t>& bytes, const T& value) {
    const auto* first = reinterpret_cast<const uint8_t*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof value);
}

void append(std::vector<uint8_t>& bytes, const char* text) {
    bytes.insert(bytes.end(), text, text + std::strlen(text));
}

/// A WAV file of samples of type T: int16_t, or float.
template <class T>
AudioFile wav(const std::vector<T>& samples, int32_t rate = kRate, uint16_t channels = 1) {
    const auto data_bytes = static_cast<uint32_t>(samples.size() * sizeof(T));
    const auto frame_bytes = static_cast<uint16_t>(channels * sizeof(T));
    AudioFile file;
    append(file.data, "RIFF");
    append(file.data, uint32_t{36} + data_bytes);
    append(file.data, "WAVEfmt ");
    append(file.data, uint32_t{16});
    append(file.data, static_cast<uint16_t>(std::is_floating_point_v<T> ? 3 : 1));
    append(file.data, channels);
    append(file.data, static_cast<uint32_t>(rate));
    append(file.data, static_cast<uint32_t>(rate * frame_bytes));
    append(file.data, frame_bytes);
    append(file.data, static_cast<uint16_t>(8 * sizeof(T)));
    append(file.data, "data");
    append(file.data, data_bytes);
    for (const T sample : samples) append(file.data, sample);
    return file;
}

/// Tones that are different for each number.
std::vector<int16_t> sound(int32_t number, double seconds, int32_t rate = kRate, int32_t channels = 1) {
    std::vector<int16_t> samples;
    const auto frames = static_cast<int32_t>(seconds * rate);
    for (int32_t i = 0; i < frames; ++i) {
        const double time = static_cast<double>(i) / rate;
        const double pitch = 150 + 90 * number + 40 * std::sin(2 * std::numbers::pi * time * number);
        const double loudness = 0.5 + 0.4 * std::sin(std::numbers::pi * time * (number + 1));
        const double value =
            loudness *
            (std::sin(2 * std::numbers::pi * pitch * time) + std::sin(5 * std::numbers::pi * pitch * time)) /
            2;
        for (int32_t channel = 0; channel < channels; ++channel)
            samples.push_back(static_cast<int16_t>(32'000 * value / (channel + 1)));
    }
    return samples;
}

RgbImage picture() {
    RgbImage image{.width = 96, .height = 64, .data = {}};
    for (int32_t i = 0; i < 96 * 64 * 3; ++i) image.data.push_back(static_cast<uint8_t>(i * 7 % 256));
    return image;
}

/// The same, decoded by llama.cpp's helper.
std::vector<mtmd::bitmap> bitmaps_of(const test::MtmdReference& reference, const std::vector<Media>& media) {
    std::vector<mtmd::bitmap> bitmaps;
    for (const Media& one : media) {
        if (const auto* image = std::get_if<RgbImage>(&one)) {
            bitmaps.emplace_back(static_cast<uint32_t>(image->width), static_cast<uint32_t>(image->height),
                                 image->data.data());
            continue;
        }
        const std::vector<uint8_t>& file = std::get<AudioFile>(one).data;
        bitmaps.emplace_back(mtmd_helper_bitmap_init_from_buf(reference.projector(), file.data(), file.size(),
                                                              false, mtmd_helper_init_opt_default())
                                 .bitmap);
        if (bitmaps.back().ptr == nullptr) throw std::runtime_error("llama.cpp cannot read the audio");
    }
    return bitmaps;
}

void check_replies(const char* variable,
                   const std::vector<std::pair<std::string, std::vector<Media>>>& prompts) {
    const ModelPtr model = test::tiny_model(variable, true);
    const test::MtmdReference llama_cpp(model, variable);
    std::vector<std::string> texts;
    for (const auto& [text, media] : prompts) {
        CAPTURE(variable);
        CAPTURE(text);
        const std::string reply = test::text_of_engine(model, text, media);
        CHECK_EQ(reply, llama_cpp.reply(text, bitmaps_of(llama_cpp, media)));
        CHECK(std::ranges::find(texts, reply) == texts.end()); // it depends on what is heard
        texts.push_back(reply);
    }
}

std::string refused(const ModelPtr& model, const Media& media) {
    const auto prompt = model->vision()->tokenize({.text = "@"}, "@", std::vector{media});
    return prompt ? "accepted" : prompt.error().message;
}

} // namespace

TEST_CASE("audio: texts are those of llama.cpp's own way") {
    // Other sounds, two audios, more than one window, and a file that is resampled and mixed.
    for (const char* variable : {"INGLE_TINY_LFM2_AUDIO", "INGLE_TINY_GEMMA3_AUDIO"}) {
        check_replies(variable, {
                                    {"What is @ this?", {wav(sound(1, 3))}},
                                    {"What is @ this?", {wav(sound(2, 3))}},
                                    {"@ Which of both is @ louder?", {wav(sound(3, 2)), wav(sound(4, 5))}},
                                    {"Write @ down.", {wav(sound(5, 33))}},
                                    {"A song @ ends.", {wav(sound(6, 3, 44'100, 2), 44'100, 2)}},
                                });
    }
}

TEST_CASE(
    "audio: texts of LFM2-Audio's encoder are those of llama.cpp's own way, however long the audio is") {
    check_replies("INGLE_TINY_LFM2_CONFORMER",
                  {
                      {"What is @ this?", {wav(sound(1, 3))}},
                      {"What is @ this?", {wav(sound(2, 0.3))}},
                      {"@ Which is @ louder?", {wav(sound(3, 2)), wav(sound(4, 5))}},
                      {"Write @ down.", {wav(sound(5, 31))}},
                      {"A song @ ends.", {wav(sound(6, 3, 44'100, 2), 44'100, 2)}},
                  });
}

TEST_CASE("audio: with positions in three dimensions, alone and beside an image") {
    check_replies("INGLE_TINY_QWEN2_OMNI", {
                                               {"What is @ this?", {wav(sound(1, 3))}},
                                               {"Does @ fit @ well?", {picture(), wav(sound(2, 3))}},
                                               {"@ and @ too", {wav(sound(3, 3)), picture()}},
                                               {"@ then @ too", {wav(sound(4, 3)), picture()}},
                                               {"First @ then @ here", {wav(sound(5, 3)), picture()}},
                                           });
}

TEST_CASE("audio: equal audios are equal tokens, others are not, and the count is that of their tokens") {
    const ModelPtr model = test::tiny_model("INGLE_TINY_LFM2_AUDIO", true);
    const auto tokens = [&](int32_t number, double seconds) {
        auto prompt =
            model->vision()->tokenize({.text = "@"}, "@", std::vector<Media>{wav(sound(number, seconds))});
        REQUIRE(prompt.has_value());
        return std::pair(prompt->tokens, prompt->audio_tokens);
    };
    const auto [first, count] = tokens(1, 2);
    CHECK_EQ(count, 125);
    CHECK_EQ(std::ranges::count_if(first, base::is_image), 125);
    CHECK(tokens(1, 2).first == first);
    CHECK(tokens(2, 2).first != first);
    CHECK_EQ(tokens(3, 31).second, 250); // two windows of half a minute
    // Two windows of silence are equal, and still two.
    const std::vector<int16_t> silence(kRate * 61);
    auto silent = model->vision()->tokenize({.text = "@"}, "@", std::vector<Media>{wav(silence)});
    REQUIRE(silent.has_value());
    CHECK_EQ(silent->audio_tokens, 375);
    CHECK_EQ(silent->images.size(), size_t{3});
}

TEST_CASE("audio: a second question computes only what is new, and another audio is not taken for it") {
    const ModelPtr model = test::tiny_model("INGLE_TINY_GEMMA3_AUDIO", true);
    engine::EngineOptions options = test::few_places();
    options.context.context_length = 512;
    options.context.cells = 1024;
    options.context.batch_tokens = 64;
    options.drops_turns = false;
    EngineHarness harness(model, options);
    const auto ask = [&](const std::string& text, int32_t number) {
        auto prompt =
            model->vision()->tokenize({.text = text}, "@", std::vector<Media>{wav(sound(number, 2))});
        REQUIRE(prompt.has_value());
        const auto reply = harness.generate(
            {.prompt = std::move(prompt->tokens), .tokens = 6, .images = std::move(prompt->images)});
        REQUIRE(reply.is_whole());
        return reply;
    };
    const auto first = ask("Listen: @ What is it?", 1);
    CHECK(ask("Listen: @ Who is it?", 1).cached >= 125);
    CHECK(ask("Listen: @ What is it?", 2).cached < 125);
    CHECK_EQ(ask("Listen: @ What is it?", 1).text, first.text);
}

TEST_CASE("audio: what cannot be heard is refused") {
    const ModelPtr model = test::tiny_model("INGLE_TINY_LFM2_AUDIO", true);
    const std::string unreadable = "An audio could not be read: ";
    CHECK_EQ(refused(model, AudioFile{}), unreadable + "it is no WAV, FLAC or MP3 file, or it is damaged.");
    AudioFile cut = wav(sound(1, 1));
    cut.data.resize(30);
    CHECK_EQ(refused(model, cut), unreadable + "it is no WAV, FLAC or MP3 file, or it is damaged.");
    CHECK_EQ(refused(model, wav(sound(1, 0.05))), unreadable + "it is shorter than a tenth of a second.");
    const std::vector<int16_t> endless(size_t{8'000} * (AudioFile::kSecondsMax + 1));
    CHECK_EQ(refused(model, wav(endless, 8'000)),
             unreadable + "the audio of a prompt is longer than 600 seconds.");
    const std::vector<int16_t> half(size_t{8'000} * (AudioFile::kSecondsMax / 2 + 1));
    const auto both = model->vision()->tokenize({.text = "@@"}, "@",
                                                std::vector<Media>{wav(half, 8'000), wav(half, 8'000)});
    CHECK(!both.has_value());
    CHECK(refused(model, picture()).starts_with("This model's projector reads audio, and no images."));
    const ModelPtr sees = test::tiny_model("INGLE_TINY_LFM2VL", true);
    CHECK(refused(sees, wav(sound(1, 1))).starts_with("This model's projector reads images, and no audio."));
}

TEST_CASE("audio: samples are finite and bounded, and a header that claims more than there is does no harm") {
    std::vector<float> samples(kRate, 0.25F);
    samples[1] = std::numeric_limits<float>::quiet_NaN();
    samples[2] = std::numeric_limits<float>::infinity();
    samples[3] = -1e30F;
    AudioFile file = wav(samples);
    const auto decoded = llama::decode_audio(file.data, kRate, 10 * kRate);
    REQUIRE(decoded.has_value());
    CHECK(std::ranges::all_of(*decoded, [](float sample) { return std::abs(sample) <= 16; }));
    const uint32_t huge = 0xFFFF'FFF0;
    std::memcpy(&file.data[40], &huge, sizeof huge);
    const auto claimed = llama::decode_audio(file.data, kRate, 10 * kRate);
    CHECK((!claimed.has_value() || claimed->size() <= samples.size()));
}
