#include "engine/images.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace engine {

using base::ImageId;
using base::RequestId;

namespace {

/// Memory for encoded images: some 32,000 tokens for a model with a billion parameters. An image in the prefix cache needs none
/// of it.
constexpr size_t kKeptBytesMax = size_t{256} * 1024 * 1024;

size_t bytes_of(const Embedding& embedding) {
    return embedding->size() * sizeof(float);
}

} // namespace

Images::Images(llama::Vision* vision, std::function<void()> on_ready) : vision_(vision) {
    if (vision != nullptr) encoder_ = std::make_unique<ImageEncoder>(*vision, std::move(on_ready));
}

void Images::add(RequestId id, llama::ImageParts parts) {
    if (!parts.empty()) requests_.emplace(id, OfRequest{.parts = std::move(parts), .held = {}});
}

void Images::forget(RequestId id) {
    if (requests_.erase(id) > 0) drop_unwanted();
}

void Images::drop_unwanted() {
    encoder_->keep_only([this](ImageId image) {
        return std::ranges::any_of(requests_, [&](const auto& each) {
            const OfRequest& request = each.second;
            return request.waits && llama::find_part(request.parts, image) != request.parts.end();
        });
    });
}

bool Images::prepare(RequestId id, ImageId image) {
    OfRequest& request = requests_.at(id);
    if (request.held.contains(image)) return true;
    if (Embedding embedding = use_kept(image)) {
        request.held.emplace(image, std::move(embedding));
        return true;
    }
    request.waits = true;
    const auto first = llama::find_part(request.parts, image);
    INGLE_ASSERT(first != request.parts.end());
    encoder_->want(*first);
    const auto next = std::next(first);
    if (next != request.parts.end() && !kept_by_id_.contains((*next)->id())) encoder_->want(*next);
    return false;
}

std::vector<FailureEvent> Images::receive() {
    std::vector<FailureEvent> failures;
    if (encoder_ == nullptr) return failures;
    for (ImageEncoder::Done& done : encoder_->take_done()) {
        if (done.embedding) {
            encoded_ += 1;
            keep(done.image, std::move(*done.embedding));
            continue;
        }
        for (auto& [id, request] : requests_) {
            if (request.has_failed || !request.waits) continue;
            if (llama::find_part(request.parts, done.image) == request.parts.end()) continue;
            request.has_failed = true; // further images of the request may fail, but it ends only once
            failures.push_back({.id = id, .error = done.embedding.error()});
        }
    }
    return failures;
}

Images::Source Images::source(const sched::BatchEntry& entry) const {
    const OfRequest& request = requests_.at(entry.id);
    const ImageId image = base::image_of(entry.tokens.front());
    return {.part = llama::find_part(request.parts, image)->get(),
            .embedding = request.held.at(image)->data()};
}

bool Images::is_whole(const sched::BatchEntry& entry) const {
    return vision_->is_whole(*source(entry).part);
}

void Images::computed(const sched::BatchEntry& entry) {
    OfRequest& request = requests_.at(entry.id);
    const ImageId image = base::image_of(entry.tokens.front());
    const auto part = llama::find_part(request.parts, image);
    const int32_t end = entry.image_offset + static_cast<int32_t>(entry.tokens.size());
    if (end == (*part)->tokens()) request.held.erase(image);
}

void Images::set_piece(double ms) {
    if (encoder_ != nullptr) encoder_->set_piece(ms);
}

/// An encoded image, which becomes the most recently used; null if it is not held.
Embedding Images::use_kept(ImageId image) {
    const auto found = kept_by_id_.find(image);
    if (found == kept_by_id_.end()) return nullptr;
    kept_.splice(kept_.begin(), kept_, found->second);
    return found->second->embedding;
}

void Images::keep(ImageId image, Embedding embedding) {
    if (kept_by_id_.contains(image)) return;
    kept_bytes_ += bytes_of(embedding);
    kept_.push_front({.image = image, .embedding = std::move(embedding)});
    kept_by_id_.emplace(image, kept_.begin());
    while (kept_bytes_ > kKeptBytesMax && kept_.size() > 1) {
        kept_bytes_ -= bytes_of(kept_.back().embedding);
        kept_by_id_.erase(kept_.back().image);
        kept_.pop_back();
    }
}

} // namespace engine
