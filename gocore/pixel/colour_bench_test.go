package pixel

import "testing"

func BenchmarkColour(b *testing.B) {
	weights := []float32{0.4, 0.2, 0.1}
	var buffer []float32
	others := make([]byte, 3*benchSide*benchSide*3)
	var counts [MaxChannels]Counts
	var tables [MaxChannels]Table
	for _, kernel := range []struct {
		name  string
		apply func(Picture)
	}{
		{"Count", func(p Picture) { Count(&counts, p) }},
		{"LookUp", func(p Picture) { LookUp(&tables, p) }},
		{"Fade", func(p Picture) { Fade(p, 0.5) }},
		{"Saturate", func(p Picture) { Saturate(p, 1.5) }},
		{"TurnHue", func(p Picture) { TurnHue(p, 0.1) }},
		{"WeightedSum4", func(p Picture) { WeightedSum(p, 0.4, others, weights) }},
		{"Sharpen", func(p Picture) { Sharpen(p, 0.5, &buffer) }},
		{"Blur5", func(p Picture) { Blur(p, weights, weights, &buffer) }},
	} {
		b.Run(kernel.name, func(b *testing.B) {
			p := benchPicture()
			b.SetBytes(int64(p.Width * p.Height * p.Channels))
			for b.Loop() {
				kernel.apply(p)
			}
		})
	}
}
