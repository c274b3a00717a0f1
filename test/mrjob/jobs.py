"""Jobs of mrjob that tests run with -r inline and with -r hadoop. The environment variable MRJOB_TEST_JOB says which."""
import os
import re
import sys

from mrjob.compat import jobconf_from_env
from mrjob.job import MRJob
from mrjob.protocol import JSONValueProtocol, PickleProtocol, RawProtocol, RawValueProtocol, ReprProtocol
from mrjob.step import MRStep


def words(line):
    return re.findall(r"[\w']+", line.lower())


class Counting(MRJob):
    """Counters of mapper, reducer and further steps."""

    def mapper(self, _, line):
        self.increment_counter('lines', 'all')
        self.increment_counter('lines', 'long' if len(line) > 20 else 'short, or so')
        for w in words(line):
            yield w, 1

    def reducer(self, word, ones):
        self.increment_counter('words', word[:1])
        self.set_status('at ' + word)
        yield word, sum(ones)


class Combining(Counting):
    def combiner(self, word, ones):
        yield word, sum(ones)


class Steps(MRJob):
    """Three steps; the last has no mapper of its own."""

    def steps(self):
        return [MRStep(mapper=self.split, reducer=self.add), MRStep(mapper=self.turn, reducer=self.gather), MRStep(reducer=self.top)]

    def split(self, _, line):
        for w in words(line):
            yield w, 1

    def add(self, word, ones):
        yield word, sum(ones)

    def turn(self, word, n):
        yield n, word

    def gather(self, n, ws):
        self.increment_counter('steps', 'groups')
        yield n, sorted(ws)

    def top(self, n, lists):
        for ws in lists:
            yield n, ws[:3]


class MapOnly(MRJob):
    OUTPUT_PROTOCOL = RawValueProtocol

    def mapper(self, _, line):
        if 'the' in line:
            yield None, line


class NoReducerOutput(MRJob):
    def mapper(self, _, line):
        yield len(line), 1

    def reducer(self, key, values):
        self.increment_counter('lengths', 'seen')
        if False:
            yield


class InitFinal(MRJob):
    """State that is kept from record to record."""

    def mapper_init(self):
        self.n = 0

    def mapper(self, _, line):
        self.n += len(words(line))

    def mapper_final(self):
        yield 'words', self.n

    def reducer_init(self):
        self.seen = 0

    def reducer(self, key, values):
        self.seen += sum(values)

    def reducer_final(self):
        yield 'all', self.seen


class SortValues(MRJob):
    """Values in order (a secondary sort)."""
    SORT_VALUES = True

    def mapper(self, _, line):
        for w in words(line):
            yield w[:1], w

    def reducer(self, letter, ws):
        yield letter, list(ws)


class Raw(MRJob):
    """Keys and values as they are, without JSON."""
    INTERNAL_PROTOCOL = RawProtocol
    OUTPUT_PROTOCOL = RawProtocol

    def mapper(self, _, line):
        for w in words(line):
            yield w, str(len(w))

    def reducer(self, word, lengths):
        yield word, ','.join(lengths)


class Protocols(MRJob):
    """Values of JSON, Pickle between the phases, and letters beyond ASCII."""
    INPUT_PROTOCOL = JSONValueProtocol
    INTERNAL_PROTOCOL = PickleProtocol
    OUTPUT_PROTOCOL = ReprProtocol

    def mapper(self, _, record):
        yield record['name'], {record['n']}

    def reducer(self, name, sets):
        yield name, {'all': sorted(set().union(*sets)), 'ü': True}


class Commands(MRJob):
    """Programs in place of Python."""
    OUTPUT_PROTOCOL = RawValueProtocol

    def mapper_cmd(self):
        return "tr -s ' ' '\\n'"

    def reducer_cmd(self):
        return "sh -c 'cut -f1 | uniq -c'"  # a key alone comes with a tab, as in Hadoop and unlike in the runner local


class WholeFiles(MRJob):
    """Files as wholes, which mrjob copies to the task with "hadoop fs -copyToLocal"."""

    def mapper_raw(self, path, uri):
        with open(path, 'rb') as f:
            yield os.path.basename(uri), len(f.read())

    def reducer(self, name, lengths):
        yield name, list(lengths)


class PreFilter(MRJob):
    def mapper_pre_filter(self):
        return 'grep the'

    def mapper(self, _, line):
        self.increment_counter('lines', 'with the')
        yield 'lines', 1

    def reducer(self, key, values):
        yield key, sum(values)


class PassThrough(MRJob):
    """Arguments and a file of the job's own."""

    def configure_args(self):
        super(PassThrough, self).configure_args()
        self.add_passthru_arg('--least', type=int, default=1)
        self.add_file_arg('--stop')

    def mapper_init(self):
        with open(self.options.stop) as f:
            self.stop = set(words(f.read()))

    def mapper(self, _, line):
        for w in words(line):
            if w not in self.stop and len(w) >= self.options.least:
                yield w, 1

    def reducer(self, word, ones):
        yield word, sum(ones)


class Shipped(MRJob):
    """Files, a folder and an archive that travel with the job, and a module in a folder."""
    FILES = ['extra/list.txt#names.txt']
    DIRS = ['extra']
    ARCHIVES = ['extra.tar.gz#packed']

    def mapper_init(self):
        with open('names.txt') as f:
            self.names = f.read().split()
        with open(os.path.join('extra', 'list.txt')) as f:
            self.again = f.read().split()
        with open(os.path.join('packed', 'inner.txt')) as f:
            self.inner = f.read().strip()

    def mapper(self, _, line):
        for w in words(line):
            if w in self.names and w in self.again:
                yield w, self.inner

    def reducer(self, word, inner):
        yield word, len(list(inner))


class CmdEnv(MRJob):
    def mapper_init(self):
        yield os.environ['GREETING'], jobconf_from_env('mapreduce.job.name')

    def reducer(self, key, values):
        yield key, sorted(set(values))


class ByFile(MRJob):
    """The name of a map's input."""

    def mapper(self, _, line):
        name = jobconf_from_env('mapreduce.map.input.file')
        yield os.path.basename(name), 1

    def reducer(self, name, ones):
        yield name, sum(ones)


class Partitioned(MRJob):
    PARTITIONER = 'org.apache.hadoop.mapred.lib.HashPartitioner'
    JOBCONF = {'mapreduce.job.reduces': 3}

    def mapper(self, _, line):
        for w in words(line):
            yield w, 1

    def reducer(self, word, ones):
        yield word, sum(ones)


class Numeric(MRJob):
    """Keys in the order of numbers."""
    JOBCONF = {
        'mapreduce.job.output.key.comparator.class': 'org.apache.hadoop.mapred.lib.KeyFieldBasedComparator',
        'mapreduce.partition.keycomparator.options': '-nr',
        'mapreduce.job.reduces': 1,
    }

    def mapper(self, _, line):
        yield len(line), 1

    def reducer(self, n, ones):
        yield n, sum(ones)


class Empty(MRJob):
    def mapper(self, _, line):
        if False:
            yield

    def reducer(self, key, values):
        yield key, list(values)


class FailsInMapper(MRJob):
    def mapper(self, _, line):
        if 'fox' in line:
            raise ValueError('no foxes, please')
        yield line, 1


class FailsInReducer(MRJob):
    def mapper(self, _, line):
        for w in words(line):
            yield w, 1

    def reducer(self, word, ones):
        if word == 'fox':
            raise KeyError('a fox in the reducer')
        yield word, sum(ones)


class FailsInStep(Steps):
    """The second step fails; the counters of the first are there."""

    def split(self, _, line):
        self.increment_counter('steps', 'lines')
        for w in words(line):
            yield w, 1

    def turn(self, word, n):
        raise RuntimeError('the second step is broken')
        yield


class Exits(MRJob):
    def mapper_final(self):
        sys.stderr.write('last words\n')
        sys.stderr.flush()
        os._exit(42)

    def mapper(self, _, line):
        pass


def main():
    """Runs one job. Tasks have the variable from the job's user."""
    globals()[os.environ['MRJOB_TEST_JOB']].run()


if __name__ == '__main__':
    main()
