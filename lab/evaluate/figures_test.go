package evaluate_test

import (
	"bytes"
	"encoding/xml"
	"image/png"
	"io"
	"strings"
	"testing"

	"berth/lab/draw"
	"berth/lab/evaluate"
)

// drawn returns the figure of a report as SVG and as PNG, or nil if the report has none.
func drawn(t *testing.T, r *evaluate.Report) (svg, image []byte) {
	t.Helper()
	f := draw.Report(r)
	if f == nil {
		return nil, nil
	}
	svg, err := f.SVG()
	if err != nil {
		t.Fatal(err)
	}
	if image, err = f.PNG(); err != nil {
		t.Fatal(err)
	}
	return svg, image
}

// TestFigures checks that SVG is valid XML, that PNG is an image of a page's width, and that both
// are the same for any number of workers.
func TestFigures(t *testing.T) {
	few := evaluate.Reports(t, 1)
	for name, r := range evaluate.Reports(t, 8) {
		svg, image := drawn(t, r)
		if strings.HasPrefix(name, "table") {
			if svg != nil {
				t.Errorf("%s has a figure", name)
			}
			continue
		}
		if again, pixels := drawn(t, few[name]); !bytes.Equal(svg, again) || !bytes.Equal(image, pixels) {
			t.Errorf("%s differs between one worker and eight", name)
		}
		for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
			if _, err := d.Token(); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		for _, c := range r.Cases {
			if !bytes.Contains(svg, []byte(">"+strings.ReplaceAll(c.Label, "'", "&#39;")+"<")) {
				t.Errorf("%s: the legend lacks %s", name, c.Label)
			}
		}
		p, err := png.Decode(bytes.NewReader(image))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if w := p.Bounds().Dx(); w < 1300 {
			t.Errorf("%s: %d points wide", name, w)
		}
	}
}
