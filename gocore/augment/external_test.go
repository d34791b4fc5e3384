package augment

import (
	"image"
	"strings"
	"testing"
)

const python = `{"op":"Python","name":"f","workers":2}`

func TestParseCutsTheListAtFunctions(t *testing.T) {
	specs := []string{
		python, crop("RandomCrop", 30, 40), flip("horizontal"), `{"op":"Native","function":1,"height":8,"width":9}`,
		flip("vertical"), `{"op":"Rescaling","scale":2}`, python,
	}
	pipelines, err := Parse(raw(specs), 3)
	if err != nil {
		t.Fatal(err)
	}
	if len(pipelines) != 3 {
		t.Fatalf("%d pipelines", len(pipelines))
	}
	for i, want := range []struct {
		positions []int
		size      image.Point
		external  int
		float     bool
	}{
		{nil, image.Point{}, 0, false},
		{[]int{1, 2}, image.Pt(40, 30), 3, false},
		{[]int{4}, image.Pt(9, 8), 6, true},
	} {
		p := pipelines[i]
		if p.Size != want.size || p.External.Position != want.external || p.External.Float != want.float || !p.Bytes {
			t.Errorf("pipeline %d: %+v, %+v", i, p, p.External)
		}
		if len(p.steps) != len(want.positions) {
			t.Fatalf("pipeline %d has %d steps", i, len(p.steps))
		}
		for s, position := range want.positions {
			if p.steps[s].position != position {
				t.Errorf("pipeline %d, step %d: the operation at %d", i, s, p.steps[s].position)
			}
		}
	}
	if pipelines[0].Values != nil || pipelines[2].Values == nil {
		t.Error("Rescaling is not in the last pipeline alone")
	}
}

func TestParseRefusesFunctionsOutOfPlace(t *testing.T) {
	rescaling := `{"op":"Rescaling","scale":2}`
	for text, specs := range map[string][]string{
		"not fixed":              {python},
		"nothing comes after":    {crop("CenterCrop", 8, 8), rescaling, python, flip("horizontal")},
		"changes the size":       {crop("CenterCrop", 8, 8), rescaling, `{"op":"Python","height":4,"width":4}`},
		"within another":         {crop("CenterCrop", 8, 8), `{"op":"RandomApply","ops":[` + python + `],"p":1}`},
		"no function":            {crop("CenterCrop", 8, 8), `{"op":"Native"}`},
		"-2 workers":             {crop("CenterCrop", 8, 8), `{"op":"Python","workers":-2}`},
		"4 x 0 pixels":           {crop("CenterCrop", 8, 8), `{"op":"Python","height":4}`},
		"RandomCrop(height=9":    {`{"op":"Python","height":8,"width":8}`, crop("RandomCrop", 9, 8)},
		"for pictures of 0 to 2": {crop("CenterCrop", 8, 8), rescaling, `{"op":"RandomInvert","factor":[0,1]}`, python},
	} {
		if _, err := Parse(raw(specs), 3); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("got %v, want %q", err, text)
		}
	}
}
