package job

import (
	"cmp"
	"reflect"
	"slices"
	"strings"
)

// Field returns the field of the spec that keys of JSON name, as in bag.retries. It is not valid in a spec without that part.
func (s *Spec) Field(keys string) reflect.Value {
	v := reflect.ValueOf(s)
	for key := range strings.SplitSeq(keys, ".") {
		if v = reflect.Indirect(v); !v.IsValid() {
			return v
		}
		all := reflect.VisibleFields(v.Type())
		i := slices.IndexFunc(all, func(f reflect.StructField) bool { tag, _, _ := strings.Cut(f.Tag.Get("json"), ","); return tag == key })
		v = v.FieldByIndex(all[i].Index)
	}
	return v
}

// batchOnly are the keys of what only a batch system has.
const batchOnly = "partition preemptible_ok account qos constraint exclusive batch_args wall_time max_allocs start_within_ns no_scout energy_weight courtesy"

// BatchOnly returns the names of the options that are set and that only a batch system has. A command
// without a batch system can say that they have no effect.
func (r *Request) BatchOnly() (names []string) {
	for key := range strings.FieldsSeq(batchOnly) {
		switch s := (&Spec{Request: *r}); {
		case s.Field("request." + key).IsZero():
		case key == "batch_args":
			names = append(names, cmp.Or(r.ArgsFlag, "batch-arg"))
		default:
			names = append(names, strings.ReplaceAll(strings.TrimSuffix(key, "_ns"), "_", "-"))
		}
	}
	return names
}
