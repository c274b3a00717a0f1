package slurm

import (
	"fmt"
	"maps"
	"strings"

	"berth/internal/driver"
)

// The formats that are asked of Slurm's commands, and the parsers of their output. They are checked with the output of Slurm 22.05,
// 23.11, 24.05 and 25.11 (testdata).

// separator separates the fields of squeue's lines. No name can contain it.
const separator = "\x1f"

// Fields of squeue -O. Texts of users (job names, comments) are not asked for, as they may contain
// anything. Slurm's own explanation comes last.
var (
	// queueFields are the fields of each job in a snapshot.
	queueFields = strings.Fields(`JobArrayID UserName Partition State NumNodes NumCPUs tres-alloc OverSubscribe
		TimeLimit StartTime EndTime PriorityLong NodeList SchedNodes Reservation Account QOS
		tres-per-node tres-per-job Reason`)
	// watchFields are the fields of berth's own jobs in a poll.
	watchFields = strings.Fields("JobID State StartTime EndTime TimeLimit NodeList exit_code Reason SubmitTime Command")
	// findFields are the fields by which a job with a lost id is found.
	findFields = []string{"JobID", "State", "Command"}
)

// squeue returns the command that prints these fields. "Name:" without a size is as wide as
// the value, and squeue prints the text behind the colon after the value.
func squeue(fields []string) string {
	return "squeue --noheader --noconvert --Format=" + strings.Join(fields, ":"+separator+",") + ":" + separator
}

// parseTable splits squeue's lines into n fields each. With several clusters squeue prints
// their names between. Lines of another form are skipped; if all lines have another form, it is an error.
func parseTable(out string, n int) ([][]string, error) {
	var rows [][]string
	bad := ""
	for line := range strings.Lines(out) {
		line = strings.TrimSuffix(line, "\n")
		fields := strings.SplitN(line, separator, n+1)
		switch {
		case len(fields) == n+1:
			rows = append(rows, fields[:n])
		case line != "" && !strings.HasPrefix(line, "CLUSTER: "):
			bad = line
		}
	}
	if bad != "" && len(rows) == 0 {
		return nil, fmt.Errorf("squeue's output is not understood: %.200q", bad)
	}
	return rows, nil
}

// parseRecord splits a line of "scontrol show … -o" into its values by key. A value may
// contain blanks. A word that looks like a key is part of the value if the key was there before, or inside
// a Reason or Comment, which administrators write.
func parseRecord(line string) map[string]string {
	record := map[string]string{}
	key := ""
	for word := range strings.SplitSeq(strings.TrimRight(line, " \n"), " ") {
		name, value, ok := strings.Cut(word, "=")
		if _, known := record[name]; ok && isKey(name) && !known && (!freeText(key) || afterFreeText(name)) {
			key = name
			record[key] = value
		} else if key != "" && word != "" {
			record[key] = strings.TrimPrefix(record[key]+" "+word, " ")
		}
	}
	return record
}

// isKey reports whether a word has the form of scontrol's keys.
func isKey(s string) bool {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/:") == ""
}

// freeText reports whether people write this key's value.
func freeText(key string) bool { return key == "Reason" || key == "Comment" || key == "Extra" }

// afterFreeText are the keys that scontrol prints after a free text.
var afterFreeText = driver.Says(`^(Comment|Extra|InstanceId|InstanceType|ReservationName|TLSCertTokenSet|TLSCertLastRenewal|Topology|Parameters)$`)

// parseRecords splits the output of "scontrol show … -o" into the records that have the key.
func parseRecords(out, key string) []map[string]string {
	var records []map[string]string
	for line := range strings.Lines(out) {
		if r := parseRecord(line); r[key] != "" {
			records = append(records, r)
		}
	}
	return records
}

// parseConfig splits the lines "Key = value" of "scontrol show config".
func parseConfig(out string) map[string]string {
	return maps.Collect(driver.Table(out).All())
}

// parseTestOnly returns the start in the message of sbatch --test-only: "sbatch: Job 9 to start
// at 1795231277 using 8 processors on nodes n[1-8] in partition main".
func parseTestOnly(said string) (start string, ok bool) {
	_, rest, ok := strings.Cut(said, " to start at ")
	start, _, _ = strings.Cut(rest, " ")
	return start, ok && start != ""
}
