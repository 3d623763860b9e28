#!/bin/sh
# The steps that make an image of Ingle on Debian or Ubuntu with Node. Used by the Dockerfile beside it, by deploy/modal/deploy.py,
# and by the test that takes them in a bare Debian.
#
#   image.sh tools            installs what compiles Ingle
#   image.sh build            builds the checkout in the working directory; INGLE_GPU and INGLE_CPU as in docs/install.md
#   image.sh assemble FOLDER  puts what runs into FOLDER, which needs Node and nothing else of this checkout
#   image.sh finish FOLDER    makes the command `ingle`, its user and its folder for models, in the system where FOLDER lies
set -eu

case "${1:-}" in
tools)
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends git g++ make cmake ninja-build ccache
    rm -rf /var/lib/apt/lists/*
    ;;
build)
    # No prompts, no progress, and no second installation of what a filter left out.
    export CI=true PNPM_CONFIG_VERIFY_DEPS_BEFORE_RUN=false
    if [ "$(uname -m)" = x86_64 ]; then
        # Images are built on one processor and run on others. Machines with a GPU that CUDA supports have AVX2.
        if [ "${INGLE_GPU:=cpu}" = cpu ]; then levels=x86-64,x86-64-v3,x86-64-v4; else levels=x86-64-v3; fi
        export INGLE_GPU INGLE_CPU="${INGLE_CPU:-$levels}"
    fi
    npx --yes pnpm@12 install --frozen-lockfile --filter ingle-workspace --filter '@ingle/server...'
    npx --yes pnpm@12 --filter '@ingle/server...' run build
    ;;
assemble)
    node node_modules/tsx/dist/cli.mjs deploy/docker/assemble.ts "$2"
    find "$2" -name '*.node' -path '*/engine-native/*' -exec strip --strip-unneeded {} +
    ;;
finish)
    ln -s "$2/packages/server/bin/ingle.js" /usr/local/bin/ingle
    useradd --uid 10001 --user-group --no-create-home --home-dir /models --shell /usr/sbin/nologin ingle
    install -d -o ingle -g ingle /models
    ;;
*)
    echo "image.sh: the steps are tools, build, assemble and finish." >&2
    exit 2
    ;;
esac
