// llama.cpp as a whole: its one start per process, its log, and what this build and machine offer.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

struct ggml_backend_device;

namespace llama_rt {

struct Device {
    std::string name;
    std::string description;
    std::string backend;
    std::string type;
    uint64_t memory_free;
    uint64_t memory_total;
};

/// Describes a device, with the memory that is free on it now.
Device device_info(ggml_backend_device* device);

struct BackendInfo {
    std::string version;
    std::string commit;
    std::vector<Device> devices;
    std::vector<std::string> cpu_features;
    std::vector<std::string> kv_types;
};

/// Starts llama.cpp on the first call; later calls do nothing. Any thread.
void ensure_backend();

BackendInfo backend_info();

/// Sends log lines to `sink`, which is called on any thread; an empty function drops them. Level: 1 debug … 4 error.
using LogSink = std::function<void(int level, const char* text)>;
void set_log_sink(LogSink sink);

/// Sends a line of our own to the sink, at level 1. Any thread.
void log_debug(const std::string& line);

/// Returns freed memory that glibc keeps for its threads (20 MB after reading a vocabulary) to the system. Takes milliseconds.
/// Does nothing without glibc. Any thread.
void give_back_freed_memory();

/// Limits glibc's allocator to one arena and makes it trim the heap early, for the rest of the process. The server takes 11 MB
/// less with it. Only for a process that runs nothing but Ingle: other multithreaded work may become slower.
void keep_memory_tight();

/// While one lives, collects the error lines that llama.cpp logs on this thread: the log is the only place where it says what
/// is wrong with a file.
class ErrorLines {
public:
    ErrorLines();
    ~ErrorLines();
    ErrorLines(const ErrorLines&) = delete;
    ErrorLines& operator=(const ErrorLines&) = delete;

    const std::string& text() const { return text_; }
    void append(const char* text) { text_ += text; }

private:
    std::string text_;
    ErrorLines* outer_;
};

/// While one lives, calls `hear` with every line that llama.cpp logs on this thread.
class LogListener {
public:
    explicit LogListener(std::function<void(const char* text)> hear);
    ~LogListener();
    LogListener(const LogListener&) = delete;
    LogListener& operator=(const LogListener&) = delete;

    void hear(const char* text) const { hear_(text); }

private:
    std::function<void(const char* text)> hear_;
    LogListener* outer_;
};

} // namespace llama_rt
