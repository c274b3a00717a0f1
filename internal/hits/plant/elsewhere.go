//go:build !amd64

package plant

const here = "only programs for amd64 can be planted"

// Follow does nothing, because no program is planted.
func (s *Session) Follow(int) {}
