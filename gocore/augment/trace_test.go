package augment

import (
	"image"
	"reflect"
	"testing"

	"tfgoloader/gocore/sample"
)

func TestATraceHasTheParametersOfThePlan(t *testing.T) {
	p := parse(t,
		`{"op":"RandomCrop","height":20,"width":30}`, flip("horizontal_and_vertical"),
		`{"op":"OneOf","ops":[`+flip("horizontal")+`,{"op":"RandomApply","p":0.5,"ops":[{"op":"RandomInvert","factor":[1,1]}]}]}`,
		`{"op":"RandomBrightness","factor":[-0.5,0.5],"p":0.5}`,
	)
	var draw sample.Draw
	seen := map[string]int{}
	for index := range int64(200) {
		steps, err := p.Trace(image.Pt(60, 50), 4, 2, index)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := p.Plan(image.Pt(60, 50), &draw, 4, 2, index)
		if err != nil {
			t.Fatal(err)
		}
		if len(steps) != 4 {
			t.Fatalf("%d steps", len(steps))
		}
		if got, want := steps[0].Drawn["window"], rectangle(plan.last().Window); !reflect.DeepEqual(got, want) {
			t.Fatalf("window %v, the plan has %v", got, want)
		}
		x, y, filters := steps[1].Drawn["horizontal"].(bool), steps[1].Drawn["vertical"].(bool), 0
		chosen := steps[2].Ops[0]
		switch chosen.Op {
		case "RandomFlip":
			x = x != chosen.Drawn["horizontal"].(bool)
		case "RandomApply":
			filters += len(chosen.Ops)
			seen["applied"] += len(chosen.Ops)
		}
		seen[chosen.Op]++
		if x != plan.FlipX || y != plan.FlipY {
			t.Fatalf("flips %v %v, the plan has %v %v", x, y, plan.FlipX, plan.FlipY)
		}
		if steps[3].Applied {
			filters++
			share := steps[3].Drawn["brightness"].(float64)
			if got, want := *brighten(share).(*fixed).values, *plan.last().filters[filters-1].(*fixed).values; got != want {
				t.Fatalf("brightness %v is not the plan's", share)
			}
		}
		if filters != len(plan.last().filters) {
			t.Fatalf("%d filters, the plan has %d", filters, len(plan.last().filters))
		}
		for position, step := range steps {
			if step.Position != position {
				t.Fatalf("position %d of step %d", step.Position, position)
			}
		}
	}
	if seen["RandomFlip"] == 0 || seen["applied"] == 0 || seen["applied"] == seen["RandomApply"] {
		t.Errorf("not all was drawn: %v", seen)
	}
}
