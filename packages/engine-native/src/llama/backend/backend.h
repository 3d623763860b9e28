// llama.cpp as a whole: started once a process, its log, and what this build and machine offer.
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

/// With what is free there now.
Device device_info(ggml_backend_device* device);

struct BackendInfo {
    std::string version;
    std::string commit;
    std::vector<Device> devices;
    std::vector<std::string> cpu_features;
    std::vector<std::string> kv_types;
};

/// Any thread; the first call does the work.
void ensure_backend();

BackendInfo backend_info();

/// Log lines go to `sink`, from any thread; an empty function drops them. Level: 1 debug … 4 error.
using LogSink = std::function<void(int level, const char* text)>;
void set_log_sink(LogSink sink);

/// A line of our own for the sink, on level 1. Any thread.
void log_debug(const std::string& line);

/// glibc keeps what a thread has freed for this thread's next needs: 20 MB after the names of a vocabulary were read. This
/// gives it to the system; takes milliseconds. Elsewhere it does nothing. Any thread.
void give_back_freed_memory();

/// For a process that is all Ingle's: from now on its threads share what glibc's allocator holds, and give back at once what is
/// free at its end. The server takes 11 MB less with it. Programs that have other work may be slowed down by it.
void keep_memory_tight();

/// While one lives, error lines that llama.cpp logs on this thread are collected: its only way to say what was wrong
/// with a file.
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

/// While one lives, it hears everything that llama.cpp logs on this thread.
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
