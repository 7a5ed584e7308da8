package inputs

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/amudai/amudai-go/internal/base/advice"
)

// Find finds the tables at locations: of folders the files with extensions of tables. Text without tables there, such as
// a README, is left out if there are other tables.
func (f *Finder) Find(ctx context.Context, locations []string) (all []string, err error) {
	for _, location := range locations {
		found := []Input{{Location: location}}
		if _, _, isInput := f.folder(location); !isInput {
			found = Expand(ctx, []string{location}, f.Formats)
		}
		chosen, left, err := f.chooseTables(found)
		if err != nil {
			return nil, err
		}
		switch len(left) {
		case 0:
		case 1:
			f.Notice(left[0] + " is left out, because it is text beside tables: name it to read it")
		default:
			f.Notice(fmt.Sprintf("%d files of text beside tables are left out, such as %s: name them to read them", len(left), left[0]))
		}
		if len(chosen) == 0 {
			return nil, advice.WithHint(fmt.Errorf("%s has no tables", location), "files in folders need an extension of a table, such as .csv or .parquet; name other files one by one")
		}
		all = append(all, chosen...)
	}
	for i, location := range all {
		if location == "-" && slices.Contains(all[:i], "-") {
			return nil, advice.Errorf("", "stdin can be only one of the inputs")
		}
	}
	return all, nil
}

// chooseTables chooses the tables among files. left are files of text in folders beside tables.
func (f *Finder) chooseTables(found []Input) (chosen, left []string, err error) {
	folders := map[string]bool{} // that are one input
	inFolders := map[string]bool{}
	for _, in := range found {
		inFolders[in.Location] = in.InFolder
	}
	for _, in := range found {
		if in.Err != nil {
			return nil, nil, in.Err
		}
		if !in.InFolder {
			chosen = append(chosen, in.Location)
			continue
		}
		if dir, input, ok := f.folderOf(in.Location, inFolders); ok {
			if !folders[dir] {
				folders[dir] = true
				chosen = append(chosen, input)
			}
			continue
		}
		if strings.HasPrefix(filepath.Base(in.Location), "_") { // of Hive and Spark
			continue
		}
		name := strings.TrimSuffix(strings.TrimSuffix(in.Location, ".gz"), ".zst")
		switch format, ok := f.Formats.ByPath(name); {
		case ok && format.Prose && f.Format == "":
			left = append(left, in.Location)
		case ok:
			chosen = append(chosen, in.Location)
		}
	}
	if len(chosen) == 0 {
		return left, nil, nil
	}
	return chosen, left, nil
}

// folderOf returns the folder of a file and the location to read, if the folder is one input.
func (f *Finder) folderOf(location string, found map[string]bool) (dir, input string, ok bool) {
	dir = filepath.Dir(location)
	if IsURL(location) {
		dir = location[:strings.LastIndexByte(location, '/')]
	}
	for _, format := range f.Formats {
		if format.Folder == nil {
			continue
		}
		if IsURL(location) {
			input = dir + "/" + format.Folder.Data
			ok = found[input] && found[dir+"/"+format.Folder.Mark]
		} else {
			input = dir
			ok = found[filepath.Join(dir, format.Folder.Data)] && found[filepath.Join(dir, format.Folder.Mark)]
		}
		if ok {
			return dir, input, true
		}
	}
	return dir, "", false
}
