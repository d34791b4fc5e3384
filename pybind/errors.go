package pybind

import (
	"encoding/json"
	"errors"
	"fmt"

	"tfgoloader/gocore/loader"
	"tfgoloader/gocore/source"
)

// codes are the stable first words of an error's text, and what they stand for.
var codes = []struct {
	code string
	err  error
}{
	{"internal", loader.ErrPanic},
	{"memory", loader.ErrMemory},
	{"config", loader.ErrConfig},
	{"closed", loader.ErrClosed},
	{"bad", loader.ErrTooManyBad},
	{"source", loader.ErrRead},
	{"function", loader.ErrFunction},
}

// failure gives an error the text that crosses to Python: a code, then a JSON object with the reason and, where
// they are known, the path and the index of the sample, and the call of a Python function.
func failure(err error) error {
	about := struct {
		Reason string `json:"reason"`
		Path   string `json:"path,omitempty"`
		Index  *int64 `json:"index,omitempty"`
		Call   int64  `json:"call,omitempty"`
	}{Reason: err.Error()}
	code := "internal"
	var ofFunction *loader.FunctionError
	if errors.As(err, &ofFunction) {
		about.Call = ofFunction.Call
	}
	var ofSample *loader.SampleError
	var ofSource *source.Error
	switch {
	case errors.As(err, &ofSample):
		code = "decode"
		about.Reason, about.Path = ofSample.Err.Error(), toText(ofSample.Path)
		if ofSample.Index >= 0 {
			about.Index = &ofSample.Index
		}
	case errors.As(err, &ofSource):
		code = "source"
		about.Reason, about.Path = ofSource.Reason, toText(ofSource.Path)
	}
	for _, c := range codes {
		if errors.Is(err, c.err) {
			code = c.code
			break
		}
	}
	about.Reason = toText(about.Reason)
	text, jsonErr := json.Marshal(about)
	if jsonErr != nil {
		return fmt.Errorf("internal %q", jsonErr)
	}
	return fmt.Errorf("%s %s", code, text)
}

// toText sends bytes as one code point each; fileName is its inverse.
func toText(s string) string {
	runes := make([]rune, len(s))
	for i := range len(s) {
		runes[i] = rune(s[i])
	}
	return string(runes)
}

func texts(names []string) []string {
	out := make([]string, len(names))
	for i, name := range names {
		out[i] = toText(name)
	}
	return out
}

func fileName(text string) string {
	bytes := make([]byte, 0, len(text))
	for _, r := range text {
		bytes = append(bytes, byte(r))
	}
	return string(bytes)
}

func fileNames(texts []string) []string {
	if texts == nil {
		return nil
	}
	out := make([]string, len(texts))
	for i, text := range texts {
		out[i] = fileName(text)
	}
	return out
}
