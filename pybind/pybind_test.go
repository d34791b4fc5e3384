package pybind

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFileNamesCrossAsTheyAre(t *testing.T) {
	for _, name := range []string{"", "a.jpg", "Füchse/猫", "\xff\xfe\x00", "\u00e9"} {
		if got := fileName(toText(name)); got != name {
			t.Errorf("%q came back as %q", name, got)
		}
	}
}

func TestAnErrorIsACodeAndAnObject(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none\xff.txt")
	for code, call := range map[string]func() error{
		"config": func() error { _, err := OpenSource("{"); return err },
		"source": func() error { _, err := OpenSource(`{"kind":"list","path":"` + toText(path) + `"}`); return err },
		"closed": func() error { _, err := Begin(-1, -1, 0, -1); return err },
	} {
		err := call()
		if err == nil || !strings.HasPrefix(err.Error(), code+" {") {
			t.Errorf("got %v, want code %q", err, code)
		}
	}
	if err := failure(errors.New("anything else")); err.Error() != `internal {"reason":"anything else"}` {
		t.Error(err)
	}
}

func TestAHandleOfTheWrongKindOrClosedIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.jpg")
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	handle, err := OpenSource(`{"kind":"paths","paths":["` + path + `"]}`)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Next(handle); err == nil || !strings.HasPrefix(err.Error(), "config ") {
		t.Errorf("a source as an epoch: %v", err)
	}
	for range 2 {
		if err := Close(handle); err != nil {
			t.Error(err)
		}
	}
	if _, err := DescribeSource(handle); err == nil || !strings.HasPrefix(err.Error(), "closed ") {
		t.Errorf("a closed source: %v", err)
	}
}

func TestAPanicIsAnError(t *testing.T) {
	call := func() (err error) {
		defer recovered(&err)
		panic("a defect")
	}
	if err := call(); err == nil || !strings.HasPrefix(err.Error(), "internal ") {
		t.Errorf("got %v", err)
	}
}
