package codec

import "tfgoloader/gocore/pixel"

// converter brings pictures to the options' channels and depth.
type converter struct {
	options       Options
	wide, channel []byte
}

// convert gives the picture converted, valid until the next call.
func (c *converter) convert(p pixel.Picture, gray luma) pixel.Picture {
	if c.options.Depth == 16 && !p.Wide {
		p = c.widen(p)
	}
	if p.Channels == c.options.Channels {
		return p
	}
	out := pixel.Picture{Width: p.Width, Height: p.Height, Channels: c.options.Channels, Wide: p.Wide}
	out.Stride = out.Width * out.PixelBytes()
	out.Pix = grow(&c.channel, out.Stride*out.Height)
	for y := range p.Height {
		from, to := p.Pix[y*p.Stride:][:p.Width*p.PixelBytes()], out.Pix[y*out.Stride:][:out.Stride]
		if p.Wide {
			convertRow(pixels[uint16](to), pixels[uint16](from), p.Channels, out.Channels, c.options.Background, gray)
		} else {
			convertRow(to, from, p.Channels, out.Channels, c.options.Background, gray)
		}
	}
	return out
}

// widen makes 16 bits of 8: 0 and 255 become 0 and 65535.
func (c *converter) widen(p pixel.Picture) pixel.Picture {
	row := p.Width * p.Channels
	out := pixel.Picture{
		Pix: grow(&c.wide, 2*row*p.Height), Stride: 2 * row, Width: p.Width, Height: p.Height, Channels: p.Channels, Wide: true,
	}
	samples := pixels[uint16](out.Pix)
	for y := range p.Height {
		to := samples[y*row:][:row]
		for i, value := range p.Pix[y*p.Stride:][:row] {
			to[i] = uint16(value) * 257
		}
	}
	return out
}

// convertRow makes pixels of 1, 3 or 4 channels of those of 3 or 4.
func convertRow[T uint8 | uint16](to, from []T, fromChannels, toChannels int, background *[3]uint8, gray luma) {
	most := uint32(^T(0))
	half := gray.half[min(most>>8, 1)]
	for ; len(to) >= toChannels; to, from = to[toChannels:], from[fromChannels:] {
		r, g, b, alpha := uint32(from[0]), uint32(from[1]), uint32(from[2]), most
		if fromChannels == 4 {
			alpha = uint32(from[3])
		}
		if background != nil && alpha < most {
			unit := most / 255 // what one step of 8 bits is worth
			r = blend(r, uint32(background[0])*unit, alpha, most)
			g = blend(g, uint32(background[1])*unit, alpha, most)
			b = blend(b, uint32(background[2])*unit, alpha, most)
		}
		switch toChannels {
		case 1:
			to[0] = T((gray.red*r + gray.green*g + gray.blue*b + half) >> gray.bits)
		case 4:
			to[3] = T(alpha)
			fallthrough
		default:
			to[0], to[1], to[2] = T(r), T(g), T(b)
		}
	}
}

// blend is the colour over the background, rounded to the nearest.
func blend(color, background, alpha, most uint32) uint32 {
	return uint32((uint64(color)*uint64(alpha) + uint64(background)*uint64(most-alpha) + uint64(most/2)) / uint64(most))
}

// luma is how gray comes of colours, by ITU-R 601-2 with so many bits after the binary point.
type luma struct {
	red, green, blue, bits uint32
	half                   [2]uint32 // what is added before the bits are dropped, to 8-bit and to 16-bit samples
}

var (
	pillowLuma = luma{19595, 38470, 7471, 16, [2]uint32{1 << 15, 1 << 15}}
	libpngLuma = luma{9797, 19234, 3737, 15, [2]uint32{0, 1 << 14}} // as TensorFlow asks libpng for it
)
