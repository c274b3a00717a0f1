package ui

import (
	"fmt"
	"io"
	"strconv"

	"berth/internal/core/job"
	"berth/internal/core/plan/front"
)

// Sampled is the result of trials of a bag on types of machines, and the front for the remaining tasks. Keys are only
// added to it.
type Sampled struct {
	Types  []SampledType `json:"sampled"`        // the machine types on which tasks were run as trials
	Server float64       `json:"server_bytes_s"` // bytes per second of the data server for all machines; 0: not reached
	Peak   float64       `json:"peak_bytes_s"`   // the greatest rate that was seen, bytes per second
	Bytes  float64       `json:"task_bytes"`     // bytes that a task moves
	Left   int           `json:"left"`           // tasks that are not done yet
	front.View
}

// SampledType is the result of the trials on a type of machines.
type SampledType struct {
	Name    string  `json:"type"`         // its name in the catalogue
	Host    string  `json:"host"`         // the host that represented the type
	Job     job.ID  `json:"job"`          // the job that ran the trials
	Tried   int     `json:"tried"`        // tasks that ran on this type
	Carried int     `json:"carried"`      // tasks that ran on other types, whose times were converted for this type
	Mean    float64 `json:"task_s"`       // mean compute time of a task in seconds; 0: not known
	Low     float64 `json:"low_s"`        // lower end of its 95 % confidence interval
	Up      float64 `json:"up_s"`         // upper end
	Spread  float64 `json:"spread"`       // standard deviation of task times, divided by their mean
	Rate    float64 `json:"rate_bytes_s"` // bytes per second to a machine that uses the data server alone; 0: none moved
}

// SampledText writes trials and front for people.
func SampledText(w io.Writer, s Sampled) error {
	t := newTable("TYPE", "HOST", "TRIED", "CONVERTED", "TASK", "95 %", "SPREAD", "LINK")
	for _, k := range s.Types {
		link := "–"
		if k.Rate > 0 {
			link = job.FormatSize(int64(k.Rate)) + "/s"
		}
		t.add(k.Name, k.Host, strconv.Itoa(k.Tried), strconv.Itoa(k.Carried), fine(k.Mean), fine(k.Low)+"–"+fine(k.Up), fmt.Sprintf("%.2f", k.Spread), link)
	}
	if err := put(w, t.String()); err != nil {
		return err
	}
	switch {
	case s.Server > 0:
		fmt.Fprintf(w, "The data server moves %s/s for all machines together.\n", job.FormatSize(int64(s.Server)))
	case s.Peak > 0:
		fmt.Fprintf(w, "The data server moves at least %s/s; its capacity was not reached (give it with --server).\n", job.FormatSize(int64(s.Peak)))
	}
	fmt.Fprintf(w, "For the remaining %s of the bag:\n\n", job.Count(s.Left, "task"))
	return Front(w, s.View)
}

// fine formats seconds with three digits, because tasks of a sample may be short.
func fine(seconds float64) string { return fmt.Sprintf("%.3gs", seconds) }
