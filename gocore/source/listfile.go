package source

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
)

const (
	maxLine    = 1 << 20 // bytes of a row, without its end
	quotedText = 200     // bytes of a wrong row that an error repeats
	whiteSpace = " \t\v\f\r\n"
)

var byteOrderMark = []byte("\xef\xbb\xbf")

// ListFile reads a text file of rows, "path label", in their order. The text is UTF-8 with or without
// a byte-order mark, lines end with LF or CRLF, and blank lines are left out. Labels are decimal
// integers of 64 bits with or without a sign, kept as they are.
//
// An empty delimiter means white space (of ASCII): the label is the last field, the path is all before
// it, with the spaces inside it. Otherwise a line is split at the last delimiter, and the path is kept
// byte for byte. A relative path is joined to root; with an empty root it is relative to the current
// folder.
//
// A wrong row is an Error whose reason starts with its line number, counted from 1.
func ListFile(path, root, delimiter string) (*List, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, systemError(path, err)
	}
	defer file.Close()

	builder := newBuilder()
	err = parseRows(file, delimiter, func(name string, label int64) {
		builder.addLabelled(join(root, name), label)
		listed.Add(1)
	})
	if err != nil {
		if failure, ok := errors.AsType[*Error](err); ok {
			failure.Path = path
			return nil, failure
		}
		return nil, systemError(path, err)
	}
	if builder.list.Len() == 0 {
		return nil, fail(path, ErrNoSamples, "no samples: the list file has no rows")
	}
	return builder.list, nil
}

// parseRows calls row for every row of a list. A wrong row ends it with an Error without a path.
func parseRows(text io.Reader, delimiter string, row func(name string, label int64)) error {
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, maxLine+len("\r\n"))
	number := 0
	for lines.Scan() {
		line := lines.Bytes()
		if number == 0 {
			line = bytes.TrimPrefix(line, byteOrderMark)
		}
		number++
		if len(line) > maxLine {
			return tooLong(number)
		}
		line = bytes.TrimRight(line, whiteSpace)
		if len(bytes.TrimLeft(line, whiteSpace)) == 0 {
			continue
		}
		name, label, reason := parseRow(string(line), delimiter)
		if reason != "" {
			return fail("", ErrRow, "line %d: %s: %q", number, reason, line[:min(len(line), quotedText)])
		}
		row(name, label)
	}
	if errors.Is(lines.Err(), bufio.ErrTooLong) {
		return tooLong(number + 1)
	}
	return lines.Err()
}

func tooLong(number int) error {
	return fail("", ErrRow, "line %d: longer than %d bytes", number, maxLine)
}

// parseRow takes a line without white space at its end apart, or says why not.
func parseRow(line, delimiter string) (name string, label int64, reason string) {
	var field string
	if delimiter == "" {
		end := strings.LastIndexAny(line, whiteSpace) + 1
		name, field = strings.Trim(line[:end], whiteSpace), line[end:]
	} else {
		end := strings.LastIndex(line, delimiter)
		if end < 0 {
			return "", 0, "no delimiter " + strconv.Quote(delimiter)
		}
		name, field = line[:end], strings.Trim(line[end+len(delimiter):], whiteSpace)
	}
	if name == "" || field == "" {
		return "", 0, "the path or the label is missing"
	}
	label, err := strconv.ParseInt(field, 10, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return "", 0, "the label does not fit 64 bits"
	case err != nil:
		return "", 0, "the label is not an integer"
	case strings.IndexByte(name, 0) >= 0:
		return "", 0, "a zero byte in the path"
	}
	return name, label, ""
}
