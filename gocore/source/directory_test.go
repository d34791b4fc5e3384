package source

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// makeTree makes what the entries name under root: "dir/" a folder, "name -> target" a symbolic link,
// anything else a file, with the folders on its way.
func makeTree(t *testing.T, root string, entries ...string) {
	t.Helper()
	for _, entry := range entries {
		name, target, isLink := strings.Cut(entry, " -> ")
		path := root + "/" + name
		err := os.MkdirAll(path[:strings.LastIndexByte(path, '/')], 0o777)
		switch {
		case err != nil || strings.HasSuffix(name, "/"):
		case isLink:
			err = os.Symlink(target, path)
		default:
			err = os.WriteFile(path, []byte("x"), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// relative lists the samples as "path label", without root.
func relative(t *testing.T, list *List, root string) []string {
	t.Helper()
	var out []string
	for _, sample := range samples(list) {
		path, ok := strings.CutPrefix(sample.Path, root+"/")
		if !ok {
			t.Fatalf("%q does not lie in %q", sample.Path, root)
		}
		out = append(out, fmt.Sprint(path, " ", sample.Label))
	}
	return out
}

func TestDirectory(t *testing.T) {
	long := strings.Repeat("n", 251) + ".jpg"
	for _, test := range []struct {
		name    string
		entries []string
		classes []string
		samples []string
		empty   []string
	}{
		{
			name:    "hidden files and folders",
			entries: []string{"cat/a.jpg", "dog/b.jpg", ".DS_Store", "cat/.DS_Store", "cat/Thumbs.db", "dog/.hidden.jpg", ".ipynb_checkpoints/c.jpg", "dog/.old/d.jpg", "cat/.jpg"},
			classes: []string{"cat", "dog"},
			samples: []string{"cat/a.jpg 0", "dog/b.jpg 1"},
		},
		{
			name:    "numeric classes are sorted as text",
			entries: []string{"0/x.jpg", "1/x.jpg", "2/x.jpg", "10/x.jpg", "11/x.jpg"},
			classes: []string{"0", "1", "10", "11", "2"},
			samples: []string{"0/x.jpg 0", "1/x.jpg 1", "10/x.jpg 2", "11/x.jpg 3", "2/x.jpg 4"},
		},
		{
			name:    "capitals before small letters",
			entries: []string{"b/Z.jpg", "b/a.jpg", "B/x.jpg", "a/x.jpg", "_/x.jpg"},
			classes: []string{"B", "_", "a", "b"},
			samples: []string{"B/x.jpg 0", "_/x.jpg 1", "a/x.jpg 2", "b/Z.jpg 3", "b/a.jpg 3"},
		},
		{
			name:    "extensions",
			entries: []string{"a/1.JPG", "a/2.JPEG", "a/3.Jpg", "a/4.png", "a/5.gif", "a/6.bmp", "a/7.webp", "a/8.tif", "a/9.TIFF", "a/jpg", "a/jpeg.", "a/notes.txt", "a/list.csv", "a/x.jpgs"},
			classes: []string{"a"},
			samples: []string{"a/1.JPG 0", "a/2.JPEG 0", "a/3.Jpg 0", "a/4.png 0", "a/5.gif 0", "a/6.bmp 0", "a/7.webp 0", "a/8.tif 0", "a/9.TIFF 0"},
		},
		{
			name:    "only the last extension counts",
			entries: []string{"a/1.jpg.txt", "a/2.png.JPEG", "a/3", "a/4.jpg.", "a/5..jpg"},
			classes: []string{"a"},
			samples: []string{"a/2.png.JPEG 0", "a/5..jpg 0"},
		},
		{
			name:    "names are bytes",
			entries: []string{"Füchse/rot braun.jpg", "猫/一 二.jpg", "a b/ leading.jpg", "a b/e\u0301.jpg", "a b/\u00e9.jpg", "a b/caf\xe9.jpg", "a b/new\nline.jpg", "a b/" + long, "\xff\xfe/x.jpg"},
			classes: []string{"Füchse", "a b", "猫", "\xff\xfe"},
			samples: []string{"Füchse/rot braun.jpg 0", "a b/ leading.jpg 1", "a b/caf\xe9.jpg 1", "a b/e\u0301.jpg 1", "a b/new\nline.jpg 1", "a b/" + long + " 1", "a b/\u00e9.jpg 1", "猫/一 二.jpg 2", "\xff\xfe/x.jpg 3"},
		},
		{
			name:    "nested folders, loose files, a folder named like an image",
			entries: []string{"a/1/x.jpg", "a/2/x.jpg", "a/z.jpg", "a/y.jpg/in.jpg", "b/y.jpg", "loose.jpg", "c.jpg/x.jpg"},
			classes: []string{"a", "b", "c.jpg"},
			samples: []string{"a/z.jpg 0", "a/1/x.jpg 0", "a/2/x.jpg 0", "a/y.jpg/in.jpg 0", "b/y.jpg 1", "c.jpg/x.jpg 2"},
		},
		{
			name:    "folders are sorted by their whole path, as Keras sorts them",
			entries: []string{"a/d/e/1.jpg", "a/d-e/2.jpg", "a/d/3.jpg", "a/d0/4.jpg", "a/z.jpg"},
			classes: []string{"a"},
			samples: []string{"a/z.jpg 0", "a/d/3.jpg 0", "a/d-e/2.jpg 0", "a/d/e/1.jpg 0", "a/d0/4.jpg 0"},
		},
		{
			name:    "empty classes keep their label",
			entries: []string{"a/x.jpg", "b/", "c/y.jpg", "d/notes.txt", "e/sub/"},
			classes: []string{"a", "b", "c", "d", "e"},
			samples: []string{"a/x.jpg 0", "c/y.jpg 2"},
			empty:   []string{"b", "d", "e"},
		},
		{
			name:    "a link to the root ends",
			entries: []string{"a/x.jpg", "a/up -> ..", "a/sub/up -> ../..", "b/y.jpg"},
			classes: []string{"a", "b"},
			samples: []string{"a/x.jpg 0", "b/y.jpg 1"},
		},
		{
			name:    "links within a class and to itself end",
			entries: []string{"a/aa -> sub", "a/self -> .", "a/sub/x.jpg", "a/sub/up -> ..", "a/zz -> sub"},
			classes: []string{"a"},
			samples: []string{"a/sub/x.jpg 0"},
		},
		{
			name:    "a link to another class gives it no second label",
			entries: []string{"a/x.jpg", "a/other -> ../b", "b/y.jpg"},
			classes: []string{"a", "b"},
			samples: []string{"a/x.jpg 0", "b/y.jpg 1"},
		},
		{
			name:    "links to files and folders outside are followed, each folder once",
			entries: []string{".store/p/1.jpg", ".store/p/q/2.jpg", ".store/c/3.jpg", "a/f.jpg -> ../.store/c/3.jpg", "a/l1 -> ../.store/p", "a/l2 -> ../.store/p/q", "a/l3 -> l1", "b -> .store/c"},
			classes: []string{"a", "b"},
			samples: []string{"a/f.jpg 0", "a/l1/1.jpg 0", "a/l1/q/2.jpg 0", "b/3.jpg 1"},
		},
		{
			name:    "two classes may be one folder",
			entries: []string{"a/x.jpg", "a/sub/y.jpg", "b -> a"},
			classes: []string{"a", "b"},
			samples: []string{"a/x.jpg 0", "a/sub/y.jpg 0", "b/x.jpg 1", "b/sub/y.jpg 1"},
		},
		{
			name:    "links to nothing stay if they are named like an image",
			entries: []string{"a/x.jpg", "a/y.jpg -> gone.jpg", "a/z -> gone", "a/loop.png -> loop.png", "a/n.jpg -> x.jpg/under", "gone -> nowhere"},
			classes: []string{"a"},
			samples: []string{"a/loop.png 0", "a/n.jpg 0", "a/x.jpg 0", "a/y.jpg 0"},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			root := t.TempDir()
			makeTree(t, root, test.entries...)
			for _, given := range []string{root, root + "/"} {
				list, err := Directory(given, DirectoryOptions{})
				if err != nil {
					t.Fatal(err)
				}
				if !slices.Equal(list.ClassNames(), test.classes) {
					t.Errorf("classes %q, want %q", list.ClassNames(), test.classes)
				}
				if got := relative(t, list, root); !slices.Equal(got, test.samples) {
					t.Errorf("samples %q, want %q", got, test.samples)
				}
				if !slices.Equal(list.EmptyClasses(), test.empty) {
					t.Errorf("empty classes %q, want %q", list.EmptyClasses(), test.empty)
				}
				if !list.HasLabels() {
					t.Error("no labels")
				}
			}
		})
	}
}

func TestDirectoryLeavesOutWhatIsNoFile(t *testing.T) {
	root := t.TempDir()
	makeTree(t, root, "a/x.jpg", "a/to-pipe.jpg -> pipe.jpg")
	if err := syscall.Mkfifo(root+"/a/pipe.jpg", 0o666); err != nil {
		t.Fatal(err)
	}
	list, err := Directory(root, DirectoryOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := relative(t, list, root), []string{"a/x.jpg 0"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDirectoryClassNames(t *testing.T) {
	root := t.TempDir()
	makeTree(t, root, "a/x.jpg", "b/y.jpg", "c/z.jpg", ".d/x.jpg", "e")
	list, err := Directory(root, DirectoryOptions{ClassNames: []string{"c", "a"}})
	if err != nil {
		t.Fatal(err)
	}
	if got, want := relative(t, list, root), []string{"c/z.jpg 0", "a/x.jpg 1"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := list.ClassNames(), []string{"c", "a"}; !slices.Equal(got, want) {
		t.Errorf("class names %q, want %q", got, want)
	}
	for name, wrong := range map[string]string{
		"missing": "d", "hidden": ".d", "file": "e", "path": "a/../b", "root": ".", "trailing slash": "a/", "empty": "",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Directory(root, DirectoryOptions{ClassNames: []string{"a", wrong}})
			checkError(t, err, root, fmt.Sprintf(`class name %q is not one of the 3 class folders: ["a" "b" "c"]`, wrong))
			if !errors.Is(err, ErrClassNames) {
				t.Errorf("%v is not ErrClassNames", err)
			}
		})
	}
	_, err = Directory(root, DirectoryOptions{ClassNames: []string{"a", "b", "a"}})
	checkError(t, err, root, `class name "a" is given twice`)
}

func TestDirectoryErrors(t *testing.T) {
	root := t.TempDir()
	makeTree(t, root, "file", "none/readme.txt", "loose/x.jpg", "empty/", "bad/a/x.jpg", "bad/a/l -> "+strings.Repeat("n", 300))
	for path, want := range map[string]struct {
		path   string
		reason string
		cause  error
	}{
		"gone":       {"gone", "no such file or directory", fs.ErrNotExist},
		"file":       {"file", "not a directory", syscall.ENOTDIR},
		"loose":      {"loose", "no image files found in 0 class folders", ErrNoImages},
		"empty":      {"empty", "no image files found in 0 class folders", ErrNoImages},
		"none/":      {"none/", "no image files found", ErrNoImages},
		"bad":        {"bad/a/l", "file name too long", syscall.ENAMETOOLONG},
		"file/under": {"file/under", "not a directory", syscall.ENOTDIR},
	} {
		t.Run(path, func(t *testing.T) {
			_, err := Directory(root+"/"+path, DirectoryOptions{})
			checkError(t, err, root+"/"+want.path, want.reason)
			if !errors.Is(err, want.cause) {
				t.Errorf("%v is not %v", err, want.cause)
			}
		})
	}
	_, err := Directory("", DirectoryOptions{})
	checkError(t, err, "", "no such file or directory")
}

func TestDirectoryWithoutPermission(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("root may read everything")
	}
	root := t.TempDir()
	makeTree(t, root, "a/x.jpg", "a/closed/y.jpg")
	closed := root + "/a/closed"
	if err := os.Chmod(closed, 0); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(closed, 0o777) // for the cleanup of the test's folder
	_, err := Directory(root, DirectoryOptions{})
	checkError(t, err, closed, "permission denied")
}

func TestDirectoryIsRelativeToTheCurrentFolder(t *testing.T) {
	t.Chdir(t.TempDir())
	makeTree(t, "data", "a/x.jpg")
	for given, want := range map[string]string{"data": "data/a/x.jpg", "./data": "./data/a/x.jpg", "data/../data/": "data/../data/a/x.jpg"} {
		list, err := Directory(given, DirectoryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if got := list.Path(0); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// On trees without links, the standard library's walk and a sort give the same list.
func TestDirectoryAgreesWithWalkDir(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	letters := []string{"a", "b", "B", "-", "0", "é", "\xe9", " ", ".jpg", ".PNG", ".txt", "!"}
	for range 8 {
		root := t.TempDir()
		for range 40 {
			parts := make([]string, 2+random.IntN(4))
			for i := range parts {
				for range 1 + random.IntN(3) {
					parts[i] += letters[random.IntN(len(letters))]
				}
			}
			path := root + "/" + strings.Join(parts, "/") + []string{".jpg", ".Png", ""}[random.IntN(3)]
			if os.MkdirAll(filepath.Dir(path), 0o777) == nil { // may fail: a file stands in the way
				_ = os.WriteFile(path, nil, 0o666)
			}
		}

		type file struct{ class, folder, name string }
		var files []file
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			inside := strings.Split(path[len(root):], "/")[1:]
			switch {
			case err != nil:
				return err
			case len(inside) > 0 && strings.HasPrefix(entry.Name(), ".") && entry.IsDir():
				return fs.SkipDir
			case len(inside) < 2 || entry.IsDir() || strings.HasPrefix(entry.Name(), "."):
			case strings.HasSuffix(strings.ToLower(path), ".jpg") || strings.HasSuffix(strings.ToLower(path), ".png"):
				files = append(files, file{inside[0], filepath.Dir(path), entry.Name()})
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(files, func(a, b file) int {
			if order := strings.Compare(a.class, b.class); order != 0 {
				return order
			}
			if order := strings.Compare(a.folder, b.folder); order != 0 {
				return order
			}
			return strings.Compare(a.name, b.name)
		})

		list, err := Directory(root, DirectoryOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if list.Len() != len(files) {
			t.Fatalf("%d files, want %d", list.Len(), len(files))
		}
		for i, want := range files {
			if got := list.Path(i); got != want.folder+"/"+want.name {
				t.Fatalf("sample %d: got %q, want %q", i, got, want.folder+"/"+want.name)
			}
			if got := list.ClassNames()[list.Label(i)]; got != want.class {
				t.Fatalf("sample %d: class %q, want %q", i, got, want.class)
			}
		}
	}
}
