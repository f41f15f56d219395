package git

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/go-git/go-git/v6/plumbing"
	"github.com/go-git/go-git/v6/plumbing/filemode"
	"github.com/go-git/go-git/v6/plumbing/object"
	"github.com/go-git/go-git/v6/storage"
	"github.com/go-git/go-git/v6/storage/memory"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/domain/paste"
)

// branch is the only branch of a repository.
const branch = plumbing.ReferenceName("refs/heads/main")

// repository is a paste as Git has it: a commit for each version, and files in one folder. The same paste gives the
// same hashes.
type repository struct {
	store  *memory.Storage
	bytes  int64 // about what it takes in memory
	author string
	name   func(*paste.Pasty) string

	blobs map[string]blob   // by the pasty's id
	names map[string]string // of files, by what they are made of
}

// blob is a pasty's code with its hash.
type blob struct {
	code string
	hash plumbing.Hash
}

// newRepository returns the repository of a paste. name returns the file name of a pasty.
func newRepository(
	ctx context.Context, doc *paste.Document, versions []paste.Version, author string, name func(*paste.Pasty) string,
) (storage.Storer, int64, error) {
	r := &repository{store: memory.NewStorage(), author: author, name: name, blobs: make(map[string]blob),
		names: make(map[string]string)}
	// The store makes its settings when it is first asked for them, and several requests may read it at once.
	if _, err := r.store.Config(); err != nil {
		return nil, 0, err
	}
	var head []plumbing.Hash
	for i := range versions {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		version := &versions[i]
		message := "Create the paste"
		if i > 0 {
			message = r.message(&versions[i-1], version)
		} else if title := strings.Join(strings.Fields(printable(version.Title)), " "); title != "" {
			message = "Create " + shortened(title)
		}
		tree, err := r.tree(version)
		if err != nil {
			return nil, 0, err
		}
		at := version.At
		if at.IsZero() {
			at = doc.CreatedAt
		}
		by := object.Signature{Name: author, When: at.UTC().Truncate(time.Second)}
		commit, err := r.keep(&object.Commit{
			Author: by, Committer: by, Message: message + "\n", TreeHash: tree, ParentHashes: head,
		})
		if err != nil {
			return nil, 0, err
		}
		head = []plumbing.Hash{commit}
	}
	for _, reference := range []*plumbing.Reference{
		plumbing.NewHashReference(branch, head[0]), plumbing.NewSymbolicReference(plumbing.HEAD, branch),
	} {
		if err := r.store.SetReference(reference); err != nil {
			return nil, 0, err
		}
	}
	return r.store, r.bytes, nil
}

// keep stores an object and returns its hash.
func (r *repository) keep(o interface {
	Encode(plumbing.EncodedObject) error
}) (plumbing.Hash, error) {
	encoded := r.store.NewEncodedObject()
	if err := o.Encode(encoded); err != nil {
		return plumbing.ZeroHash, err
	}
	r.bytes += encoded.Size() + objectBytes
	return r.store.SetEncodedObject(encoded)
}

// objectBytes is about what an object takes beside its content.
const objectBytes = 512

// tree stores the files of a version.
func (r *repository) tree(version *paste.Version) (plumbing.Hash, error) {
	tree, names := new(object.Tree), make(filename.Set)
	for i := range version.Pasties {
		pasty := &version.Pasties[i]
		entry, ok := r.blobs[pasty.ID]
		if !ok || entry.code != pasty.Code {
			code := r.store.NewEncodedObject()
			code.SetType(plumbing.BlobObject)
			w, err := code.Writer()
			if err != nil {
				return plumbing.ZeroHash, err
			}
			if _, err := io.WriteString(w, pasty.Code); err != nil {
				return plumbing.ZeroHash, err
			}
			hash, err := r.store.SetEncodedObject(code)
			if err != nil {
				return plumbing.ZeroHash, err
			}
			entry = blob{pasty.Code, hash}
			r.blobs[pasty.ID] = entry
			r.bytes += int64(len(pasty.Code)) + objectBytes
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{
			Name: names.Unique(r.fileName(pasty)), Mode: filemode.Regular, Hash: entry.hash,
		})
	}
	slices.SortFunc(tree.Entries, func(a, b object.TreeEntry) int { return cmp.Compare(a.Name, b.Name) })
	return r.keep(tree)
}

// submodules matches the file that makes a recursive clone fetch other repositories, and its short name on Windows.
var submodules = regexp.MustCompile(`(?i)^(\.gitmodules|gitmod~[0-9]+)$`)

func (r *repository) fileName(pasty *paste.Pasty) string {
	key := pasty.ID + "\x00" + pasty.Language + "\x00" + pasty.Title
	name, ok := r.names[key]
	if !ok {
		if name = r.name(pasty); submodules.MatchString(name) {
			name = "_" + name
		}
		r.names[key] = name
	}
	return name
}

// printable leaves out what would disturb a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsGraphic(r) && !unicode.IsSpace(r) {
			return -1
		}
		return r
	}, text)
}

// message says what an edit changed: in one line, and one for each change if there are several.
func (r *repository) message(before, after *paste.Version) string {
	var changes []string
	for _, e := range after.Edits {
		file := "a file"
		if len(e.Metadata) > 0 {
			file = cmp.Or(r.nameIn(after, e.Metadata[0]), r.nameIn(before, e.Metadata[0]), file)
		}
		what := ""
		switch e.Type {
		case paste.EditTitle:
			what = "Change the title to " + strconv.Quote(shortened(after.Title))
		case paste.EditPastyTitle:
			what = "Rename a file to " + file
		case paste.EditPastyLanguage:
			what = "Change the language of " + file
		case paste.EditPastyCode:
			what = "Change " + file
		case paste.EditPastyAdded:
			what = "Add " + file
		case paste.EditPastyRemoved:
			what = "Remove " + file
		}
		if what != "" && !slices.Contains(changes, what) {
			changes = append(changes, what)
		}
	}
	switch len(changes) {
	case 0:
		return "Edit the paste"
	case 1:
		return changes[0]
	}
	return fmt.Sprintf("%s, and %d more\n\n%s", changes[0], len(changes)-1, strings.Join(changes, "\n"))
}

// nameIn returns the file name of a pasty in a version, or "".
func (r *repository) nameIn(version *paste.Version, id string) string {
	for i := range version.Pasties {
		if version.Pasties[i].ID == id {
			return r.fileName(&version.Pasties[i])
		}
	}
	return ""
}

// shortened cuts a title off, so that it fits the first line of a message.
func shortened(title string) string {
	const most = 60
	if runes := []rune(title); len(runes) > most {
		return string(runes[:most-1]) + "…"
	}
	return title
}
