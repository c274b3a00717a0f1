package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// side is the side length of a picture of medium size in pixels: a third of a megabyte.
const side = 350

// pictures writes n pictures into a folder and returns their names. All pictures differ, also
// between turns, so that none is in a machine's cache. The sizes are the same in each turn.
func pictures(dir string, n, turn int) (names []string, err error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	sizes := rand.New(rand.NewPCG(1, 1))
	for i := range n {
		width := int(side * math.Exp(0.3*sizes.NormFloat64()))
		name := fmt.Sprintf("%04d.ppm", i+1)
		head := fmt.Sprintf("P6\n# turn %d picture %d\n%d %d\n255\n", turn, i+1, width, side)
		if err := os.WriteFile(filepath.Join(dir, name), append([]byte(head), pixels(width, side, i)...), 0o600); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// pixels draws waves.
func pixels(width, height, seed int) []byte {
	all := make([]byte, 0, 3*width*height)
	a := 0.02 + 0.001*float64(seed%17)
	for y := range height {
		for x := range width {
			v := 100 * math.Sin(a*float64(x)) * math.Cos(a*float64(y))
			all = append(all, byte(128+v), byte(128-v), byte((x+y)&255))
		}
	}
	return all
}
