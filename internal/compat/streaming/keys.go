package streaming

import (
	_ "embed"
	"strings"
	"sync"

	"berth/internal/core/job/parse"
)

// Key is a key of a job's configuration.
type Key struct {
	Name    string
	Old     []string // earlier spellings, which are accepted too
	Meaning string
	Status  Status
	effect
	why  string   // why it is refused
	only []string // the values with which it is not, quoted
}

//go:embed keys.txt
var keysText string

// Keys returns all keys that berth knows, in the order in which help shows them.
func Keys() []Key { return keyTable().keys }

// keyed is the table of keys.
type keyed struct {
	keys  []Key
	index map[string]int // by all spellings
}

// keyTable reads the table when it is asked for it first, as most processes need none.
var keyTable = sync.OnceValue(func() keyed {
	t := keyed{index: map[string]int{}}
	for _, row := range parse.Rows(keysText) {
		names := strings.Fields(row[1])
		for _, name := range names {
			t.index[name] = len(t.keys)
		}
		k := Key{Name: names[0], Old: names[1:], Meaning: row[2], Status: Status(row[0])}
		if k.Status == Refused {
			k.why, k.only = row[3], row[4:]
			k.Meaning += ": " + k.why
		} else if len(row) > 3 {
			k.effect = effect{row[3], strings.Join(row[4:], "")}
		}
		t.keys = append(t.keys, k)
	}
	return t
})

// findKey returns the key of a spelling, or nil.
func findKey(name string) *Key {
	t := keyTable()
	if i, known := t.index[name]; known {
		return &t.keys[i]
	}
	return nil
}

// idleFamilies are prefixes of keys that belong to parts of Hadoop berth does not have.
const idleFamilies = `yarn. dfs. fs. hadoop. ipc. io. net. ha. tez. hive. nfs. rpc. s3. s3native. ftp. file. map.sort. tfile.
	mapreduce.jobhistory. mapreduce.jobtracker. mapreduce.tasktracker. mapreduce.shuffle. mapreduce.cluster. mapreduce.client. mapreduce.ifile.
	seq.io. adl. wasb. rm.`

// keyNames returns every spelling of every key, for suggestions.
func keyNames() []string {
	names := make([]string, 0, 2*len(Keys()))
	for _, k := range Keys() {
		names = append(names, k.Name)
		names = append(names, k.Old...)
	}
	return names
}
