#!/bin/sh
# Installs the Debian packages that building and testing need, as far as they are missing. Usage: packages.sh [build|test|fuzz]
set -eu
need="gcc make libdeflate-dev libisal-dev libxxhash-dev python3-venv python3-dev"
[ "${1:-build}" = test ] && need="$need libcmocka-dev babeltrace2 chromium shellcheck man-db"
[ "${1:-build}" = fuzz ] && need="$need clang libclang-rt-dev"
command -v cmake >/dev/null 2>&1 || need="$need cmake"

command -v dpkg-query >/dev/null 2>&1 || exit 0 # not Debian: the build says what it misses
missing=
for package in $need; do
	status=$(dpkg-query -W -f '${Status}' "$package" 2>/dev/null || true)
	[ "$status" = "install ok installed" ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" != 0 ]; then
	echo "missing packages:$missing; as root: apt-get install$missing" >&2
	exit 0
fi
echo "installing:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086 # a list of words
apt-get install -y -qq $missing >/dev/null 2>&1 ||
	{ apt-get update -qq >/dev/null && apt-get install -y -qq $missing >/dev/null; } ||
	echo "could not install all of:$missing; what needs them will say so" >&2
