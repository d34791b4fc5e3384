package source

import (
	"errors"
	"slices"
	"testing"
)

func TestTargetsBelongToTheirSamples(t *testing.T) {
	plain, err := Paths([]string{"a/1", "a/2", "b/3"}, []int64{5, 6, 7})
	if err != nil {
		t.Fatal(err)
	}
	boxes := &Boxes{Ends: []int{2, 2, 3}, Boxes: [][4]float64{{1}, {2}, {3}}, Labels: []int64{10, 20, 30}}
	list, err := WithTargets(plain, Targets{Masks: []string{"m/1", "m/2", "m/3"}, Boxes: boxes})
	if err != nil {
		t.Fatal(err)
	}
	if plain.HasMasks() || plain.HasBoxes() || !list.HasMasks() || !list.HasBoxes() || list.MostBoxes() != 2 {
		t.Error("the list without targets has some, or that with them none")
	}
	for i, want := range [][]int64{{10, 20}, {}, {30}} {
		got, labels := list.Boxes(i)
		if len(got) != len(want) || !slices.Equal(labels, want) || len(want) > 0 && got[0][0] != float64(want[0]/10) {
			t.Errorf("sample %d: %v, %v", i, got, labels)
		}
		if list.Mask(i) != "m/"+string(rune('1'+i)) || list.Label(i) != int64(5+i) || list.Path(i) != plain.Path(i) {
			t.Errorf("sample %d: %s, %s", i, list.Path(i), list.Mask(i))
		}
	}
}

func TestTargetsThatDoNotFit(t *testing.T) {
	list, err := Paths([]string{"1", "2"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	two := make([][4]float64, 2)
	for name, targets := range map[string]Targets{
		"masks":       {Masks: []string{"m"}},
		"no masks":    {Masks: []string{}},
		"samples":     {Boxes: &Boxes{Ends: []int{2}, Boxes: two, Labels: make([]int64, 2)}},
		"descending":  {Boxes: &Boxes{Ends: []int{3, 2}, Boxes: two, Labels: make([]int64, 2)}},
		"negative":    {Boxes: &Boxes{Ends: []int{-1, 2}, Boxes: two, Labels: make([]int64, 2)}},
		"boxes":       {Boxes: &Boxes{Ends: []int{1, 3}, Boxes: two, Labels: make([]int64, 3)}},
		"their label": {Boxes: &Boxes{Ends: []int{1, 2}, Boxes: two, Labels: make([]int64, 1)}},
	} {
		if _, err := WithTargets(list, targets); !errors.Is(err, ErrTargets) {
			t.Errorf("%s: %v, want %v", name, err, ErrTargets)
		}
	}
}
