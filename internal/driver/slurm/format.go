package slurm

import (
	"fmt"
	"strings"
)

// What is asked of Slurm's commands and how they answer. Checked with Slurm 22.05, 23.11,
// 24.05 and 25.11 (testdata).

// separator stands between the fields of squeue's lines: no name can have it.
const separator = "\x1f"

// Fields of squeue -O. What users name (jobs, comments) is not asked for, as they may write
// anything; what Slurm explains in its own words comes last.
var (
	// queueFields are what a snapshot needs of each job.
	queueFields = []string{"JobArrayID", "UserName", "Partition", "State", "NumNodes", "NumCPUs", "tres-alloc", "OverSubscribe",
		"TimeLimit", "StartTime", "EndTime", "PriorityLong", "NodeList", "SchedNodes", "Reservation", "Account", "QOS", "Reason"}
	// watchFields are what is watched of our own jobs.
	watchFields = []string{"JobID", "State", "StartTime", "EndTime", "TimeLimit", "NodeList", "exit_code", "Reason"}
	// findFields are what a job whose id was lost is known by.
	findFields = []string{"JobID", "State", "Command"}
)

// tableArgs returns squeue's options for these fields: "Name:" without a size has the
// width it needs, and what follows the colon is printed behind the value.
func tableArgs(fields []string) []string {
	return []string{"--noheader", "--noconvert", "--Format=" + strings.Join(fields, ":"+separator+",") + ":" + separator}
}

// parseTable splits squeue's lines into n fields each. With several clusters squeue puts
// their names between; lines that are none of ours are passed over, unless all are.
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
		return nil, fmt.Errorf("squeue's answer is not understood: %.200q", bad)
	}
	return rows, nil
}

// parseRecord splits a line of "scontrol show … -o" into its values by key. A value may
// have blanks; what looks like a key is none if it stood before, and none in a Reason or
// Comment, which administrators write.
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

// isKey reports whether a word is formed as scontrol's keys are.
func isKey(s string) bool {
	if s == "" || s[0] < 'A' || s[0] > 'Z' {
		return false
	}
	return strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/:") == ""
}

// freeText reports whether people write the key's value.
func freeText(key string) bool { return key == "Reason" || key == "Comment" || key == "Extra" }

// afterFreeText reports whether scontrol prints the key behind one of free text.
func afterFreeText(key string) bool {
	switch key {
	case "Comment", "Extra", "InstanceId", "InstanceType", "ReservationName", "TLSCertTokenSet", "TLSCertLastRenewal", "Topology", "Parameters":
		return true
	}
	return false
}

// parseRecords splits the output of "scontrol show … -o" into records that have the key.
func parseRecords(out, key string) []map[string]string {
	var records []map[string]string
	for line := range strings.Lines(out) {
		if r := parseRecord(line); r[key] != "" {
			records = append(records, r)
		}
	}
	return records
}

// parseConfig splits the lines "Key = value" of scontrol show config.
func parseConfig(out string) map[string]string {
	config := map[string]string{}
	for line := range strings.Lines(out) {
		if key, value, ok := strings.Cut(line, "="); ok {
			config[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return config
}

// answers reports whether scontrol ping found a controller that answers.
func answers(ping string) bool { return strings.Contains(ping, " is UP") }

// parseSubmitted returns the job's id from what sbatch --parsable printed: the id, and
// behind a semicolon the cluster. What a site's plugins print may stand before it.
func parseSubmitted(out string) (id string, ok bool) {
	for line := range strings.Lines(out) {
		first, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		if n, is := digits(first); is && n > 0 {
			id, ok = first, true
		}
	}
	return id, ok
}

// parseTestOnly returns the start in what sbatch --test-only says: "sbatch: Job 9 to start
// at 1795231277 using 8 processors on nodes n[1-8] in partition main".
func parseTestOnly(said string) (start string, ok bool) {
	_, rest, ok := strings.Cut(said, " to start at ")
	start, _, _ = strings.Cut(rest, " ")
	return start, ok && start != ""
}
