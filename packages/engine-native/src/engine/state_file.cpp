#include "engine/state_file.h"

#include "base/sip_hash.h"
#include "process/private_file.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <new>
#include <random>
#include <system_error>
#include <utility>

namespace engine {

using base::Token;

namespace {

constexpr std::array<char, 8> kMagic{'I', 'N', 'G', 'L', 'E', 'S', 'T', '3'};

/// The head of a segment.
struct Lengths {
    uint32_t tokens;
    uint32_t first;
    uint32_t checkpoints;
    uint32_t space;
    uint64_t state;
};

/// The head of a checkpoint.
struct CheckpointLengths {
    uint64_t length;
    uint64_t bytes;
};

std::filesystem::path path_of(const std::string& utf8) {
    return {std::u8string(utf8.begin(), utf8.end())};
}

/// Files that are being written, in the folder that they will be in. No client may choose such a name.
constexpr std::string_view kUnfinishedEnd = ".saving";
/// How long after its last change such a file was left by a process that is gone: nothing takes a minute between two writes.
constexpr std::chrono::hours kAbandonedAfter{1};

std::string unfinished_name() {
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::random_device random;
    std::string name = ".";
    for (int i = 0; i < 32; ++i) name += kDigits[random() % kDigits.size()];
    return name.append(kUnfinishedEnd);
}

/// What cannot be read or removed stays.
void remove_abandoned(const std::filesystem::path& folder) {
    std::error_code error;
    for (std::filesystem::directory_iterator file(folder, error), end; !error && file != end;
         file.increment(error)) {
        const std::u8string name = file->path().filename().u8string();
        const bool is_unfinished = name.starts_with(u8".") && name.ends_with(u8".saving");
        std::error_code ignored;
        if (is_unfinished && file->is_regular_file(ignored) &&
            file->last_write_time(ignored) + kAbandonedAfter < std::filesystem::file_time_type::clock::now())
            std::filesystem::remove(file->path(), ignored);
    }
}

/// For the bytes of one part of a file.
base::SipHash checksum(const StateKey& key) {
    base::SipHash sum{std::span(key).first<16>()};
    sum.add(key.data(), key.size());
    return sum;
}

base::SipHash::Digest checksum_of_head(const StateKey& key) {
    base::SipHash sum = checksum(key);
    sum.add(kMagic.data(), kMagic.size());
    return sum.digest();
}

class Writer {
public:
    Writer(const std::filesystem::path& path, const StateKey& key)
        : file_(process::create_private_file(path)), is_good_(file_ != nullptr), key_(key) {
        const base::SipHash::Digest sum = checksum_of_head(key);
        put(kMagic.data(), kMagic.size());
        put(sum.data(), sum.size());
    }

    void write(const SegmentView& view) {
        const auto& [state, checkpoints] = *view.segment;
        sum_ = checksum(key_);
        const Lengths lengths{.tokens = static_cast<uint32_t>(view.text.size()),
                              .first = static_cast<uint32_t>(view.first),
                              .checkpoints = static_cast<uint32_t>(checkpoints.size()),
                              .space = static_cast<uint32_t>(view.space.size()),
                              .state = state.size};
        write(&lengths, sizeof(lengths));
        write(view.space.data(), view.space.size());
        write(view.text.data(), view.text.size_bytes());
        for (const auto& [length, bytes] : checkpoints) {
            const CheckpointLengths of{.length = static_cast<uint64_t>(length), .bytes = bytes.size()};
            write(&of, sizeof(of));
            write(bytes.data(), bytes.size());
        }
        write(state.bytes.get(), state.size);
        const base::SipHash::Digest sum = sum_.digest();
        put(sum.data(), sum.size());
    }
    /// Writes the whole file. False if something could not be written.
    bool close() {
        if (file_ != nullptr) note(std::fclose(file_.release()) == 0);
        return is_good_;
    }
    bool is_full() const { return error_ == ENOSPC; }

private:
    void write(const void* data, size_t size) {
        sum_.add(data, size);
        put(data, size);
    }
    void put(const void* data, size_t size) {
        if (size == 0) return; // what is empty may have no address, and `fwrite` demands one
        if (is_good_) note(std::fwrite(data, 1, size, file_.get()) == size);
    }
    void note(bool is_good) {
        if (is_good_ && !is_good) error_ = errno;
        is_good_ &= is_good;
    }

    process::FilePtr file_;
    bool is_good_;
    int error_ = 0;
    const StateKey& key_;
    base::SipHash sum_ = checksum(key_);
};

/// Compares every length with the rest of the file before it allocates anything of that length.
class Reader {
public:
    Reader(const std::filesystem::path& path, uint64_t size, const StateKey& key)
        : stream_(path, std::ios::binary), left_(size), key_(key) {}

    /// Whether it is a state file with the key.
    bool read_head() {
        std::array<char, kMagic.size()> magic{};
        base::SipHash::Digest sum{};
        return read(magic.data(), magic.size()) && magic == kMagic && read(sum.data(), sum.size()) &&
               sum == checksum_of_head(key_);
    }
    bool read(void* data, uint64_t size) {
        if (size > left_) return false;
        left_ -= size;
        stream_.read(static_cast<char*>(data), static_cast<std::streamsize>(size));
        sum_.add(data, size);
        return stream_.good();
    }
    template <class Items>
    bool read_items(Items& items, uint64_t count) {
        constexpr size_t kSize = sizeof(typename Items::value_type);
        if (count > left_ / kSize) return false;
        items.resize(count);
        return read(items.data(), count * kSize);
    }
    /// Whether everything was read.
    bool is_at_end() const { return left_ == 0; }
    /// Whether the last segment was not read because it is too large.
    bool is_too_large() const { return is_too_large_; }

    /// False at the end of the file, if it is damaged, and if the segment is larger than `bytes_max`.
    bool read(SavedSegment& saved, uint64_t bytes_max) {
        sum_ = checksum(key_);
        Lengths lengths{};
        if (!read(&lengths, sizeof(lengths)) || lengths.state > left_) return false;
        is_too_large_ = lengths.state > bytes_max;
        if (is_too_large_) return false;
        if (lengths.tokens > INT32_MAX || lengths.first >= lengths.tokens) return false;
        saved.first = static_cast<int32_t>(lengths.first);
        bytes_max -= lengths.state;
        if (!read_items(saved.space, lengths.space) || !read_items(saved.text, lengths.tokens)) return false;
        if (!read_checkpoints(saved, lengths, bytes_max)) return false;
        llama::State& state = saved.segment.state;
        state.size = lengths.state;
        state.bytes = std::make_unique_for_overwrite<uint8_t[]>(state.size);
        if (!read(state.bytes.get(), state.size)) return false;
        const base::SipHash::Digest sum = sum_.digest();
        base::SipHash::Digest written{};
        return read(written.data(), written.size()) && written == sum;
    }

private:
    bool read_checkpoints(SavedSegment& saved, const Lengths& lengths, uint64_t bytes_max) {
        for (uint32_t i = 0; i < lengths.checkpoints; ++i) {
            CheckpointLengths of{};
            if (!read(&of, sizeof(of)) || of.length <= lengths.first || of.length >= lengths.tokens)
                return false;
            std::vector<uint8_t> bytes;
            is_too_large_ = of.bytes > bytes_max && of.bytes <= left_;
            if (is_too_large_ || !read_items(bytes, of.bytes)) return false;
            bytes_max -= of.bytes;
            saved.segment.checkpoints.emplace(static_cast<int32_t>(of.length), std::move(bytes));
        }
        return true;
    }

    std::ifstream stream_;
    uint64_t left_;
    bool is_too_large_ = false;
    const StateKey& key_;
    base::SipHash sum_ = checksum(key_);
};

} // namespace

StateWrite write_state_file(const StateFile& file, std::span<const SegmentView> segments,
                            const std::atomic<bool>* is_aborted) {
    const auto goes_on = [&] { return is_aborted == nullptr || !is_aborted->load(); };
    const std::filesystem::path path = path_of(file.path);
    std::error_code error;
    if (const auto there = std::filesystem::status(path, error);
        std::filesystem::exists(there) && !std::filesystem::is_regular_file(there))
        return StateWrite::in_the_way;
    remove_abandoned(path.parent_path());
    const std::filesystem::path part = path.parent_path() / unfinished_name();
    Writer writer(part, file.key);
    for (auto segment = segments.begin(); segment != segments.end() && goes_on(); ++segment)
        writer.write(*segment);
    const bool is_written = writer.close() && goes_on();
    if (is_written) std::filesystem::rename(part, path, error);
    if (is_written && !error) return StateWrite::done;
    std::filesystem::remove(part, error);
    if (!goes_on()) return StateWrite::aborted;
    return writer.is_full() ? StateWrite::no_space : StateWrite::failed;
}

IsText text_in(base::Token vocabulary_size) {
    return [vocabulary_size](std::span<const Token> text) {
        return std::ranges::all_of(text, [&](Token token) { return token >= 0 && token < vocabulary_size; });
    };
}

StateRead read_state_file(const StateFile& file, uint64_t bytes_max, const IsText& is_text) {
    using End = StateRead::End;
    StateRead result{.end = End::absent};
    std::error_code error;
    const std::filesystem::path path = path_of(file.path);
    result.bytes = std::filesystem::file_size(path, error);
    if (error) return {.end = End::absent};
    Reader reader(path, result.bytes, file.key);
    result.end = End::foreign;
    if (!reader.read_head()) return result;
    result.end = reader.is_at_end() ? End::complete : End::damaged;
    try {
        SavedSegment saved;
        while (!reader.is_at_end() && reader.read(saved, bytes_max) && is_text(saved.text)) {
            bytes_max -= HostTierStore::size_of(saved.segment);
            result.segments.push_back(std::exchange(saved, {}));
            if (reader.is_at_end()) result.end = End::complete;
        }
    } catch (const std::bad_alloc&) {
        // Out of memory: keep the segments read so far.
        result.end = End::too_large;
        return result;
    }
    if (reader.is_too_large()) result.end = End::too_large;
    return result;
}

} // namespace engine
