package source

import (
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
)

// imageExtensions is what a file's name may end with, in any case.
var imageExtensions = []string{".jpg", ".jpeg", ".png", ".gif", ".bmp", ".webp", ".tif", ".tiff"}

// quotedFolders is how many names an error about class names repeats.
const quotedFolders = 20

// DirectoryOptions says how Directory reads a folder.
type DirectoryOptions struct {
	// ClassNames, if not nil, gives the classes and their order in place of the sorted folders.
	// Every name must be a class folder; folders that are not named are left out, as Keras does.
	ClassNames []string
}

// Directory lists the image files of a folder of class folders: the label of a file is the place of its
// class among the sorted names. Order and labels are those of keras.utils.image_dataset_from_directory:
// class by class, inside a class the folders sorted by their path, inside a folder the files by their
// name. Sorting is by bytes, which for UTF-8 is by code points.
//
// A name that starts with a dot is neither a class nor a sample; files that lie beside the class folders
// are left out, and so is what is neither a regular file nor a folder. A class without files keeps its
// label (see List.EmptyClasses).
//
// Symbolic links are followed. A class enters a real folder once, by its real path if it has one
// there, and never enters the root or the folder of another class, so that loops end and no label
// depends on a link. A link to nothing that is named like an image is listed: reading it will fail.
func Directory(root string, options DirectoryOptions) (*List, error) {
	classNames, identities, err := classFolders(root)
	if err != nil {
		return nil, err
	}
	if options.ClassNames != nil {
		if err := checkClassNames(root, options.ClassNames, classNames); err != nil {
			return nil, err
		}
		classNames = slices.Clone(options.ClassNames)
	}

	builder := newBuilder()
	list := builder.list
	list.classNames = classNames
	list.labels = []int64{}
	for label, name := range classNames {
		before := list.Len()
		folders, err := scanClass(join(root, name), identities)
		if err != nil {
			return nil, err
		}
		for _, folder := range folders {
			for _, file := range folder.files {
				builder.addLabelled(join(folder.path, file), int64(label))
			}
		}
		if list.Len() == before {
			list.emptyClasses = append(list.emptyClasses, name)
		}
	}
	if list.Len() == 0 {
		return nil, fail(root, ErrNoImages, "no image files found in %d class folders", len(classNames))
	}
	return list, nil
}

func checkClassNames(root string, given, folders []string) error {
	seen := map[string]bool{}
	for _, name := range given {
		if seen[name] {
			return fail(root, ErrClassNames, "class name %q is given twice", name)
		}
		seen[name] = true
		if _, found := slices.BinarySearch(folders, name); !found {
			return fail(root, ErrClassNames, "class name %q is not one of the %d class folders: %q",
				name, len(folders), folders[:min(len(folders), quotedFolders)])
		}
	}
	return nil
}

// identity is what a real folder has one of, however many names lead to it.
type identity struct {
	device, inode uint64
}

func identify(info fs.FileInfo) identity {
	stat := info.Sys().(*syscall.Stat_t)
	return identity{device: stat.Dev, inode: stat.Ino}
}

// classFolders gives the sorted names of the classes, and the folders that no class may enter on its
// way: the root and the classes' own.
func classFolders(root string) ([]string, map[identity]bool, error) {
	info, err := os.Stat(root)
	if err != nil {
		return nil, nil, systemError(root, err)
	}
	identities := map[identity]bool{identify(info): true}
	entries, err := os.ReadDir(root)
	if err != nil {
		return nil, nil, systemError(root, err)
	}
	names := []string{}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), ".") || !mayBeFolder(entry) {
			continue
		}
		path := join(root, entry.Name())
		info, err := os.Stat(path)
		if isDangling(err) {
			continue
		}
		if err != nil {
			return nil, nil, systemError(path, err)
		}
		if info.IsDir() {
			names = append(names, entry.Name())
			identities[identify(info)] = true
		}
	}
	return names, identities, nil
}

func mayBeFolder(entry fs.DirEntry) bool {
	return entry.IsDir() || isLink(entry)
}

func isLink(entry fs.DirEntry) bool {
	return entry.Type()&fs.ModeSymlink != 0
}

// isDangling tells a link that leads nowhere, or to itself, from one that could not be followed for
// another reason, such as a permission.
func isDangling(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ELOOP) || errors.Is(err, syscall.ENOTDIR)
}

func isImageName(name string) bool {
	dot := strings.LastIndexByte(name, '.')
	return dot >= 0 && slices.Contains(imageExtensions, strings.ToLower(name[dot:]))
}

// scannedFolder is a folder and the sorted names of the image files in it.
type scannedFolder struct {
	path  string
	files []string
}

// scanClass walks one class folder and gives its folders sorted by path.
func scanClass(path string, forbidden map[identity]bool) ([]scannedFolder, error) {
	var found []scannedFolder
	entered := map[identity]bool{}
	// Links wait until all real folders are entered, so that a link never renames one of them.
	folders, links := []string{path}, []string{}
	for len(folders)+len(links) > 0 {
		var next string
		if last := len(folders) - 1; last >= 0 {
			next, folders = folders[last], folders[:last]
		} else {
			next, links = links[0], links[1:]
		}
		info, err := os.Stat(next)
		if err != nil {
			return nil, systemError(next, err)
		}
		id := identify(info)
		if entered[id] || forbidden[id] && next != path {
			continue
		}
		entered[id] = true

		entries, err := os.ReadDir(next)
		if err != nil {
			return nil, systemError(next, err)
		}
		folder := scannedFolder{path: next}
		for _, entry := range entries {
			name := entry.Name()
			if strings.HasPrefix(name, ".") {
				continue
			}
			mode := entry.Type()
			if isLink(entry) {
				switch info, err := os.Stat(join(next, name)); {
				case err == nil:
					mode = info.Mode().Type()
				case isDangling(err):
					mode = 0
				default:
					return nil, systemError(join(next, name), err)
				}
			}
			switch {
			case mode.IsDir() && isLink(entry):
				links = append(links, join(next, name))
			case mode.IsDir():
				folders = append(folders, join(next, name))
			case mode.IsRegular() && isImageName(name):
				folder.files = append(folder.files, name)
			}
		}
		found = append(found, folder)
		listed.Add(int64(len(folder.files)))
	}
	slices.SortFunc(found, func(a, b scannedFolder) int { return strings.Compare(a.path, b.path) })
	return found, nil
}
