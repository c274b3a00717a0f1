package ui

import (
	"strings"
	"testing"

	"berth/internal/server/history"
)

func TestAccuracyText(t *testing.T) {
	run := history.Errors{Runs: 3, MeanAbs: 9, MedianAbs: 5, Mean: 3, Within: 2. / 3, Worst: 25, WorstPred: 15, WorstRun: "mr-4"}
	start := history.Errors{Runs: 1, MeanAbs: 80, MedianAbs: 80, Mean: -80, Within: 1, Worst: -80, WorstPred: 100, WorstRun: "mr-2"}
	s := history.Score{Runs: 3, Below: 1, Within: 2, MedianRatio: 0.75, WorstRatio: 0.9, Run: run, Start: start}
	other := history.Score{Start: history.Errors{Runs: 1, Within: 1, WorstRun: "bag-1"}}
	for want, a := range map[string]history.Accuracy{
		"no run with a prediction has ended yet\n": {},
		`3 runs with a predicted run time: 2 within its bounds, 1 shorter, 0 longer
run time divided by its upper bound (1 or less is within): median 0.75, worst 0.90

APPLICATION  TIME   RUNS  MEAN ERROR  MEDIAN    BIAS  WITHIN   WORST     OF  IN RUN
all          start     1       1m20s   1m20s  -1m20s   100 %  -1m20s  1m40s  mr-2
             run       3          9s      5s     +3s    67 %    +25s    15s  mr-4
bad^G-1      start     1          0s      0s      0s   100 %      0s     0s  bag-1
wc-1         start     1       1m20s   1m20s  -1m20s   100 %  -1m20s  1m40s  mr-2
             run       3          9s      5s     +3s    67 %    +25s    15s  mr-4

MEAN ERROR, MEDIAN: of |actual − predicted|, lower is better; BIAS: mean of actual − predicted, + is later
than predicted; WITHIN: runs within the bounds; WORST: the largest difference, where OF was predicted
`: {Score: s, Applications: []history.AppScore{{App: "bad\a-1", Score: other}, {App: "wc-1", Score: s}}},
	} {
		var b strings.Builder
		if err := Accuracy(&b, a); err != nil || b.String() != want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
		}
	}
}
