#!/bin/sh
# Builds this platform's prebuilt engine (INGLE_GPU selects a GPU build) and packs it into the given folder.
set -eu
if command -v apk >/dev/null; then
    apk add git g++ make cmake ninja linux-headers
elif command -v apt-get >/dev/null && [ "$(id -u)" -eq 0 ]; then
    apt-get update
    apt-get install --yes git g++ make cmake ninja-build
    if [ "${INGLE_GPU:-cpu}" = vulkan ]; then apt-get install --yes libvulkan-dev glslc spirv-headers; fi
fi
git config --global --add safe.directory "$PWD"
npx --yes pnpm@12 install --frozen-lockfile
npx --yes pnpm@12 --filter @ingle/engine-native prebuilt
npx --yes pnpm@12 exec tsx release/release.ts engines "$1"
