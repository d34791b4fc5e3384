package augment

import (
	"encoding/json"
	"errors"
	"fmt"
	"image"
)

// External is an operation of somebody else's: a function is given a picture, made for it, and changes it or makes one
// of another size. Operations after it have a pipeline of their own.
type External struct {
	Op   string `json:"op"`   // Python or Native
	Name string `json:"name"` // of the function, for people
	// Height and Width are those of what comes out; 0 where the size stays.
	Height int `json:"height"`
	Width  int `json:"width"`
	// Workers is how many pictures a Python function is at, at once; 0 for as many as the loader has workers.
	Workers int `json:"workers"`
	// Shared says that a Python function is in another process, which sees shared memory alone.
	Shared bool `json:"shared"`
	// Masks and Boxes tell whether it changes those too.
	Masks bool `json:"masks"`
	Boxes bool `json:"boxes"`
	// Function is the address of a native function, UserData what it is given.
	Function uint64 `json:"function"`
	UserData uint64 `json:"user_data"`

	Position int  `json:"-"` // in the user's list
	Float    bool `json:"-"` // it comes after Rescaling or Normalization, so values are float32, in the batch
}

// ParseWhole reads a function that is given whole batches, at its place in the user's list; nil where the operation is
// another one.
func ParseWhole(spec json.RawMessage, position int) (*External, error) {
	e := &External{Position: position}
	if err := json.Unmarshal(spec, e); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrConfig, err)
	}
	if e.Op != "Python" {
		return nil, nil
	}
	if e.Height != 0 {
		return nil, fmt.Errorf("%w: %s changes the size of a batch's pictures", ErrConfig, e)
	}
	return e, e.check()
}

func (e *External) String() string { return fmt.Sprintf("%s(%s)", e.Op, e.Name) }

// Native tells whether it is called without Python.
func (e *External) Native() bool { return e.Op == "Native" }

// OutputSize is that of what comes out.
func (e *External) OutputSize(in image.Point) image.Point {
	if e.Height == 0 {
		return in
	}
	return image.Pt(e.Width, e.Height)
}

func (e *External) check() error {
	switch {
	case e.Height < 0 || e.Width < 0 || (e.Height == 0) != (e.Width == 0):
		return fmt.Errorf("%s: an output of %d x %d pixels (height x width)", e, e.Height, e.Width)
	case e.Native() && e.Function == 0:
		return fmt.Errorf("%s: no function", e)
	case e.Workers < 0 || e.Workers > 1<<16:
		return fmt.Errorf("%s: %d workers", e, e.Workers)
	case e.Float && e.Height != 0:
		return fmt.Errorf("%s changes the size, so it comes before Rescaling and Normalization", e)
	}
	return nil
}

var errAfterFloat = errors.New("nothing comes after a function that comes after Rescaling or Normalization")
