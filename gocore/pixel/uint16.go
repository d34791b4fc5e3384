package pixel

import "encoding/binary"

// writeUint16 is Write for wide pictures. Such pictures are rare, so it is a plain loop.
func writeUint16(dst []byte, src Picture, planar, flipX, flipY bool) {
	pixelStep, channelStep := 2*src.Channels, 2
	if planar {
		pixelStep, channelStep = 2, 2*src.Width*src.Height
	}
	for y := range src.Height {
		fromY := y
		if flipY {
			fromY = src.Height - 1 - y
		}
		row := src.Pix[fromY*src.Stride:][:src.Width*src.PixelBytes()]
		out := dst[y*src.Width*pixelStep:]
		for x := range src.Width {
			fromX := x
			if flipX {
				fromX = src.Width - 1 - x
			}
			for c := range src.Channels {
				sample := binary.NativeEndian.Uint16(row[2*(fromX*src.Channels+c):])
				binary.NativeEndian.PutUint16(out[x*pixelStep+c*channelStep:], sample)
			}
		}
	}
}
