package ui

import (
	"strings"
	"testing"

	"berth/internal/server/history"
)

func TestAccuracyText(t *testing.T) {
	run := history.Errors{Runs: 3, MeanAbs: 9, MedianAbs: 5, Mean: 3, Within: 2. / 3, Near: 1. / 3, Worst: 25, WorstPred: 15, WorstRun: "mr-4"}
	start := history.Errors{Runs: 1, MeanAbs: 80, MedianAbs: 80, Mean: -80, Within: 1, Worst: -80, WorstPred: 100, WorstRun: "mr-2"}
	s := history.Score{Runs: 3, Below: 1, Within: 2, MedianRatio: 0.75, WorstRatio: 0.9, Run: run, Start: start,
		Cost: history.Errors{Runs: 2, MeanAbs: 0.5, MedianAbs: 0.25, Mean: -0.004, Within: 0.5, Near: 0.5, Worst: 1.25, WorstPred: 10, WorstRun: "bag-9"},
		Ends: history.EndErrors{Tasks: 40, MedianAbs: 0.04, Mean: -0.017, Near: 0.85}, Band: history.Band{Starts: 20, Before: 0.05, Lower: 0.45, Upper: 0.4, After: 0.1}}
	other := history.Score{Start: history.Errors{Runs: 1, Within: 1, WorstRun: "bag-1"}}
	for want, a := range map[string]history.Accuracy{
		"no run with a prediction has ended yet\n": {},
		`3 runs with a predicted run time: 2 within its bounds, 1 shorter, 0 longer
run time divided by its upper bound (1 or less is within): median 0.75, worst 0.90

APPLICATION  PREDICTED  RUNS  MEAN ERROR  MEDIAN    BIAS  WITHIN  BY 10 %   WORST     OF  IN RUN
all          start         1       1m20s   1m20s  -1m20s   100 %      0 %  -1m20s  1m40s  mr-2
             run           3          9s      5s     +3s    67 %     33 %    +25s    15s  mr-4
             cost          2        0.50    0.25    0.00    50 %     50 %   +1.25  10.00  bag-9
             end          40                 4 %    -2 %             85 %
bad^G-1      start         1          0s      0s      0s   100 %      0 %      0s     0s  bag-1
wc-1         start         1       1m20s   1m20s  -1m20s   100 %      0 %  -1m20s  1m40s  mr-2
             run           3          9s      5s     +3s    67 %     33 %    +25s    15s  mr-4
             cost          2        0.50    0.25    0.00    50 %     50 %   +1.25  10.00  bag-9
             end          40                 4 %    -2 %             85 %

where 20 starts fell beside the band of 80 % that was predicted; | is where a calibrated one has it
  before       5 % ##  |
  lower half  45 % ################|#
  upper half  40 % ################|
  after       10 % ####|

MEAN ERROR, MEDIAN: of |actual − predicted|, lower is better; BIAS: mean of actual − predicted, + is later
than predicted; WITHIN: runs within the bounds; BY 10 %: runs off by at most that; WORST: the largest difference,
where OF was predicted; cost is that of rented machines; end is of a running task, expected when half of its time
was over, in parts of that time, and its RUNS are tasks
`: {Score: s, Applications: []history.AppScore{{App: "bad\a-1", Score: other}, {App: "wc-1", Score: s}}},
	} {
		var b strings.Builder
		if err := Accuracy(&b, a); err != nil || b.String() != want {
			t.Errorf("%v, got\n%s\nwant\n%s", err, b.String(), want)
		}
	}
}
