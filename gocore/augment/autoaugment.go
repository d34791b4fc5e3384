package augment

import (
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
)

// rung is an operation of a policy with its probability, and its magnitude from 0 to 9.
type rung struct {
	name        string
	probability float64
	magnitude   int
}

// imagenet is the policy found for ImageNet: E. D. Cubuk et al., AutoAugment (2019), table 9.
var imagenet = [...][2]rung{
	{{"Posterize", 0.4, 8}, {"Rotate", 0.6, 9}},
	{{"Solarize", 0.6, 5}, {"AutoContrast", 0.6, 0}},
	{{"Equalize", 0.8, 0}, {"Equalize", 0.6, 0}},
	{{"Posterize", 0.6, 7}, {"Posterize", 0.6, 6}},
	{{"Equalize", 0.4, 0}, {"Solarize", 0.2, 4}},
	{{"Equalize", 0.4, 0}, {"Rotate", 0.8, 8}},
	{{"Solarize", 0.6, 3}, {"Equalize", 0.6, 0}},
	{{"Posterize", 0.8, 5}, {"Equalize", 1.0, 0}},
	{{"Rotate", 0.2, 3}, {"Solarize", 0.6, 8}},
	{{"Equalize", 0.6, 0}, {"Posterize", 0.4, 6}},
	{{"Rotate", 0.8, 8}, {"Color", 0.4, 0}},
	{{"Rotate", 0.4, 9}, {"Equalize", 0.6, 0}},
	{{"Equalize", 0.0, 0}, {"Equalize", 0.8, 0}},
	{{"Invert", 0.6, 0}, {"Equalize", 1.0, 0}},
	{{"Color", 0.6, 4}, {"Contrast", 1.0, 8}},
	{{"Rotate", 0.8, 8}, {"Color", 1.0, 2}},
	{{"Color", 0.8, 8}, {"Solarize", 0.8, 7}},
	{{"Sharpness", 0.4, 7}, {"Invert", 0.6, 0}},
	{{"ShearX", 0.6, 5}, {"Equalize", 1.0, 0}},
	{{"Color", 0.4, 0}, {"Equalize", 0.6, 0}},
	{{"Equalize", 0.4, 0}, {"Solarize", 0.2, 4}},
	{{"Solarize", 0.6, 5}, {"AutoContrast", 0.6, 0}},
	{{"Invert", 0.6, 0}, {"Equalize", 1.0, 0}},
	{{"Color", 0.6, 4}, {"Contrast", 1.0, 8}},
	{{"Equalize", 0.8, 0}, {"Equalize", 0.6, 0}},
}

// AutoAugment is torchvision.transforms.AutoAugment with the ImageNet policy.
type AutoAugment struct{ published }

func (a *AutoAugment) String() string { return "AutoAugment" }

func (a *AutoAugment) levels() bool { return true }

// Apply draws a pair of operations, and for either whether, and the direction.
func (a *AutoAugment) Apply(plan *Plan, random *rand.Rand) error {
	for _, r := range imagenet[random.IntN(len(imagenet))] {
		applied := random.Float64() < r.probability
		direction := sign(random)
		if applied {
			a.act(plan, r.name, a.magnitude(r, direction))
		}
	}
	return nil
}

func (a *AutoAugment) magnitude(r rung, direction float64) float64 {
	level := float64(r.magnitude) / 9
	switch r.name {
	case "ShearX":
		return direction * 0.3 * level
	case "Rotate":
		return direction * 30 * level
	case "Color", "Contrast", "Sharpness":
		return direction * 0.9 * level
	case "Posterize":
		return 8 - math.RoundToEven(4*level)
	case "Solarize":
		return 255 * (1 - level)
	}
	return 0
}

func sign(random *rand.Rand) float64 { return float64(1 - 2*random.IntN(2)) }

// TrivialAugmentWide is torchvision's class of that name: one operation, of a magnitude that is drawn from Bins.
// S. G. Müller and F. Hutter, TrivialAugment (2021).
type TrivialAugmentWide struct {
	published
	Bins int `json:"num_magnitude_bins"`
}

func (t *TrivialAugmentWide) String() string {
	return fmt.Sprintf("TrivialAugmentWide(num_magnitude_bins=%d)", t.Bins)
}

// OutputSize is that of the input.
func (t *TrivialAugmentWide) OutputSize(in image.Point) (image.Point, error) {
	if t.Bins < 2 {
		return in, errors.New("at least 2 magnitudes")
	}
	return t.warp.OutputSize(in)
}

func (t *TrivialAugmentWide) levels() bool { return true }

var trivial = [...]string{"Identity", "ShearX", "ShearY", "TranslateX", "TranslateY", "Rotate", "Brightness", "Color", "Contrast",
	"Sharpness", "Posterize", "Solarize", "AutoContrast", "Equalize"}

// Apply draws the operation, the magnitude and the direction.
func (t *TrivialAugmentWide) Apply(plan *Plan, random *rand.Rand) error {
	name := trivial[random.IntN(len(trivial))]
	level := float64(random.IntN(t.Bins)) / float64(t.Bins-1)
	t.act(plan, name, t.magnitude(name, level, sign(random)))
	return nil
}

func (t *TrivialAugmentWide) magnitude(name string, level, direction float64) float64 {
	switch name {
	case "TranslateX", "TranslateY":
		return direction * 32 * level
	case "Rotate":
		return direction * 135 * level
	case "Posterize":
		return 8 - math.RoundToEven(6*level)
	case "Solarize":
		return 255 * (1 - level)
	}
	return direction * 0.99 * level
}
