// Encodes images on a separate thread, one after the other, while the engine computes its steps. If both use the CPU, they
// alternate: a piece of an encoding takes as long as a step that only decodes, so that decoding continues at half its speed.
// While nothing decodes, a piece takes as long as the last step.
#pragma once

#include "base/result.h"
#include "base/threads.h"
#include "llama/vision/vision.h"

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

namespace engine {

using Embedding = std::shared_ptr<const std::vector<float>>;

class ImageEncoder {
public:
    using Part = std::shared_ptr<const llama::ImagePart>;

    struct Done {
        base::ImageId image;
        base::Result<Embedding> embedding;
    };

    /// `on_done` is called on the encoder's thread after each image.
    ImageEncoder(llama::Vision& vision, std::function<void()> on_done);
    ~ImageEncoder();
    ImageEncoder(const ImageEncoder&) = delete;
    ImageEncoder& operator=(const ImageEncoder&) = delete;

    /// Queues an image, unless it is queued already.
    void want(const Part& part);

    /// Removes all other images from the queue. The one being encoded is abandoned unless it is this one.
    void keep_only(const std::function<bool(base::ImageId)>& is_wanted);

    /// Images that were encoded, or failed, since the last call.
    std::vector<Done> take_done();

    /// Held by the engine's thread while it computes.
    base::RoundRobinLock& cores() { return cores_; }
    /// Sets how long a piece of an encoding should take.
    void set_piece(double ms) { piece_ms_.store(ms); }
    /// How long the last piece took (a piece ends with a node of the graph); 0 while nothing is encoded.
    double piece_taken_ms() const { return piece_taken_ms_.load(); }

private:
    void run(const std::stop_token& stop);
    base::Result<Embedding> encode(const llama::ImagePart& part, const std::stop_token& stop);

    llama::Vision& vision_;
    const std::function<void()> on_done_;

    base::RoundRobinLock cores_;
    std::atomic<double> piece_ms_ = 0;
    std::atomic<double> piece_taken_ms_ = 0;
    std::atomic<bool> is_given_up_ = false;

    // Guarded by mutex_.
    std::mutex mutex_;
    std::condition_variable_any arrived_;
    std::deque<Part> queue_;
    std::optional<base::ImageId> encoding_;
    std::vector<Done> done_;

    /// Last, so that it ends before anything it uses is destroyed.
    std::jthread thread_;
};

} // namespace engine
