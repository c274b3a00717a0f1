package parse

import (
	"fmt"
	"strings"

	"github.com/agnivade/levenshtein"
)

// maxSuggest is the length in bytes of the longest word that is compared. A longer word is no misspelling of a known name.
const maxSuggest = 128

// Nearest returns the known name that word was probably meant to be: the one at the
// least edit distance, if that is at most a third of the word and no more than
// four edits. Without one it returns "". On a tie the earlier name wins.
func Nearest(word string, known []string) string {
	if len(word) > maxSuggest {
		return ""
	}
	limit := min(4, (len(word)+2)/3)
	best, bestDistance := "", limit+1
	lower := strings.ToLower(word)
	for _, k := range known {
		if max(len(k)-len(word), len(word)-len(k)) >= bestDistance {
			continue
		}
		if d := levenshtein.ComputeDistance(lower, strings.ToLower(k)); d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// DidYouMean returns advice that names the nearest known name, or otherwise if no name is near.
func DidYouMean(word string, known []string, otherwise string) string {
	if near := Nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return otherwise
}
