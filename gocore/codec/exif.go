package codec

import (
	"bytes"
	"encoding/binary"
)

const exifPrefix = "Exif\x00\x00"

// exifOrientation reads the orientation out of EXIF data, which has the structure of a TIFF file. What is missing,
// damaged or senseless counts as upright. (CIPA DC-008, 4.5 and 4.6.4.)
func exifOrientation(exif []byte) Orientation {
	exif = bytes.TrimPrefix(exif, []byte(exifPrefix))
	const ifdStart, entrySize = 4, 12
	if len(exif) < ifdStart+4 {
		return Upright
	}
	var order binary.ByteOrder = binary.LittleEndian
	switch string(exif[:4]) {
	case "II*\x00":
	case "MM\x00*":
		order = binary.BigEndian
	default:
		return Upright
	}
	ifd := exif[min(int64(order.Uint32(exif[ifdStart:])), int64(len(exif))):]
	if len(ifd) < 2 {
		return Upright
	}
	count := int(order.Uint16(ifd))
	for entries := ifd[2:]; count > 0 && len(entries) >= entrySize; count, entries = count-1, entries[entrySize:] {
		const tag, short, long = 0x0112, 3, 4
		if order.Uint16(entries) != tag {
			continue
		}
		value := uint32(0)
		switch kind, values := order.Uint16(entries[2:]), order.Uint32(entries[4:]); {
		case values != 1:
		case kind == short:
			value = uint32(order.Uint16(entries[8:]))
		case kind == long:
			value = order.Uint32(entries[8:])
		}
		return validOrientation(int64(value))
	}
	return Upright
}

func validOrientation(value int64) Orientation {
	if value < 1 || value > 8 {
		return Upright
	}
	return Orientation(value)
}

// jpegExif finds the EXIF segment of a JPEG file in front of its first scan; nil where there is none.
func jpegExif(data []byte) []byte {
	const (
		app1, startOfScan, endOfImage = 0xE1, 0xDA, 0xD9
		temporary, restart0, start    = 0x01, 0xD0, 0xD8 // restart0 to start and temporary have no length
	)
	for {
		// Like libjpeg, skip what is no marker, and fill bytes.
		next := bytes.IndexByte(data, 0xFF)
		if next < 0 {
			return nil
		}
		for data = data[next:]; len(data) > 0 && data[0] == 0xFF; {
			data = data[1:]
		}
		if len(data) == 0 {
			return nil
		}
		marker := data[0]
		data = data[1:]
		switch {
		case marker == startOfScan || marker == endOfImage:
			return nil
		case marker == 0 || marker == temporary || marker >= restart0 && marker <= start:
			continue
		}
		if len(data) < 2 {
			return nil
		}
		length := int(binary.BigEndian.Uint16(data))
		if length < 2 || length > len(data) {
			return nil
		}
		if body := data[2:length]; marker == app1 && bytes.HasPrefix(body, []byte(exifPrefix)) {
			return body
		}
		data = data[length:]
	}
}
