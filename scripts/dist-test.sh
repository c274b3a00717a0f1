#!/bin/sh
# Makes the files of a release twice, from two clones of the present commit in folders of different lengths, the second time with nothing compiled
# before, and compares their bytes. Then it unpacks each package into a folder of its own, and runs with it the first example of README.md. What is
# not committed has no part.
set -eu
cd "$(dirname "$0")/.."
[ -z "$(git status --porcelain)" ] || echo "dist-test.sh: what is not committed has no part in this" >&2
# Nothing of the caller's state, backend or cache of Go has a part either.
tmp=$(mktemp -d)
first=$tmp/a second=$tmp/another/folder
mkdir -p "$tmp/another" "$tmp/state"
export XDG_STATE_HOME="$tmp/state" BERTH_ON=local
unset BERTH
trap 'for b in "$tmp"/*/bin/berth; do [ ! -x "$b" ] || "$b" server stop --force >/dev/null 2>&1 || true; done; chmod -R u+w "$tmp"; rm -rf "$tmp"' EXIT
for clone in "$first" "$second"; do git clone -q --shared . "$clone"; done
(cd "$first" && make -s dist)
(cd "$second" && umask 077 && GOCACHE=$tmp/cache make -s dist)
(cd "$second/dist" && sha256sum --quiet -c "$first/dist/SHA256SUMS" && cmp SHA256SUMS "$first/dist/SHA256SUMS")
echo 'the same bytes twice'

cd "$first/dist"
version=$(cat ../VERSION)
mkdir "$tmp/tarball"
tar -C "$tmp/tarball" --strip-components=1 -xzf berth-"$version"-linux-*.tar.gz
python3 -m venv "$tmp/wheel"
"$tmp/wheel/bin/pip" install -q --disable-pip-version-check --no-index berth-"$version"-*.whl
mkdir "$tmp/debian"
dpkg-deb -x berth_"$version"_*.deb "$tmp/debian"
ln -s usr/bin "$tmp/debian/bin"

# What the example reads.
mkdir -p "$tmp/work/src"
cd "$tmp/work"
cp "$first"/docs/*.md src
echo '{ for (i = 1; i <= NF; i++) print $i "\t1" }' >map.awk
echo '$1 != word { if (NR > 1) print word "\t" n; word = $1; n = 0 } { n += $2 } END { if (NR > 0) print word "\t" n }' >reduce.awk
example=$(sed -n 's/^\$ \(berth mapreduce .*\)$/\1/p' "$first/README.md" | head -n 1)
awk -f map.awk src/*.md | LC_ALL=C sort | awk -f reduce.awk | LC_ALL=C sort >want
for package in tarball wheel debian; do
	(
		PATH=$tmp/$package/bin:$PATH
		told=$(berth --version)
		case $told in "berth $version commit $(git -C "$first" rev-parse HEAD) "*) ;; *) echo "$package says that it is $told" >&2 && exit 1 ;; esac
		eval "$example"
		cat counts/part-* | LC_ALL=C sort | cmp - want
		rm -r counts
		berth server stop
	)
	echo "$package: the first example ran"
done
# The module finds the program that came with it also where it is not on PATH.
cat >area.py <<'END'
import berth
if __name__ == "__main__":
    with berth.Executor() as executor:
        assert executor.submit(pow, 3, 2).result() == 9
END
PATH=/usr/bin:/bin "$tmp/wheel/bin/python" area.py
echo 'wheel: the module ran'
