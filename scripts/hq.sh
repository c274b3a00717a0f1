#!/bin/sh
# Prints the path of HyperQueue's program hq for comparisons: the one that HQ names, the one on PATH, or bin/hq. If there is
# none, bin/hq is built with cargo from the source in HQ_SOURCE, or else downloaded from the project's releases.
set -eu
version=0.26.2
cd "$(dirname "$0")/.."
for hq in "${HQ:-}" "$(command -v hq || true)" "$PWD/bin/hq"; do
	[ -x "$hq" ] && echo "$hq" && exit 0
done
mkdir -p bin
if [ -n "${HQ_SOURCE:-}" ]; then # the solver microlp, because the default one needs libclang
	cargo build --quiet --release --manifest-path "$HQ_SOURCE/Cargo.toml" --package hyperqueue --bin hq --no-default-features --features jemalloc,microlp >&2
	cp "$HQ_SOURCE/target/release/hq" bin/hq
elif [ "$(uname -m)" = x86_64 ]; then
	release=https://github.com/It4innovations/hyperqueue/releases/download/v$version/hq-v$version-linux-x64.tar.gz
	tarball=$(mktemp)
	trap 'rm -f "$tarball"' EXIT
	curl -fsSL --max-time 300 -o "$tarball" "$release" && tar -xzf "$tarball" -C bin hq
fi
[ -x bin/hq ] && echo "$PWD/bin/hq" && exit 0
echo "HyperQueue is not compared: there is no hq on PATH, and its release cannot be fetched; HQ_SOURCE names a folder with its source" >&2
exit 1
