// The system's random numbers for std::random_device, in builds for all processors (cmake/all-processors.cmake): g++'s static library
// takes them from a function that only glibc 2.36 and later has.
#include <cstdint>
#include <cstdlib>

#include <sys/random.h>

extern "C" __attribute__((visibility("hidden"))) uint32_t arc4random() noexcept {
    uint32_t number = 0;
    // So few bytes always come in one call, unless a signal arrives before the system has gathered any.
    while (getrandom(&number, sizeof(number), 0) != static_cast<ssize_t>(sizeof(number))) {
    }
    return number;
}
