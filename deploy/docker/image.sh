#!/bin/sh
# The steps that build an image of Ingle on Debian or Ubuntu with Node: for the Dockerfile and for deploy/modal/deploy.py.
#
#   image.sh tools            installs the compiler and build tools
#   image.sh build            builds the checkout in the working directory; INGLE_GPU and INGLE_CPU as in docs/install.md
#   image.sh assemble FOLDER  copies the run-time files into FOLDER, which then needs Node but not this checkout
#   image.sh finish FOLDER    creates the command `ingle`, its user and its models folder, in the system that contains FOLDER
set -eu

case "${1:-}" in
tools)
    apt-get update -q
    DEBIAN_FRONTEND=noninteractive apt-get install -q -y --no-install-recommends git g++ make cmake ninja-build ccache
    rm -rf /var/lib/apt/lists/*
    ;;
build)
    # No prompts, no progress, and no second installation of filtered packages.
    export CI=true PNPM_CONFIG_VERIFY_DEPS_BEFORE_RUN=false
    # Images are built on one processor and run on others.
    export INGLE_GPU="${INGLE_GPU:-cpu}" INGLE_CPU="${INGLE_CPU:-all}"
    npx --yes pnpm@12 install --frozen-lockfile --filter ingle-workspace --filter '@ingle/server...'
    npx --yes pnpm@12 --filter '@ingle/server...' run build
    ;;
assemble)
    node node_modules/tsx/dist/cli.mjs deploy/docker/assemble.ts "$2"
    find "$2" -path '*/engine-native/build*/Release/*' -type f -exec strip --strip-unneeded {} +
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
