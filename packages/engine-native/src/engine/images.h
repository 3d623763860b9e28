// The images and audio of the requests in flight, encoded or being encoded, and a cache of earlier ones. The scheduler asks for an image
// when a sequence has reached it. Engine thread only.
#pragma once

#include "engine/events.h"
#include "engine/image_encoder.h"
#include "llama/vision/vision.h"
#include "sched/step.h"

#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace engine {

class Images final : public sched::ImageSource {
public:
    /// `vision` is null for a model without image and audio input. `on_ready` is called on another thread when an image is encoded.
    Images(llama::Vision* vision, std::function<void()> on_ready);

    /// Adds a request with its images, which may be none.
    void add(base::RequestId id, llama::ImageParts parts);
    /// A request has ended.
    void forget(base::RequestId id);

    /// If the image is not encoded yet, starts encoding it and the one after it, so that both threads have something to do.
    bool prepare(base::RequestId id, base::ImageId image) override;

    /// Takes the encoder's results. Returns the requests with an image that could not be encoded, each once, however many of its
    /// images failed.
    std::vector<FailureEvent> receive();

    struct Source {
        const llama::ImagePart* part;
        const float* embedding;
    };
    /// The embeddings that an entry is computed from. REQUIRES: prepare() has returned true for it.
    Source source(const sched::BatchEntry& entry) const;

    /// Whether the image's tokens attend to each other.
    bool is_whole(const sched::BatchEntry& entry) const;

    /// An entry is computed: if it reached the image's end, the image is no longer held for this request.
    void computed(const sched::BatchEntry& entry);

    /// Held while the engine computes; see ImageEncoder. Null without a projector.
    base::RoundRobinLock* cores() { return encoder_ == nullptr ? nullptr : &encoder_->cores(); }
    void set_piece(double ms);
    double piece_taken_ms() const { return encoder_ == nullptr ? 0 : encoder_->piece_taken_ms(); }

    /// Ends the encoder's thread; nothing may be called after that. Any thread, once the engine's has ended.
    void stop() { encoder_.reset(); }

    /// Number of images encoded so far.
    uint64_t encoded() const { return encoded_; }

private:
    struct OfRequest {
        llama::ImageParts parts;
        /// Images that the request has reached and not computed yet.
        std::unordered_map<base::ImageId, Embedding> held;
        bool waits = false;
        /// receive() has returned the request, and the caller ends it.
        bool has_failed = false;
    };
    struct Kept {
        base::ImageId image;
        Embedding embedding;
    };

    Embedding use_kept(base::ImageId image);
    void keep(base::ImageId image, Embedding embedding);
    void drop_unwanted();

    std::unordered_map<base::RequestId, OfRequest> requests_;
    /// Encoded images, most recently used first.
    std::list<Kept> kept_;
    std::unordered_map<base::ImageId, std::list<Kept>::iterator> kept_by_id_;
    size_t kept_bytes_ = 0;
    uint64_t encoded_ = 0;
    llama::Vision* vision_;
    /// Null without a projector. Last, so its thread ends first.
    std::unique_ptr<ImageEncoder> encoder_;
};

} // namespace engine
