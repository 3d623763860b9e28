#!/bin/sh
# Tests the packages in the given folder as a user would install them. Compiles only TypeScript.
set -eu
INGLE_PACKED=$(cd "$1" && pwd)
export INGLE_PACKED
npx --yes pnpm@12 install --frozen-lockfile
npx --yes pnpm@12 --filter @ingle/llama.cpp build
npx --yes pnpm@12 exec tsc -b
npx --yes pnpm@12 vitest run release/publish.test.ts
