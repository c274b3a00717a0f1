//go:build !amd64

package plant

const here = "only programs for amd64 can be planted"

// Follow has nothing to do.
func (s *Session) Follow(int) {}
