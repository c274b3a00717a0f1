package scenario

import (
	"fmt"
	"time"

	"berth/internal/job"
	"berth/internal/workload"
)

func readElastic(t *table) elasticSource {
	s := elasticSource{path: t.path}
	kind := one(t, "facebook", "swim", "maps")
	switch kind {
	case "facebook":
		s.facebook = readFacebook(t.sub("facebook"))
	case "swim":
		s.swim = t.text("swim", "")
		s.users = int(t.count("users", 1, 1<<31, 1))
		s.from = t.span("from", 0, 0)
		s.length = t.span("for", time.Second, 0)
	case "maps":
		s.own = readOwn(t)
	}
	if kind != "" {
		t.done()
	}
	return s
}

func readFacebook(t *table) *facebookSource {
	if t == nil {
		return nil
	}
	s := &facebookSource{params: workload.Facebook{
		Every: t.span("every", time.Millisecond, 14*time.Second),
		Bin:   int(t.count("bin", 1, int64(len(workload.FacebookBins)), 0)), Users: int(t.count("users", 1, 1<<31, 1)),
	}}
	s.jobs, s.length = amount(t)
	tasks := 200.0 // of a job; on average
	if bin := s.params.Bin; bin > 0 {
		tasks = float64(workload.FacebookBins[bin-1].Maps + workload.FacebookBins[bin-1].Reduces)
	}
	if jobs := max(float64(s.jobs), float64(s.length)/float64(s.params.Every)); jobs*tasks > maxTasks {
		t.bad("", fmt.Sprintf("these are about %.0f jobs, which is too many to simulate", jobs), "draw fewer")
	}
	t.done()
	return s
}

// readOwn reads jobs of one's own, which are all alike.
func readOwn(t *table) *ownSource {
	s := &ownSource{
		name: t.text("name", "job"), user: t.count("user", 0, 1<<31, 0), submit: job.Time(t.span("submit", 0, 0)),
		repeat: int(t.count("repeat", 1, maxJobs, 1)), every: t.span("every", 0, 0), spread: t.has("spread"),
		maps: int(t.count("maps", 1, maxTasks, 1)), reduces: int(t.count("reduces", 0, maxTasks, 0)),
		mapTime: t.times("map_time"), reduceTime: t.times("reduce_time"),
		shuffleTime: t.times("shuffle_time"), first: t.times("first_shuffle_time"),
		shuffles: t.has("shuffle_time"), firsts: t.has("first_shuffle_time"),
	}
	if n := int(t.count("spread", 1, maxJobs, 0)); n > 0 {
		s.repeat = n
	}
	for _, key := range []string{"submit", "repeat", "every"} {
		if s.spread && t.has(key) {
			t.bad(key, fmt.Sprintf("there are both spread and %s", key), "leave one out")
		}
	}
	if !t.has("map_time") {
		t.bad("maps", "map_time is missing", `say how long a map or task takes, as in "60s±20s"`)
	}
	if s.reduces > 0 && !t.has("reduce_time") {
		t.bad("reduces", "reduce_time is missing", `say how long a reduce takes, as in "2m±30s"`)
	}
	for _, key := range []string{"reduce_time", "shuffle_time", "first_shuffle_time"} {
		if s.reduces == 0 && t.has(key) {
			t.bad(key, key+" stands beside no reduces", "write reduces, or leave it out")
		}
	}
	if t.has("repeat") && s.repeat > 1 && !t.has("every") {
		t.bad("repeat", "every is missing", "say how long after one another the jobs come; 0s: at once")
	}
	if tasks := (s.maps + s.reduces) * s.repeat; tasks > maxTasks {
		t.bad("maps", fmt.Sprintf("these are %d tasks, which is too many to simulate", tasks), "have fewer of them")
	}
	if end := s.submit.Sub(0) + time.Duration(s.repeat-1)*min(s.every, workload.Longest/time.Duration(s.repeat)); s.every > 0 && (end > workload.Longest || s.every > workload.Longest/time.Duration(s.repeat)) {
		t.bad("every", "the last of them comes after more than ten years", "")
	}
	return s
}
