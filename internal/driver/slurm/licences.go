package slurm

import (
	"strings"

	"berth/internal/core/cluster"
)

// parseLicences reads the output of scontrol show licenses. A licence that the accounting gives to several clusters is named NAME@SERVER, by which it
// is requested.
func parseLicences(out string) (all []cluster.Licence) {
	for word := range strings.FieldsSeq(out) {
		name, value, _ := strings.Cut(word, "=")
		if name == "LicenseName" {
			all = append(all, cluster.Licence{Name: value})
			continue
		}
		if len(all) == 0 {
			continue // it says that there are none
		}
		switch last := &all[len(all)-1]; name {
		case "Total":
			last.Total = parseCount(value)
		case "Free":
			last.Free = parseCount(value)
		}
	}
	return all
}
