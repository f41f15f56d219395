package git

import (
	"cmp"
	"context"
	"errors"
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
	"github.com/go-git/go-git/v6/plumbing/format/config"
	"github.com/go-git/go-git/v6/plumbing/object"
	"github.com/go-git/go-git/v6/storage"
	"github.com/go-git/go-git/v6/storage/memory"

	"github.com/gluepot/gluepot/adapters/internal/filename"
	"github.com/gluepot/gluepot/domain/paste"
)

// branch is the only branch of a repository.
const branch = plumbing.ReferenceName("refs/heads/main")

// repository is a paste as Git has it: a commit for each version, and files in one folder. The same paste gives the
// same hashes. Nothing changes it.
type repository struct {
	storage.Storer

	bytes int64 // about what it takes in memory
}

// builder makes a repository.
type builder struct {
	store  *memory.Storage
	bytes  int64
	author string
	name   func(*paste.Pasty) string

	blobs map[string]*blob  // by the pasty's id
	names map[string]string // of files, by what they are made of
}

// blob is a pasty's code as an object of Git.
type blob struct {
	code string
	hash plumbing.Hash
}

func newBlob(code string) (*blob, error) {
	hasher := plumbing.NewHasher(config.SHA1, plumbing.BlobObject, int64(len(code)))
	_, err := io.Copy(hasher, unbuffered(code))
	return &blob{code, hasher.Sum()}, err
}

// unbuffered returns a reader of a text that copies no more than it is asked for.
func unbuffered(text string) io.Reader { return struct{ io.Reader }{strings.NewReader(text)} }

// The methods implement plumbing.EncodedObject.
func (b *blob) Hash() plumbing.Hash            { return b.hash }
func (*blob) Type() plumbing.ObjectType        { return plumbing.BlobObject }
func (*blob) SetType(plumbing.ObjectType)      {}
func (b *blob) Size() int64                    { return int64(len(b.code)) }
func (*blob) SetSize(int64)                    {}
func (b *blob) Reader() (io.ReadCloser, error) { return io.NopCloser(unbuffered(b.code)), nil }
func (*blob) Writer() (io.WriteCloser, error)  { return nil, errors.ErrUnsupported }

// newRepository returns the repository of a paste. name returns the file name of a pasty.
func newRepository(
	ctx context.Context, doc *paste.Document, versions []paste.Version, author string, name func(*paste.Pasty) string,
) (*repository, error) {
	r := &builder{store: memory.NewStorage(), author: author, name: name, blobs: make(map[string]*blob),
		names: make(map[string]string)}
	// The store makes its settings when it is first asked for them, and several requests may read it at once.
	if _, err := r.store.Config(); err != nil {
		return nil, err
	}
	var head []plumbing.Hash
	for i := range versions {
		if err := ctx.Err(); err != nil {
			return nil, err
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
			return nil, err
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
			return nil, err
		}
		head = []plumbing.Hash{commit}
	}
	for _, reference := range []*plumbing.Reference{
		plumbing.NewHashReference(branch, head[0]), plumbing.NewSymbolicReference(plumbing.HEAD, branch),
	} {
		if err := r.store.SetReference(reference); err != nil {
			return nil, err
		}
	}
	return &repository{r.store, r.bytes}, nil
}

// keep stores an object and returns its hash.
func (r *builder) keep(o interface {
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
func (r *builder) tree(version *paste.Version) (plumbing.Hash, error) {
	tree, names := new(object.Tree), make(filename.Set)
	for i := range version.Pasties {
		pasty := &version.Pasties[i]
		file, ok := r.blobs[pasty.ID]
		if !ok || file.code != pasty.Code {
			var err error
			if file, err = newBlob(pasty.Code); err != nil {
				return plumbing.ZeroHash, err
			}
			if _, err = r.store.SetEncodedObject(file); err != nil {
				return plumbing.ZeroHash, err
			}
			r.blobs[pasty.ID] = file
			r.bytes += int64(len(pasty.Code)) + objectBytes
		}
		tree.Entries = append(tree.Entries, object.TreeEntry{
			Name: names.Unique(r.fileName(pasty)), Mode: filemode.Regular, Hash: file.hash,
		})
	}
	slices.SortFunc(tree.Entries, func(a, b object.TreeEntry) int { return cmp.Compare(a.Name, b.Name) })
	return r.keep(tree)
}

// submodules matches the file that makes a recursive clone fetch other repositories, and its short name on Windows.
var submodules = regexp.MustCompile(`(?i)^(\.gitmodules|gitmod~[0-9]+)$`)

func (r *builder) fileName(pasty *paste.Pasty) string {
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
func (r *builder) message(before, after *paste.Version) string {
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
func (r *builder) nameIn(version *paste.Version, id string) string {
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
