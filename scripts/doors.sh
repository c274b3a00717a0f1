#!/bin/sh
# Makes a Python environment with the engines that reach berth, unless it is there, and prints its folder. Below it, in nextflow/, are
# the jars of Nextflow, if there are Java and Maven; with the word "soak" those of an older one are in nextflow-old/.
set -eu
cd "$(dirname "$0")/.."
python3 -c 'import ensurepip, venv' 2>/dev/null || scripts/deps.sh /nowhere/venv=python3-venv >&2
python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Snakemake 9 needs Python 3.11" >&2; exit 1; }
packages='snakemake==9.27.1 snakemake-executor-plugin-cluster-generic==1.0.9 submitit==1.5.4 parsl==2026.10.26 joblib==1.6.0 cloudpickle==3.1.3 pytest==9.2.0 setuptools==80.9.0 wheel==0.45.1'
python=$(python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')
sum=$(echo "$packages" | cksum | cut -d' ' -f1)
dir=${XDG_CACHE_HOME:-$HOME/.cache}/berth-test/doors-$sum-python$python
if [ ! -e "$dir/ready" ]; then
	rm -rf "$dir"
	python3 -m venv "$dir" >&2
	# shellcheck disable=SC2086 # one word for each package
	"$dir/bin/pip" install -q --disable-pip-version-check $packages >&2
	: >"$dir/ready"
fi
# With the word "compare" also the engines' own executors and what lab/engines compares the package with; with "soak" what long tests need.
case ${1:-} in
compare) scripts/deps.sh mvn=maven >&2 && more='snakemake-executor-plugin-slurm==2.8.0 distributed==2026.8.0' ;;
soak) more='scikit-learn==1.9.1 nbclient==0.11.0 ipykernel==7.4.0 pysam==0.24.1 matplotlib==3.11.2 miniwdl==1.16.0' ;;
*) more= ;;
esac
if [ -n "$more" ] && [ "$(cat "$dir/$1" 2>/dev/null)" != "$more" ]; then
	# shellcheck disable=SC2086 # one word for each package
	"$dir/bin/pip" install -q --disable-pip-version-check $more >&2
	echo "$more" >"$dir/$1"
fi
# Workflows that others wrote, each in an environment of its own, as it wants other versions; their programs are Debian's, as are CPython's tests.
if [ "${1:-}" = soak ]; then
	/usr/bin/python3 -c 'import test.test_concurrent_futures' 2>/dev/null || scripts/deps.sh /nowhere/tests="libpython$(/usr/bin/python3 -c 'import sys; print("%d.%d" % sys.version_info[:2])')-testsuite" >&2
	scripts/deps.sh bwa=bwa samtools=samtools bcftools=bcftools fastqc=fastqc TrimmomaticPE=trimmomatic >&2
	for flow in 'sunbeam sunbeamlib==5.2.2 cutadapt==5.2' 'nf-core nf-core==3.5.2 multiqc==1.27'; do
		own=$dir/${flow%% *}
		[ "$(cat "$own/ready" 2>/dev/null)" != "$flow" ] || continue
		python3 -m venv --clear "$own" >&2
		# shellcheck disable=SC2086 # one word for each package
		"$own/bin/pip" install -q --disable-pip-version-check ${flow#* } >&2
		echo "$flow" >"$own/ready"
	done
fi
# nextflow FOLDER VERSION DEPENDENCIES makes a folder of jars, unless they are there. Of 25.04, the newest in Maven Central, two dependencies are
# not there: a module of its own in this very version, and what only its web hooks use.
nextflow() {
	[ "$(cat "$dir/$1/ready" 2>/dev/null)" != "$2" ] && command -v mvn >/dev/null && command -v java >/dev/null || return 0
	rm -rf "${dir:?}/$1"
	mkdir -p "$dir/$1"
	cat >"$dir/$1/pom.xml" <<-END
		<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
		<groupId>berth</groupId><artifactId>doors</artifactId><version>1</version>
		<dependencies><dependency><groupId>io.nextflow</groupId><artifactId>nextflow</artifactId><version>$2</version>
		<exclusions><exclusion><groupId>io.seqera</groupId><artifactId>lib-trace</artifactId></exclusion></exclusions></dependency>$3</dependencies>
		</project>
	END
	mvn -q -B -f "$dir/$1/pom.xml" dependency:copy-dependencies -DoutputDirectory="$dir/$1/jars" >&2 && echo "$2" >"$dir/$1/ready"
}
nextflow nextflow 25.04.4 '<dependency><groupId>io.nextflow</groupId><artifactId>nf-lang</artifactId><version>25.04.0</version></dependency>'
[ "${1:-}" != soak ] || nextflow nextflow-old 24.10.0 ''
echo "$dir"
