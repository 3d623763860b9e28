// What the sockets of a confined process can do; confine.test.ts has everything that JavaScript can try. Linux only.
#include "process/confinement.h"

#include "check.h"

#include <array>
#include <cstring>
#include <string>

#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

constexpr int kFlags = SOCK_CLOEXEC | SOCK_NONBLOCK;

/// A local socket that takes datagrams at a path in a folder of its own.
class Receiver {
public:
    Receiver() {
        REQUIRE(mkdtemp(folder_.data()) != nullptr);
        const std::string path = folder_ + "/socket";
        std::memcpy(address_.sun_path, path.c_str(), path.size() + 1);
        REQUIRE(bind(socket_, address(), sizeof address_) == 0);
    }
    Receiver(const Receiver&) = delete;
    Receiver& operator=(const Receiver&) = delete;
    ~Receiver() {
        close(socket_);
        unlink(address_.sun_path);
        rmdir(folder_.c_str());
    }

    const sockaddr* address() const { return reinterpret_cast<const sockaddr*>(&address_); }

    bool sends(int sender) const {
        return sendto(sender, "secret", 6, MSG_DONTWAIT, address(), sizeof address_) == 6;
    }

    bool has_received() const {
        char datagram = 0;
        return recv(socket_, &datagram, sizeof datagram, MSG_DONTWAIT) > 0;
    }

private:
    int socket_ = socket(AF_UNIX, SOCK_DGRAM, 0);
    std::string folder_ = "/tmp/ingle-datagrams-XXXXXX";
    sockaddr_un address_ = {.sun_family = AF_UNIX, .sun_path = {}};
};

/// Whether the claim holds in a confined process.
template <class Claim>
bool holds_confined(Claim claim) {
    const pid_t child = fork();
    if (child == 0) {
        process::confine_process("", "", false);
        _exit(claim() ? 0 : 1);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    REQUIRE(WIFEXITED(status));
    return WEXITSTATUS(status) == 0;
}

} // namespace

TEST_CASE("confinement: no datagram reaches a socket of another process") {
    const Receiver receiver;
    CHECK(receiver.sends(socket(AF_UNIX, SOCK_DGRAM, 0)));
    CHECK(receiver.has_received());
    // The kernel makes a datagram socket of a raw one.
    for (const int type : std::array<int, 3>{SOCK_DGRAM, SOCK_RAW, SOCK_DGRAM | kFlags}) {
        CAPTURE(type);
        CHECK(!holds_confined([&] { return receiver.sends(socket(AF_UNIX, type, 0)); }));
        CHECK(!holds_confined([&] {
            std::array<int, 2> pair = {-1, -1};
            socketpair(AF_UNIX, type, 0, pair.data());
            return receiver.sends(pair[0]);
        }));
        CHECK(!receiver.has_received());
    }
}

TEST_CASE("confinement: sockets that GPU drivers need can be created") {
    for (const int type : std::array<int, 3>{SOCK_STREAM, SOCK_SEQPACKET, SOCK_STREAM | kFlags}) {
        CAPTURE(type);
        CHECK(holds_confined([&] { return socket(AF_UNIX, type, 0) >= 0; }));
    }
    CHECK(holds_confined([] { return socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0; }));
    CHECK(!holds_confined([] { return socket(AF_INET, SOCK_STREAM, 0) >= 0; }));
}
