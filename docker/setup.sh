#!/bin/sh
# Prepares a machine for grading: Python, libraries, softmark, a homework.
#
#     setup.sh            Gradescope runs this once, with a wheel of softmark and a homework beside this script
#     setup.sh STEP...    single steps, a layer each in docker/Dockerfile: python libraries checkout softmark homework
#
# If there is a folder wheelhouse/ (docker/make-wheelhouse), all packages come from there, their hashes are checked, and
# no network is needed. Otherwise TORCH_INDEX, or a file torch-index, names the package index that has the wanted build
# of torch, besides pip's own.
set -eu

here=$(cd "$(dirname "$0")" && pwd)
venv=/opt/softmark
wheelhouse=${WHEELHOUSE:-$here/wheelhouse}
TORCH=${TORCH:-cpu} # or cuda
TORCH_INDEX=${TORCH_INDEX:-$(cat "$here/torch-index" 2>/dev/null || true)}

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
export DEBIAN_FRONTEND=noninteractive PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore

step_python() {
    find_python && return
    install_packages python3
    find_python && return
    # A release as old as Ubuntu 22.04 has no Python that is new enough, so uv installs one.
    install_packages python3 python3-pip ca-certificates
    python3 -m pip install --quiet --target "$scratch/uv" uv
    export UV_PYTHON_INSTALL_DIR=/opt/python UV_CACHE_DIR="$scratch/cache"
    "$scratch/uv/bin/uv" python install 3.12
    find_python || fail "no Python of version 3.11 or later could be installed"
}

# Install the libraries that pyproject.toml requires, without softmark itself.
step_libraries() {
    make_environment
    "$venv/bin/python" -c '
import sys, tomllib
print(*tomllib.load(open(sys.argv[1], "rb"))["project"]["dependencies"], sep="\n")
' "$here/pyproject.toml" >"$scratch/dependencies.txt"
    pip install --requirement "$scratch/dependencies.txt"
    check_torch
    # Headers are for compiling extensions, and nothing is compiled here.
    rm -rf "$venv"/lib/python3*/site-packages/torch/include "$venv"/lib/python3*/site-packages/torch/share/cmake
}

# Install softmark from the checkout beside this script, in a tree of its own that is laid over the libraries.
step_checkout() {
    pip install --no-deps --prefix /opt/softmark-layer "$here/checkout"
}

step_softmark() {
    make_environment
    pip install "$here"/softmark-*.whl
    check_torch
}

step_homework() {
    ln -sf "$venv/bin/softmark" /usr/local/bin/softmark
    chown -R 0:0 "$here"
    chmod -R u=rwX,go= "$here" # student code runs as another user, so it cannot read tests and reference
    softmark gradescope --root "$(dirname "$here")" --prepare
}

find_python() {
    for python in python3 /opt/python/*/bin/python3 python3.14 python3.13 python3.12 python3.11; do
        "$python" -c 'import sys, venv; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && return
    done
    return 1
}

install_packages() {
    command -v apt-get >/dev/null || fail "Python 3.11 or later is needed, and there is no apt-get to install it with"
    apt-get update -qq
    apt-get install -y -qq --no-install-recommends "$@" >/dev/null
    rm -rf /var/lib/apt/lists/*
}

make_environment() {
    [ -x "$venv/bin/python" ] && return
    find_python || fail "there is no Python of version 3.11 or later: run the step python first"
    "$python" -m venv --without-pip "$venv"
}

# Run pip from a wheel. The system's own pip is often missing, old or patched, and the image must not contain pip.
pip() {
    [ -f "$scratch/pip.whl" ] || find_packages
    PIP_CONSTRAINT=$here/constraints.txt "$venv/bin/python" "$scratch/pip.whl/pip" "$@" \
        --quiet --no-cache-dir --only-binary=:all:
}

find_packages() {
    if ls "$wheelhouse"/pip-*.whl >/dev/null 2>&1; then
        check_wheelhouse
        export PIP_NO_INDEX=1 PIP_FIND_LINKS="$wheelhouse"
        cp "$wheelhouse"/pip-*.whl "$scratch/pip.whl"
    else
        python3 -m pip --version >/dev/null 2>&1 || install_packages python3-pip ca-certificates
        python3 -m pip download --quiet --no-deps --dest "$scratch" pip
        mv "$scratch"/pip-*.whl "$scratch/pip.whl"
        [ -z "$TORCH_INDEX" ] || export PIP_EXTRA_INDEX_URL="$TORCH_INDEX"
    fi
}

check_wheelhouse() {
    (
        cd "$wheelhouse"
        sha256sum --check --strict --quiet SHA256SUMS &&
            [ "$(find . -maxdepth 1 -name '*.whl' | wc -l)" -eq "$(wc -l <SHA256SUMS)" ]
    ) || fail "the wheelhouse is not what its SHA256SUMS says: make it again with docker/make-wheelhouse"
}

check_torch() {
    cuda=$(sed -n 's/^cuda.*= //p' "$venv"/lib/python3*/site-packages/torch/version.py)
    case "$TORCH:$cuda" in
    cpu:None | cuda:\'*) ;;
    cpu:*) fail "this torch is for CUDA: let TORCH_INDEX name the package index of PyTorch that has the CPU build" ;;
    *) fail "this torch is for the CPU: let TORCH_INDEX name the package index of PyTorch that has the CUDA build" ;;
    esac
}

fail() {
    echo "setup.sh: $1" >&2
    exit 1
}

[ $# -gt 0 ] || set -- python softmark homework
for step; do
    "step_$step"
done
