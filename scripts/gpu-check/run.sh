#!/bin/sh
# Checks Ingle on this machine, from what pack.ts has packed: sh gpu-check/run.sh [FOLDER FOR THE RESULTS]
# It needs xz, tar and a driver; nothing is installed outside this folder.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-$here/out}
mkdir -p "$out"
out=$(cd "$out" && pwd)

# CUDA's libraries are where its toolkit or Python's packages have put them.
for library in libcudart.so.* libcublas.so.* libcublasLt.so.*; do
    found=$(find /usr/local/cuda*/ /usr/lib /opt /usr/local/lib -name "$library" 2>/dev/null | head -n 1)
    [ -z "$found" ] || LD_LIBRARY_PATH="$(dirname "$found")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
done
export LD_LIBRARY_PATH="${LD_LIBRARY_PATH:-}"
INGLE_GPU=$(cat "$here/GPU")
export INGLE_GPU
[ "$INGLE_GPU" != vulkan ] || export GGML_VK_VISIBLE_DEVICES="${GGML_VK_VISIBLE_DEVICES:-0}"

cd "$here/ingle"
PATH="$here:$PATH" exec "$here/node" bench/src/gpu-check.mjs "$out" "$here/llama-server"
