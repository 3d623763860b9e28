// The engine on tiny vision models: hybrid with tiles (LFM2-VL), images whose tokens attend to each other (Gemma 3), and
// positions in two dimensions (Qwen2-VL).
#include "check.h"
#include "engine_harness.h"
#include "llama/backend/backend.h"
#include "llama_faults.h"
#include "short_memory.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

using llama::RgbImage;
using llama::Vision;
using test::EngineHarness;
using test::Fault;
using test::ModelPtr;
using test::Reply;
using test::TextRequest;

namespace {

std::vector<ModelPtr> models_that_see() {
    std::vector<ModelPtr> models;
    for (const char* name : {"INGLE_TINY_LFM2VL", "INGLE_TINY_GEMMA3VL", "INGLE_TINY_QWEN2VL"})
        models.push_back(test::tiny_model(name, true));
    return models;
}

/// Stripes and blots that are different for each number.
RgbImage picture(int32_t number, int32_t width = 96, int32_t height = 64) {
    RgbImage image{.width = width, .height = height, .data = {}};
    for (int32_t y = 0; y < height; ++y) {
        for (int32_t x = 0; x < width; ++x) {
            for (int32_t channel = 0; channel < 3; ++channel) {
                const int32_t value = (x * (number + channel) + y * (3 * number + 1)) / 8 * 37 + number * 71;
                image.data.push_back(static_cast<uint8_t>(value % 256));
            }
        }
    }
    return image;
}

/// A prompt in which each "@" is an image.
TextRequest generate(const ModelPtr& model, const std::string& text,
                     const std::vector<llama::Media>& pictures, int32_t tokens = 6) {
    auto prompt = model->vision()->tokenize({.text = text}, "@", pictures);
    if (!prompt) throw std::runtime_error(prompt.error().message);
    return {.prompt = std::move(prompt->tokens), .tokens = tokens, .images = std::move(prompt->images)};
}

engine::EngineOptions roomy() {
    engine::EngineOptions options = test::few_places();
    options.context.context_length = 512;
    options.context.cells = 1024;
    options.context.batch_tokens = 64;
    options.drops_turns = false;
    return options;
}

/// The text of each request alone and without sharing.
std::vector<std::string> whole_texts_alone(const ModelPtr& model, std::vector<TextRequest> requests) {
    std::vector<std::string> texts;
    for (TextRequest& request : requests) {
        request.uses_cache = false;
        EngineHarness harness(model, roomy());
        const Reply reply = harness.generate(request);
        REQUIRE(reply.is_whole());
        texts.push_back(reply.text);
    }
    return texts;
}

} // namespace

TEST_CASE("images: equal images have equal tokens, others do not") {
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        const TextRequest one = generate(model, "a @ b", {picture(1)});
        CHECK(one.prompt == generate(model, "a @ b", {picture(1)}).prompt);
        CHECK(one.prompt != generate(model, "a @ b", {picture(2)}).prompt);
        const TextRequest both = generate(model, "@@", {picture(1), picture(1)});
        CHECK_EQ(both.images.size(), one.images.size());
        CHECK_EQ(std::ranges::count_if(both.prompt, base::is_image), 2 * one.images[0]->tokens());
    }
}

TEST_CASE("images: the reply depends on the image and on the text around it") {
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        const std::vector<std::string> texts =
            whole_texts_alone(model, {generate(model, "What is @ this?", {picture(1)}, 12),
                                      generate(model, "What is @ this?", {picture(2)}, 12),
                                      generate(model, "Who is @ there?", {picture(1)}, 12)});
        CHECK(texts[0] != texts[1]);
        CHECK(texts[0] != texts[2]);
    }
}

TEST_CASE("images: texts are the same alone, beside others, and with shared prefixes") {
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        const std::vector<TextRequest> requests{
            generate(model, "Look at this long beginning of a text: @ What is it?", {picture(1)}),
            generate(model, "Look at this long beginning of a text: @ And @ what is that?",
                     {picture(1), picture(2)}),
            generate(model, "@@@ three pictures", {picture(3), picture(1), picture(3, 40, 200)}),
            generate(model, "no picture at all, but some words", {}),
            generate(model, "Look at this long beginning of a text: @", {picture(2)}),
        };
        const std::vector<std::string> texts = whole_texts_alone(model, requests);
        EngineHarness harness(model, roomy());
        for (int round = 0; round < 2; ++round) {
            const std::vector<Reply> replies = harness.generate_all(requests);
            for (size_t i = 0; i < replies.size(); ++i) CHECK_EQ(replies[i].text, texts[i]);
        }
    }
}

TEST_CASE("images: a second request about an image encodes nothing and computes only what is new") {
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model, roomy());
        CHECK(
            harness.generate(generate(model, "Look here, at this: @ What is it?", {picture(1)})).is_whole());
        const uint64_t encoded = harness.engine->stats().images_encoded;
        CHECK(encoded >= 1);
        const TextRequest second = generate(model, "Look here, at this: @ And where?", {picture(1)});
        const std::string alone = whole_texts_alone(model, {second})[0];
        const Reply reply = harness.generate(second);
        CHECK_EQ(reply.text, alone);
        const auto last = std::find_if(second.prompt.rbegin(), second.prompt.rend(), base::is_image);
        CHECK(reply.cached >= static_cast<int32_t>(second.prompt.rend() - last));
        CHECK_EQ(harness.engine->stats().images_encoded, encoded);
        // At another position it is computed again, but not encoded.
        CHECK(harness.generate(generate(model, "Another text. @", {picture(1)})).is_whole());
        CHECK_EQ(harness.engine->stats().images_encoded, encoded);
    }
}

TEST_CASE("images: requests with images that are preempted have the same texts") {
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        std::vector<TextRequest> requests;
        for (int32_t i = 0; i < 6; ++i) {
            const std::string words =
                "Some words before the picture number " + std::to_string(i) + " @ and after";
            requests.push_back(generate(model, words, {picture(i)}, 40));
        }
        const std::vector<std::string> texts = whole_texts_alone(model, requests);
        engine::EngineOptions options = roomy();
        // Cells for little more than one request.
        const auto longest = static_cast<int32_t>(requests[0].prompt.size());
        options.context.context_length = options.context.cells = longest + 70;
        options.cache_ram_bytes = 1 << 22;
        EngineHarness harness(model, options);
        const std::vector<Reply> replies = harness.generate_all(requests);
        for (size_t i = 0; i < replies.size(); ++i) CHECK_EQ(replies[i].text, texts[i]);
        // Evicted state is swapped in, with the image in it.
        const Reply again = harness.generate(requests[0]);
        CHECK_EQ(again.text, texts[0]);
    }
}

TEST_CASE("images: a request can be cancelled while its image is encoded, and no other changes") {
    constexpr std::chrono::seconds kHoldMax{10};
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        const TextRequest text{.prompt = generate(model, "only words", {}).prompt, .tokens = 60};
        const std::string alone = whole_texts_alone(model, {text})[0];
        EngineHarness harness(model, roomy());
        // No step ends between a submit and its cancel: on a busy machine the reply could be whole by then.
        std::atomic<bool> is_held = false;
        const test::WithFaults with({.decode = [&](const llama_batch&) {
            const auto until = std::chrono::steady_clock::now() + kHoldMax;
            while (is_held && std::chrono::steady_clock::now() < until) std::this_thread::yield();
            return Fault::none;
        }});
        const base::RequestId running = harness.submit(text);
        for (int32_t i = 0; i < 8; ++i) {
            const TextRequest seeing = generate(model, "a @ b", {picture(100 + i, 600, 400)});
            is_held = true;
            const base::RequestId id = harness.submit(seeing);
            harness.engine->cancel(id);
            is_held = false;
            CHECK(harness.wait(id).reason == engine::FinishReason::cancelled);
        }
        CHECK_EQ(harness.wait(running).text, alone);
        CHECK(harness.generate(generate(model, "a @ b", {picture(1)})).is_whole());
    }
}

TEST_CASE("images: an engine can be stopped at any moment") {
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        for (int32_t delay = 0; delay < 40; ++delay) {
            EngineHarness harness(model, roomy());
            std::vector<base::RequestId> ids;
            for (int32_t i = 0; i < 4; ++i)
                ids.push_back(
                    harness.submit(generate(model, "some words @", {picture(200 + i, 500, 500)}, 30)));
            std::this_thread::sleep_for(std::chrono::milliseconds(delay));
            harness.engine->stop();
            for (const base::RequestId id : ids) {
                const Reply reply = harness.wait(id);
                CHECK((reply.is_whole() || reply.error == base::Code::disposed));
            }
        }
    }
}

TEST_CASE("images: a request whose images fail together ends once, and others go on") {
    // The encoder's thread can allocate nothing larger, so no image is encoded. The other threads have their memory by then.
    constexpr size_t kLarge = size_t{64} * 1024;
    constexpr std::chrono::milliseconds kWait{200};
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        const TextRequest text{.prompt = generate(model, "only words", {}).prompt, .tokens = 60};
        const std::string alone = whole_texts_alone(model, {text})[0];
        const auto seeing = [&](int32_t first) {
            return generate(model, "@@", {picture(first, 600, 400), picture(first + 1, 600, 400)});
        };
        engine::EngineOptions options = roomy();
        options.context.context_length = options.context.cells = 2048;
        EngineHarness harness(model, options);
        const std::vector<Reply> before = harness.generate_all({text, seeing(3)});
        CHECK_EQ(before[0].text, alone);
        CHECK(before[1].is_whole());
        std::atomic<bool> is_armed = false;
        // The engine is busy until both images have failed, and receives both failures at once.
        const test::WithFaults with({.decode = [&](const llama_batch&) {
            const auto until = std::chrono::steady_clock::now() + kWait;
            while (is_armed && std::chrono::steady_clock::now() < until) {
                if (test::ShortMemory::asked() >= 2) is_armed = false;
                std::this_thread::yield();
            }
            return Fault::none;
        }});
        const base::RequestId running = harness.submit(text);
        base::RequestId failing = 0;
        {
            const test::ShortMemory memory(kLarge);
            failing = harness.submit(seeing(1));
            is_armed = true;
            CHECK(harness.wait(failing).error.has_value());
        }
        CHECK_EQ(harness.wait(failing).ends, 1);
        is_armed = false;
        CHECK_EQ(harness.wait(running).text, alone);
    }
}

TEST_CASE("images: a prompt is refused that does not fit the context, or whose images are missing") {
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        engine::EngineOptions options = roomy();
        TextRequest request = generate(model, "@@@@", {picture(1), picture(2), picture(3), picture(4)});
        options.context.context_length = static_cast<int32_t>(request.prompt.size());
        EngineHarness harness(model, options);
        CHECK(test::is_refused(harness, request));
        TextRequest foreign = generate(model, "@", {picture(1)});
        foreign.images.clear();
        CHECK(test::is_refused(harness, foreign));
        TextRequest cut = generate(model, "@", {picture(1)});
        cut.prompt.erase(std::ranges::find_if(cut.prompt, base::continues_image));
        CHECK(test::is_refused(harness, cut));
    }
}

TEST_CASE("images: odd shapes are read or refused") {
    for (const ModelPtr& model : models_that_see()) {
        CAPTURE(model->info().architecture);
        EngineHarness harness(model, [] {
            engine::EngineOptions options = roomy();
            options.context.context_length = options.context.cells = 8192;
            return options;
        }());
        struct Size {
            int32_t width;
            int32_t height;
        };
        for (const auto& [width, height] :
             {Size{1, 1}, Size{1, 700}, Size{700, 1}, Size{3, 2}, Size{2000, 20}, Size{511, 513}}) {
            const auto prompt = model->vision()->tokenize(
                {.text = "a @"}, "@", std::vector<llama::Media>{picture(1, width, height)});
            if (!prompt) continue;
            TextRequest request{.prompt = prompt->tokens, .tokens = 2, .images = prompt->images};
            CHECK(harness.generate(request).is_whole());
        }
        const RgbImage empty{.width = 0, .height = 4, .data = {}};
        const RgbImage short_of{.width = 2, .height = 2, .data = {1, 2, 3}};
        const RgbImage huge{.width = RgbImage::kSideMax + 1, .height = 1, .data = {}};
        for (const RgbImage& wrong : {empty, short_of, huge})
            CHECK(
                !model->vision()->tokenize({.text = "@"}, "@", std::vector<llama::Media>{wrong}).has_value());
        CHECK(!model->vision()
                   ->tokenize({.text = "no place for it"}, "@", std::vector<llama::Media>{picture(1)})
                   .has_value());
    }
}

TEST_CASE("images: the projector of another model is refused") {
    const std::atomic<bool> is_aborted = false;
    llama::ModelOptions options{
        .path = test::tiny_file("INGLE_TINY_LFM2VL"), .gpu_layers = 0, .mmap = true, .mlock = false};
    options.vision =
        llama::VisionOptions{.path = test::tiny_file("INGLE_TINY_WIDE_MMPROJ"), .uses_gpu = false};
    const auto loaded = llama::Model::load(options, [](float) {}, is_aborted);
    REQUIRE(!loaded.has_value());
    CHECK(loaded.error().code == base::Code::projector_mismatch);
}

TEST_CASE("images: switching attention for an image throws no graph away") {
    const ModelPtr model = test::tiny_model("INGLE_TINY_GEMMA3VL", true);
    std::atomic<int> reserved = 0;
    llama::set_log_sink([&](int, const char* line) {
        if (std::string(line).find("reserving ...") != std::string::npos) reserved += 1;
    });
    {
        EngineHarness harness(model, roomy());
        CHECK(reserved.load() > 0); // the context's own
        reserved = 0;
        const std::vector<Reply> replies = harness.generate_all(
            {generate(model, "What is @ this?", {picture(1)}), generate(model, "And @ this?", {picture(2)})});
        for (const Reply& reply : replies) CHECK(reply.is_whole());
    }
    llama::set_log_sink({});
    CHECK_EQ(reserved.load(), 0);
}

TEST_CASE("images: a text about an image is the same in a stream of cells") {
    for (const char* name : {"INGLE_TINY_GEMMA3VL", "INGLE_TINY_QWEN2VL"}) {
        CAPTURE(name);
        const ModelPtr model = test::tiny_model(name, true);
        const std::vector<TextRequest> requests = {generate(model, "What is @ this?", {picture(1)}, 12),
                                                   generate(model, "a b c", {}, 3),
                                                   generate(model, "What is @ this?", {picture(2)}, 12),
                                                   generate(model, "What is @ that?", {picture(1)}, 12)};
        const std::vector<std::string> texts = whole_texts_alone(model, requests);
        engine::EngineOptions options = roomy();
        options.context.kv_unified = "off";
        options.context.cells = 5 * options.context.context_length;
        EngineHarness harness(model, options);
        const std::vector<Reply> replies = harness.generate_all(requests);
        for (size_t i = 0; i < replies.size(); ++i) CHECK_EQ(replies[i].text, texts[i]);
    }
}
