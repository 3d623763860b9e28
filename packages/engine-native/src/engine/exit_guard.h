// Stops every engine before the process takes its static objects apart. process.exit() does not run the environment's
// cleanup hooks: without this, an engine's thread would go on computing with what is being destroyed.
#pragma once

#include <functional>
#include <list>

namespace engine {

/// While one lives, `stop` is called when the process exits; not again after that, and not after its own end.
class ExitGuard {
public:
    explicit ExitGuard(std::function<void()> stop);
    ~ExitGuard();
    ExitGuard(const ExitGuard&) = delete;
    ExitGuard& operator=(const ExitGuard&) = delete;

private:
    std::list<std::function<void()>>::iterator place_;
};

} // namespace engine
