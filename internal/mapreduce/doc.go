// Package mapreduce is the data path of a MapReduce job: it cuts input into
// splits, collects, sorts and spills what mappers write, merges spills into map
// outputs, serves and fetches their segments, merges those through the reducer,
// and writes and commits part files.
//
// It works on files, readers and programs that it is given. It knows no
// coordinator and starts no processes: a Program is handed in by the worker.
// Memory is bounded by what the caller allows; everything written to scratch
// folders is compressed and checksummed.
//
// Order: records are sorted by key (byte order, or the job's comparator), and
// among equal keys by the bytes of key and value. The order is total, so a job's
// output depends on its input alone, not on splits, spills or timing.
package mapreduce
