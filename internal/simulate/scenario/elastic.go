package scenario

import (
	"fmt"
	"time"

	"berth/internal/core/job"
	"berth/internal/core/tomlfile"
	"berth/internal/simulate/workload"
)

func readElastic(t *tomlfile.Table) elasticSource {
	s := elasticSource{path: t.Path("")}
	kind := one(t, "facebook", "swim", "maps")
	switch kind {
	case "facebook":
		s.facebook = readFacebook(t.Sub("facebook"))
	case "swim":
		s.swim = t.Text("swim", "")
		s.users = int(t.Count("users", 1, 1<<31, 1))
		s.from = span(t, "from", 0, 0)
		s.length = span(t, "for", time.Second, 0)
	case "maps":
		s.own = readOwn(t)
	}
	if kind != "" {
		t.Done()
	}
	return s
}

func readFacebook(t *tomlfile.Table) *facebookSource {
	if t == nil {
		return nil
	}
	s := &facebookSource{params: workload.Facebook{
		Every: span(t, "every", time.Millisecond, 14*time.Second),
		Bin:   int(t.Count("bin", 1, int64(len(workload.FacebookBins)), 0)), Users: int(t.Count("users", 1, 1<<31, 1)),
	}}
	s.jobs, s.length = amount(t)
	tasks := 200.0 // mean number of tasks of a job
	if bin := s.params.Bin; bin > 0 {
		tasks = float64(workload.FacebookBins[bin-1].Maps + workload.FacebookBins[bin-1].Reduces)
	}
	if jobs := max(float64(s.jobs), float64(s.length)/float64(s.params.Every)); jobs*tasks > maxTasks {
		t.Bad("", fmt.Sprintf("these are about %.0f jobs, which is too many to simulate", jobs), "draw fewer jobs")
	}
	t.Done()
	return s
}

// readOwn reads a table of equal jobs.
func readOwn(t *tomlfile.Table) *ownSource {
	s := &ownSource{
		name: t.Text("name", "job"), user: t.Count("user", 0, 1<<31, 0), submit: job.Time(span(t, "submit", 0, 0)),
		repeat: int(t.Count("repeat", 1, maxJobs, 1)), every: span(t, "every", 0, 0), spread: t.Has("spread"),
		maps: int(t.Count("maps", 1, maxTasks, 1)), reduces: int(t.Count("reduces", 0, maxTasks, 0)),
		mapTime: times(t, "map_time"), reduceTime: times(t, "reduce_time"),
		shuffleTime: times(t, "shuffle_time"), first: times(t, "first_shuffle_time"),
		shuffles: t.Has("shuffle_time"), firsts: t.Has("first_shuffle_time"),
	}
	for _, each := range t.List("needs") {
		s.needs = append(s.needs, readNeeds(each))
	}
	if s.reduces > 0 && s.needs != nil {
		t.Bad("needs", "needs is given, but the job has reduces", "only the tasks of a bag have needs of their own")
	}
	if n := int(t.Count("spread", 1, maxJobs, 0)); n > 0 {
		s.repeat = n
	}
	for _, key := range []string{"submit", "repeat", "every"} {
		if s.spread && t.Has(key) {
			t.Bad(key, fmt.Sprintf("there are both spread and %s", key), "leave one out")
		}
	}
	t.Need("map_time", "maps", `give the duration of a map or task, as in "60s±20s"`)
	if s.reduces > 0 {
		t.Need("reduce_time", "reduces", `give the duration of a reduce, as in "2m±30s"`)
	}
	for _, key := range []string{"reduce_time", "shuffle_time", "first_shuffle_time"} {
		if s.reduces == 0 && t.Has(key) {
			t.Bad(key, key+" is given, but the job has no reduces", "write reduces, or leave it out")
		}
	}
	if t.Has("repeat") && s.repeat > 1 {
		t.Need("every", "repeat", "give the time between the jobs; 0s submits them all at once")
	}
	all := s.maps + s.reduces
	for _, n := range s.needs {
		all += n.tasks
	}
	if tasks := all * s.repeat; tasks > maxTasks {
		t.Bad("maps", fmt.Sprintf("these are %d tasks, which is too many to simulate", tasks), "reduce maps, reduces or repeat")
	}
	if end := s.submit.Sub(0) + time.Duration(s.repeat-1)*min(s.every, workload.Longest/time.Duration(s.repeat)); s.every > 0 && (end > workload.Longest || s.every > workload.Longest/time.Duration(s.repeat)) {
		t.Bad("every", "the last of the jobs is submitted after more than ten years", "reduce every or repeat")
	}
	return s
}

// readNeeds reads a table of tasks with needs of their own.
func readNeeds(t *tomlfile.Table) needsSource {
	s := needsSource{tasks: int(t.Count("maps", 1, maxTasks, 1)), time: times(t, "map_time"), Needs: job.Needs{CPUs: int(t.Count("cores", 1, 1024, 1)), Mem: int64(t.Size("memory"))}}
	t.Need("map_time", "map_time", `give the duration of such a task, as in "60s±20s"`)
	t.Done()
	return s
}
