// Stops every engine before the process destroys its static objects. process.exit() does not run the environment's cleanup
// hooks: without this, an engine's thread would go on computing with objects that are being destroyed.
#pragma once

#include <functional>
#include <list>

namespace engine {

/// While a guard lives, `stop` is called once if the process exits.
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
