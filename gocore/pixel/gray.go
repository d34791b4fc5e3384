package pixel

// MeanGray is the mean of a picture's gray levels, each 0.299 R + 0.587 G + 0.114 B rounded as Pillow rounds it.
func MeanGray(p Picture) float64 {
	p.mustBeBytes()
	sum := uint64(0)
	for y := range p.Height {
		row := p.Pix[y*p.Stride:][:p.Width*p.Channels]
		if p.Channels == 1 {
			for _, value := range row {
				sum += uint64(value)
			}
			continue
		}
		for ; len(row) >= p.Channels; row = row[p.Channels:] {
			sum += uint64((uint32(row[0])*19595 + uint32(row[1])*38470 + uint32(row[2])*7471 + 1<<15) >> 16)
		}
	}
	return float64(sum) / float64(p.Width*p.Height)
}
