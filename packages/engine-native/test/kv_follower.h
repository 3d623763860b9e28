// Follows the reports of sched::KvBlocks as a router does, and compares what it knows with what the KV cache holds, by looking at
// every token of every text.
#pragma once

#include "base/types.h"
#include "sched/kv_blocks.h"
#include "sched/kv_cache_manager.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace test {

using Text = std::vector<base::Token>;

class KvFollower {
public:
    explicit KvFollower(int32_t block_tokens) : block_tokens_(static_cast<size_t>(block_tokens)) {}

    /// Empty, or what is wrong with a report.
    std::string follow(const sched::KvReport& report) {
        if (report.is_restated) blocks_.clear();
        for (const auto& [medium, hash] : report.removed) {
            const auto known = blocks_.find(hash);
            if (known == blocks_.end() || known->second.medium != medium)
                return "a block is removed that is not there";
            blocks_.erase(known);
        }
        for (const sched::KvReport::Stored& stored : report.stored) {
            if (stored.hashes.empty() || stored.tokens.size() != stored.hashes.size() * block_tokens_)
                return "a report has another number of tokens than its blocks";
            Text text;
            if (stored.parent != 0) {
                const auto parent = blocks_.find(stored.parent);
                if (parent == blocks_.end()) return "a block follows one that is not there";
                text = parent->second.text;
            }
            for (size_t i = 0; i < stored.hashes.size(); ++i) {
                const auto tokens = std::span(stored.tokens).subspan(i * block_tokens_, block_tokens_);
                text.insert(text.end(), tokens.begin(), tokens.end());
                const bool is_new =
                    blocks_.emplace(stored.hashes[i], Block{.medium = stored.medium, .text = text}).second;
                if (!is_new || stored.hashes[i] == 0) return "a block is stored twice";
            }
        }
        return "";
    }

    /// The text up to each block's end, and where its state is.
    std::map<Text, sched::KvMedium> known() const {
        std::map<Text, sched::KvMedium> known;
        for (const auto& [hash, block] : blocks_) known.emplace(block.text, block.medium);
        return known;
    }

    /// Empty, or how this differs from what `cells` holds. Tokens of running sequences that fill no block need not be known.
    std::string compare(const sched::KvCacheManager& cells, int32_t slots) const {
        const auto known = this->known();
        if (known.size() != blocks_.size()) return "two blocks have the same text";
        const auto least = reusable(cells, slots, false);
        const auto most = reusable(cells, slots, true);
        for (const auto& [text, medium] : known) {
            const auto found = most.find(text);
            if (found == most.end()) return "a block is reported that cannot be reused";
            const auto sure = least.find(text);
            if (found->second != medium && (sure == least.end() || sure->second != medium))
                return "a block is reported with another medium";
        }
        for (const auto& [text, medium] : least) {
            if (!known.contains(text)) return "a block can be reused and is not reported";
        }
        return "";
    }

private:
    struct Block {
        sched::KvMedium medium;
        Text text;
    };

    /// Which beginnings of texts are held, and where: each is a place that is reached token by token.
    class Prefixes {
    public:
        /// Of the text's beginnings, those longer than `first`.
        void add(const Text& text, size_t first, sched::KvMedium medium) {
            size_t place = 0;
            for (size_t i = 0; i < text.size(); ++i) {
                place = after(place, text[i]);
                if (i < first) continue;
                (medium == sched::KvMedium::device ? held_[place].on_device : held_[place].in_host) = true;
            }
        }
        size_t after(size_t place, base::Token token) {
            const auto [entry, is_new] = next_.try_emplace({place, token}, held_.size());
            if (is_new) held_.emplace_back();
            return entry->second;
        }
        bool is_held(size_t place) const { return held_[place].on_device || held_[place].in_host; }
        sched::KvMedium medium(size_t place) const {
            return held_[place].on_device ? sched::KvMedium::device : sched::KvMedium::host;
        }

    private:
        struct Held {
            bool on_device = false;
            bool in_host = false;
        };
        std::vector<Held> held_ = std::vector<Held>(1); // the empty text
        std::map<std::pair<size_t, base::Token>, size_t> next_;
    };

    std::map<Text, sched::KvMedium> reusable(const sched::KvCacheManager& cells, int32_t slots,
                                             bool has_part_blocks) const {
        Prefixes prefixes;
        std::vector<Text> texts;
        const sched::PrefixTree& tree = cells.tree();
        for (base::Slot slot = 0; slot < slots; ++slot) {
            if (!cells.is_reported(slot)) continue;
            Text text = tree.text(slot);
            size_t length = static_cast<size_t>(tree.unmoved_length(slot));
            if (cells.needs_checkpoints()) {
                const auto checkpoints = tree.checkpoints_of(slot);
                length = 0;
                for (const auto& checkpoint : checkpoints) {
                    if (checkpoint.length <= tree.unmoved_length(slot))
                        length = static_cast<size_t>(checkpoint.length);
                }
            } else if (tree.is_pinned(slot) && !has_part_blocks) {
                length -= length % block_tokens_;
            }
            text.resize(length);
            prefixes.add(text, 0, sched::KvMedium::device);
            texts.push_back(std::move(text));
        }
        for (const auto& [segment, text, first, space] : cells.host_tier().all()) {
            if (!space.empty()) continue;
            prefixes.add(text, static_cast<size_t>(first), sched::KvMedium::host);
            texts.push_back(text);
        }
        std::map<Text, sched::KvMedium> reusable;
        for (const Text& text : texts) {
            size_t place = 0;
            for (size_t length = 1; length <= text.size(); ++length) {
                place = prefixes.after(place, text[length - 1]);
                if (base::is_image(text[length - 1]) || !prefixes.is_held(place)) break;
                if (length % block_tokens_ > 0) continue;
                reusable.emplace(Text(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(length)),
                                 prefixes.medium(place));
            }
        }
        return reusable;
    }

    size_t block_tokens_;
    std::map<uint64_t, Block> blocks_;
};

} // namespace test
