#!/bin/sh
# Traces a real program at its real job: docutils builds its own reference pages. All comes from PyPI; it lies in demo/.
set -eu
cd "$(dirname "$0")/.."
version=0.22.4
venv=$PWD/.venv
folder=demo/docutils-$version

if ! [ -d "$folder" ]; then
	mkdir -p demo
	"$venv/bin/python" -m pip install -q --disable-pip-version-check "docutils==$version"
	# The source archive has the pages and the program that builds them; the wheel has not.
	"$venv/bin/python" -m pip download -q --disable-pip-version-check --no-deps --no-binary docutils -d demo \
		"docutils==$version"
	tar -xzf "demo/docutils-$version.tar.gz" -C demo
fi
cd "$folder"
echo "In $folder: lextrace run tools/buildhtml.py --quiet --ignore=mathematics.rst docs/ref"
"$venv/bin/lextrace" run -o ../buildhtml --force tools/buildhtml.py --quiet --ignore=mathematics.rst docs/ref
cd ..
"$venv/bin/lextrace" report --top 20 buildhtml
"$venv/bin/lextrace" export --to perfetto -o buildhtml.perfetto-trace buildhtml
echo
echo "demo/buildhtml.perfetto-trace opens in the Perfetto UI (ui.perfetto.dev, \"Open trace file\")."
