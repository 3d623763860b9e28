// Who has what the tokens of images are computed from. An image is encoded while others are computed; a sequence that comes
// to one which is not there yet waits for it. The engine implements it; the scheduler asks.
#pragma once

#include "base/image_tokens.h"

namespace sched {

class ImageSource {
public:
    virtual ~ImageSource() = default;

    /// Whether this image can be computed in this turn. Asked when a sequence has come to it: where it cannot, now is the
    /// time to get it.
    virtual bool has(base::RequestId id, base::ImageId image) = 0;
};

} // namespace sched
