// The images of the requests in the house: which are encoded, which are on their way, and what earlier ones left. Asked by
// the scheduler when a sequence comes to an image. Engine thread only.
#pragma once

#include "base/result.h"
#include "engine/image_encoder.h"
#include "llama/vision/vision.h"
#include "sched/image_source.h"
#include "sched/request.h"

#include <functional>
#include <list>
#include <memory>
#include <unordered_map>
#include <vector>

namespace engine {

class Images final : public sched::ImageSource {
public:
    /// Null for a model that reads no pictures. `on_ready` is called on another thread when there is something new.
    Images(llama_rt::Vision* vision, std::function<void()> on_ready);

    /// A request that has images.
    void add(base::RequestId id, llama_rt::ImageParts parts);
    /// A request has ended.
    void forget(base::RequestId id);

    /// Where it is not there yet, it is encoded, and the one after it, so that both threads have something to do.
    bool has(base::RequestId id, base::ImageId image) override;

    struct Failure {
        base::RequestId id;
        base::Error error;
    };
    /// Takes in what the encoder has done. Returns the requests whose image could not be encoded, each once, however many of
    /// its images failed.
    std::vector<Failure> receive();

    struct Source {
        const llama_rt::ImagePart* part;
        const float* embedding;
    };
    /// What a step is computed from that has() was true for.
    Source source(const sched::Step& step) const;

    /// A step is computed: where it was the end of an image, that is not held for this request any more.
    void computed(const sched::Step& step);

    /// Held while the engine computes; see ImageEncoder.
    TakingTurns* cores() { return encoder_ == nullptr ? nullptr : &encoder_->cores(); }
    void set_piece(double ms);
    double piece_taken_ms() const { return encoder_ == nullptr ? 0 : encoder_->piece_taken_ms(); }

    /// Ends the encoder's thread; nothing is to be called after that. Any thread, once the engine's has ended.
    void stop() { encoder_.reset(); }

    /// Images that were encoded so far.
    uint64_t encoded() const { return encoded_; }

private:
    struct OfRequest {
        llama_rt::ImageParts parts;
        /// Those that it has come to.
        std::unordered_map<base::ImageId, Embedding> held;
        bool waits = false;
        /// receive() has returned it: the caller ends it.
        bool has_failed = false;
    };
    struct Kept {
        base::ImageId image;
        Embedding embedding;
    };

    Embedding find(base::ImageId image);
    void keep(base::ImageId image, Embedding embedding);
    void drop_unwanted();

    std::unordered_map<base::RequestId, OfRequest> requests_;
    /// What encoded images left, most recently used first.
    std::list<Kept> kept_;
    std::unordered_map<base::ImageId, std::list<Kept>::iterator> kept_by_id_;
    size_t kept_bytes_ = 0;
    uint64_t encoded_ = 0;
    /// Null without a projector. Last: its thread ends first.
    std::unique_ptr<ImageEncoder> encoder_;
};

} // namespace engine
