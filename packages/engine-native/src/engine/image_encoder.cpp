#include "engine/image_encoder.h"

#include "engine/events.h"

#include <algorithm>
#include <utility>

namespace engine {

using base::ImageId;

namespace {

/// Minimum time that an encoding holds the cores: shorter pieces would be spent on waking its threads.
constexpr double kPieceMsMin = 20;

} // namespace

ImageEncoder::ImageEncoder(llama::Vision& vision, std::function<void()> on_done)
    : vision_(vision),
      on_done_(std::move(on_done)),
      thread_([this](const std::stop_token& stop) { run(stop); }) {}

ImageEncoder::~ImageEncoder() {
    thread_.request_stop();
    thread_.join();
}

void ImageEncoder::want(const Part& part) {
    {
        std::lock_guard lock(mutex_);
        const auto is_same = [&](const Part& other) { return other->id() == part->id(); };
        if (encoding_ == part->id() && !is_given_up_.load()) return;
        if (std::ranges::any_of(queue_, is_same)) return;
        queue_.push_back(part);
    }
    arrived_.notify_one();
}

void ImageEncoder::keep_only(const std::function<bool(ImageId)>& is_wanted) {
    std::lock_guard lock(mutex_);
    std::erase_if(queue_, [&](const Part& part) { return !is_wanted(part->id()); });
    if (encoding_ && !is_wanted(*encoding_)) is_given_up_.store(true);
}

std::vector<ImageEncoder::Done> ImageEncoder::take_done() {
    std::lock_guard lock(mutex_);
    return std::exchange(done_, {});
}

void ImageEncoder::run(const std::stop_token& stop) {
    while (true) {
        Part part;
        {
            std::unique_lock lock(mutex_);
            if (queue_.empty()) piece_taken_ms_.store(0);
            if (!arrived_.wait(lock, stop, [this] { return !queue_.empty(); }) || stop.stop_requested())
                return;
            part = std::move(queue_.front());
            queue_.pop_front();
            encoding_ = part->id();
            is_given_up_.store(false);
        }
        base::Result<Embedding> embedding = encode(*part, stop);
        {
            std::lock_guard lock(mutex_);
            encoding_.reset();
            if (!is_given_up_.load())
                done_.push_back({.image = part->id(), .embedding = std::move(embedding)});
        }
        on_done_();
    }
}

base::Result<Embedding> ImageEncoder::encode(const llama::ImagePart& part, const std::stop_token& stop) {
    std::unique_lock cores(cores_, std::defer_lock);
    if (vision_.is_on_cpu()) cores.lock();
    Clock::time_point begun = Clock::now();
    base::Result<std::vector<float>> numbers = vision_.encode(part, [&] {
        const double ms = milliseconds(begun);
        if (ms >= std::max(kPieceMsMin, piece_ms_.load())) {
            piece_taken_ms_.store(ms);
            cores.unlock();
            cores.lock();
            begun = Clock::now();
        }
        return !stop.stop_requested() && !is_given_up_.load();
    });
    if (!numbers) return std::unexpected(numbers.error());
    return std::make_shared<const std::vector<float>>(std::move(*numbers));
}

} // namespace engine
