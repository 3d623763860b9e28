// What an error of a GPU's driver does to the process. POSIX only.
#include "aborts.h"
#include "check.h"
#include "llama/backend/backend.h"

#include <stdexcept>

using test::aborts;

namespace {

const std::runtime_error kLost("vk::Queue::submit: ErrorDeviceLost");

} // namespace

TEST_CASE("lost device: ends a process that is started again") {
    CHECK(aborts([] {
        llama::end_when_device_is_lost();
        llama::check_device(kLost);
    }));
}

TEST_CASE("lost device: other processes go on") {
    CHECK(!aborts([] { llama::check_device(kLost); }));
}

TEST_CASE("lost device: other errors end no process") {
    CHECK(!aborts([] {
        llama::end_when_device_is_lost();
        llama::check_device(std::runtime_error("vk::Device::allocateMemory: ErrorOutOfDeviceMemory"));
    }));
}
