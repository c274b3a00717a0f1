package procattr

import (
	"os"
	"os/user"
	"path/filepath"

	"berth/internal/core/job"
)

// LookPath returns the file of a program in the first folder of a list like PATH that has it, ""
// where none has. Folders that are not absolute are below base.
func LookPath(list, base, name string) string {
	for _, dir := range filepath.SplitList(list) {
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(base, dir)
		}
		path := filepath.Join(dir, name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() && st.Mode()&0o111 != 0 {
			return path
		}
	}
	return ""
}

// UserName returns the user's name as an environment says it, or else the system; "" where
// neither does.
func UserName(env []string) string {
	if name := job.Getenv(env, "USER"); name != "" {
		return name
	}
	u, err := user.Current()
	if err != nil {
		return ""
	}
	return u.Username
}
