package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/iotest"
)

func writeList(t testing.TB, text string) string {
	t.Helper()
	path := t.TempDir() + "/list.txt"
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestListFile(t *testing.T) {
	long := strings.Repeat("x", maxLine-2)
	for _, test := range []struct {
		name, text, root, delimiter string
		want                        []Sample
	}{
		{"plain", "a.jpg 0\nb.jpg 1\n", "", "", []Sample{{"a.jpg", 0}, {"b.jpg", 1}}},
		{"no end of the last line", "a.jpg 0\nb.jpg 1", "", "", []Sample{{"a.jpg", 0}, {"b.jpg", 1}}},
		{"mark, CRLF, blank lines", "\ufeffa.jpg 0\r\n\r\nb.jpg 1\r\n \t\r\n\r\n", "", "", []Sample{{"a.jpg", 0}, {"b.jpg", 1}}},
		{"the mark counts only at the beginning", "a.jpg 0\n\ufeffb.jpg 1\n", "", "", []Sample{{"a.jpg", 0}, {"\ufeffb.jpg", 1}}},
		{"spaces in paths", "my cat.jpg 3\n two  of them.jpg \t 12 \n", "", "", []Sample{{"my cat.jpg", 3}, {"two  of them.jpg", 12}}},
		{"other white space belongs to names", "a\u00a0b\u3000.jpg 1\n", "", "", []Sample{{"a\u00a0b\u3000.jpg", 1}}},
		{"duplicates", "a.jpg 0\na.jpg 1\na.jpg 0\n", "", "", []Sample{{"a.jpg", 0}, {"a.jpg", 1}, {"a.jpg", 0}}},
		{"labels as given", "a 0\nb 7\nc -1\nd +5\ne 9223372036854775807\nf -9223372036854775808\ng 007\n", "", "",
			[]Sample{{"a", 0}, {"b", 7}, {"c", -1}, {"d", 5}, {"e", math.MaxInt64}, {"f", math.MinInt64}, {"g", 7}}},
		{"bytes that are not UTF-8", "caf\xe9.jpg 1\n\xff 2\n", "", "", []Sample{{"caf\xe9.jpg", 1}, {"\xff", 2}}},
		{"tab", "my cat.jpg\t3\n a \t 4\n", "", "\t", []Sample{{"my cat.jpg", 3}, {" a ", 4}}},
		{"comma", "a,b.jpg,4\nc.jpg, 5 \n", "", ",", []Sample{{"a,b.jpg", 4}, {"c.jpg", 5}}},
		{"long delimiter", "a::b:::6\n", "", "::", []Sample{{"a::b:", 6}}},
		{"root", "a.jpg 0\n/abs/b.jpg 1\n../c.jpg 2\n./d//e.jpg 3\n", "images", "",
			[]Sample{{"images/a.jpg", 0}, {"/abs/b.jpg", 1}, {"images/../c.jpg", 2}, {"images/./d//e.jpg", 3}}},
		{"root with a slash", "a.jpg 0\n", "/", "", []Sample{{"/a.jpg", 0}}},
		{"longest line", long + " 1\r\n" + long + " 2", "", "", []Sample{{long, 1}, {long, 2}}},
	} {
		t.Run(test.name, func(t *testing.T) {
			list, err := ListFile(writeList(t, test.text), test.root, test.delimiter)
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(samples(list), test.want) {
				t.Errorf("got %+v, want %+v", samples(list), test.want)
			}
			if !list.HasLabels() || list.ClassNames() != nil || list.EmptyClasses() != nil {
				t.Error("a list file has labels and no class names")
			}
		})
	}
}

func TestListFileWrongRows(t *testing.T) {
	for _, test := range []struct{ name, text, delimiter, reason string }{
		{"word", "a.jpg 0\nb.jpg kitten\n", "", `line 2: the label is not an integer: "b.jpg kitten"`},
		{"no label", "a.jpg 0\na.jpg\n", "", `line 2: the path or the label is missing: "a.jpg"`},
		{"no path", "\n\n 5\n", "", `line 3: the path or the label is missing: " 5"`},
		{"blank lines count", "\r\n\r\na.jpg x\r\n", "", `line 3: `},
		{"fraction", "a 1.0\n", "", `line 1: the label is not an integer: "a 1.0"`},
		{"hexadecimal", "a 0x1\n", "", `line 1: the label is not an integer`},
		{"underscore", "a 1_0\n", "", `line 1: the label is not an integer`},
		{"too large", "a 9223372036854775808\n", "", `line 1: the label does not fit 64 bits: "a 9223372036854775808"`},
		{"too small", "a -9223372036854775809\n", "", `line 1: the label does not fit 64 bits`},
		{"zero byte", "a\x00b 1\n", "", `line 1: a zero byte in the path: "a\x00b 1"`},
		{"no delimiter", "a.jpg,0\na.jpg 0\n", ",", `line 2: no delimiter ",": "a.jpg 0"`},
		{"nothing after the delimiter", "a.jpg, \n", ",", `line 1: the path or the label is missing`},
		{"nothing before the delimiter", ",1\n", ",", `line 1: the path or the label is missing`},
		{"long text is cut", strings.Repeat("x", 5000) + "\n", "", `"` + strings.Repeat("x", quotedText) + `"`},
		{"long line", "a 0\n" + strings.Repeat("x", maxLine) + " 1\n", "", fmt.Sprintf("line 2: longer than %d bytes", maxLine)},
		{"one byte too long", "a 0\n" + strings.Repeat("x", maxLine-1) + " 1\n", "", fmt.Sprintf("line 2: longer than %d bytes", maxLine)},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := writeList(t, test.text)
			_, err := ListFile(path, "root", test.delimiter)
			failure := checkError(t, err, path, test.reason)
			if !strings.HasPrefix(failure.Reason, "line ") || !errors.Is(err, ErrRow) {
				t.Errorf("%v is not ErrRow with a line", err)
			}
		})
	}
}

func TestListFileErrors(t *testing.T) {
	for name, text := range map[string]string{"empty": "", "blank": "\r\n \n\n", "mark": "\ufeff", "mark and blank": "\ufeff \n"} {
		path := writeList(t, text)
		_, err := ListFile(path, "", "")
		checkError(t, err, path, "no samples")
		if !errors.Is(err, ErrNoSamples) {
			t.Errorf("%s: %v is not ErrNoSamples", name, err)
		}
	}

	gone := t.TempDir() + "/gone.txt"
	_, err := ListFile(gone, "", "")
	checkError(t, err, gone, "no such file or directory")
	if !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v is not ErrNotExist", err)
	}

	folder := t.TempDir()
	_, err = ListFile(folder, "", "")
	checkError(t, err, folder, "is a directory")
	if !errors.Is(err, syscall.EISDIR) {
		t.Errorf("%v is not EISDIR", err)
	}
}

func TestParseRowsPassesReadErrorsOn(t *testing.T) {
	broken := errors.New("broken disk")
	rows := 0
	err := parseRows(iotest.DataErrReader(iotest.TimeoutReader(strings.NewReader(strings.Repeat("a 1\n", 5000)))), "", func(string, int64) { rows++ })
	if !errors.Is(err, iotest.ErrTimeout) || rows == 0 {
		t.Errorf("got %v after %d rows", err, rows)
	}
	if err := parseRows(iotest.ErrReader(broken), "", func(string, int64) {}); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// row is what the format means, said as an expression.
var row = regexp.MustCompile(`^[ \t\v\f\r]*([^ \t\v\f\r](?s:.*?))[ \t\v\f\r]+([+-]?[0-9]+)[ \t\v\f\r]*$`)

func FuzzParseRows(f *testing.F) {
	for _, text := range []string{
		"a.jpg 0\nb.jpg 1\n", "\ufeffa.jpg 0\r\n\r\nmy cat.jpg 12", "a.jpg kitten", "a,b.jpg,4\n", "a\t-1\n", "\xff\x00 1",
		"a 9223372036854775808\n", " \r \n5", "\xff\xfea\x00 \x000\x00",
	} {
		f.Add([]byte(text), "")
		f.Add([]byte(text), ",")
		f.Add([]byte(text), "\t")
	}
	f.Fuzz(func(t *testing.T, text []byte, delimiter string) {
		var got []Sample
		err := parseRows(bytes.NewReader(text), delimiter, func(name string, label int64) {
			got = append(got, Sample{name, label})
		})

		if delimiter == "" {
			want, ok := []Sample(nil), true
			for line := range bytes.SplitSeq(bytes.TrimPrefix(text, []byte("\ufeff")), []byte("\n")) {
				if len(bytes.Trim(line, " \t\v\f\r")) == 0 {
					continue
				}
				match := row.FindSubmatch(line)
				if match == nil || bytes.IndexByte(match[1], 0) >= 0 {
					ok = false
					break
				}
				label, err := strconv.ParseInt(string(match[2]), 10, 64)
				if err != nil {
					ok = false
					break
				}
				want = append(want, Sample{string(match[1]), label})
			}
			if ok != (err == nil) || !slices.Equal(got, want) {
				t.Fatalf("got %+v and error %v, want %+v and no error: %v", got, err, want, ok)
			}
		}
		if err != nil {
			if _, ok := errors.AsType[*Error](err); !ok {
				t.Fatalf("got error %v, want an *Error", err)
			}
		}

		// What was read, written again, is read again; not where a delimiter may be part of a number.
		if strings.ContainsAny(delimiter, "+-0123456789") {
			return
		}
		written := "\ufeff"
		for _, sample := range got {
			separator := delimiter
			if separator == "" {
				separator = "\t"
			}
			written += fmt.Sprintf("%s%s%d\r\n", sample.Path, separator, sample.Label)
		}
		var again []Sample
		err = parseRows(strings.NewReader(written), delimiter, func(name string, label int64) {
			again = append(again, Sample{name, label})
		})
		if err != nil || !slices.Equal(again, got) {
			t.Fatalf("got %+v and error %v, want %+v", again, err, got)
		}
	})
}

func BenchmarkListFile(b *testing.B) {
	var text strings.Builder
	const rows = 100_000
	for i := range rows {
		fmt.Fprintf(&text, "class%04d/picture_%08d.jpg %d\n", i/100, i, i/100)
	}
	path := writeList(b, text.String())
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if _, err := ListFile(path, "/data/train", ""); err != nil {
			b.Fatal(err)
		}
	}
}
