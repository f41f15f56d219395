package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A user, a key and a paste that are not accepted, the last one until there is a user of its name.
var (
	badUser     = `{"_id":"u1","username":"-"}` + "\n"
	badKey      = `{"_id":"u1","key":"` + strings.Repeat("S", 44) + `"}` + "\n"
	laterPaste  = `{"_id":"p1","ownerId":"later","createdAt":1,"pasties":[]}` + "\n"
	laterPastes = laterPaste + "nonsense\n"
)

// TestRejectsFiles checks that each kind has its own file, although the inputs have the same name.
func TestRejectsFiles(t *testing.T) {
	t.Parallel()
	i, folder := install(t), t.TempDir()
	users := writeTo(t, t.TempDir(), "export.json", badUser)
	keys := writeTo(t, t.TempDir(), "export.json", badKey)
	pastes := writeTo(t, t.TempDir(), "export.json", laterPastes)
	got, summaries := i.imports(folder, "--users "+users+" --api-keys "+keys+" --pastes "+pastes)
	wantFiles(t, folder, map[string]string{
		"users-export.json.rejects": badUser, "api-keys-export.json.rejects": badKey,
		"pastes-export.json.rejects": laterPastes,
	})
	if got.code != exitFailed {
		t.Errorf("got exit code %d, want %d", got.code, exitFailed)
	}
	for kind, rejected := range map[string]int64{"users": 1, "api-keys": 1, "pastes": 2} {
		want := summary{Kind: kind, Read: rejected, Rejected: rejected,
			RejectsFile: filepath.Join(folder, kind+"-export.json.rejects")}
		if summaries[kind] != want {
			t.Errorf("got %+v, want %+v", summaries[kind], want)
		}
	}
}

// TestRejectsReport checks that the report says where each record is and what is wrong with it, and quotes nothing,
// since it may be a key.
func TestRejectsReport(t *testing.T) {
	t.Parallel()
	i, folder := install(t), t.TempDir()
	users := writeTo(t, t.TempDir(), "export.json", badUser)
	keys := writeTo(t, t.TempDir(), "export.json", badKey)
	pastes := writeTo(t, t.TempDir(), "export.json", laterPastes)
	got, _ := i.imports(folder, "--users "+users+" --api-keys "+keys+" --pastes "+pastes)
	rejects := filepath.Join(folder, "%-export.json.rejects")
	for _, part := range []string{
		users + ":1: The username must begin and end with a letter or a digit.\n", keys + ":1: ", pastes + ":1: ",
		pastes + ":2: The record is not a JSON object of the expected form.\n",
		"gluepot: Rejected records: 4, kept in " + strings.ReplaceAll(rejects, "%", "users") + " and " +
			strings.ReplaceAll(rejects, "%", "api-keys") + " and " + strings.ReplaceAll(rejects, "%", "pastes") + ".\n",
	} {
		if !strings.Contains(got.stderr, part) {
			t.Errorf("got\n%swant %q in it", got.stderr, part)
		}
	}
	for _, part := range []string{strings.Repeat("S", 44), `"_id"`, "nonsense"} {
		if strings.Contains(got.stderr, part) {
			t.Errorf("got\n%swant %q of a record not to be in it", got.stderr, part)
		}
	}
}

// TestRejectsFilesStay checks that a run without rejects, and one with others, leave earlier files as they are.
func TestRejectsFilesStay(t *testing.T) {
	t.Parallel()
	i, inputs, folder := install(t), t.TempDir(), t.TempDir()
	input := "--users " + writeTo(t, inputs, "export.json", badUser)
	i.imports(folder, input)
	rejects := map[string]string{"users-export.json.rejects": badUser}
	wantFiles(t, folder, rejects)
	writeTo(t, inputs, "export.json", `{"_id":"u2","username":"fine"}`)
	if got, _ := i.imports(folder, input); got.code != exitOK {
		t.Errorf("a run without rejects: got %+v, want exit code 0", got)
	}
	wantFiles(t, folder, rejects)
	writeTo(t, inputs, "export.json", "other\n")
	i.imports(folder, input)
	rejects["users-export.json.2.rejects"] = "other\n"
	wantFiles(t, folder, rejects)
}

// TestRejectsOfRejects imports a rejects file, whose own rejects go into another file.
func TestRejectsOfRejects(t *testing.T) {
	t.Parallel()
	i, inputs, folder := install(t), t.TempDir(), t.TempDir()
	i.imports(folder, "--pastes "+writeTo(t, inputs, "export.json", laterPastes))
	if got, _ := i.imports(folder, "--users "+writeTo(t, inputs, "users.json",
		`{"_id":"later","username":"later"}`)); got.code != exitOK {
		t.Errorf("the owner: got %+v, want exit code 0", got)
	}
	_, summaries := i.imports(folder, "--pastes "+filepath.Join(folder, "pastes-export.json.rejects"))
	want := summary{Kind: "pastes", Read: 2, New: 1, Rejected: 1,
		RejectsFile: filepath.Join(folder, "pastes-export.json.2.rejects")}
	if got := summaries["pastes"]; got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	wantFiles(t, folder, map[string]string{"pastes-export.json.rejects": laterPastes,
		"pastes-export.json.2.rejects": "nonsense\n"})
}

// TestRejectsFollowNoLink checks that a symbolic link is not followed, even to a file that does not exist.
func TestRejectsFollowNoLink(t *testing.T) {
	t.Parallel()
	folder, elsewhere := t.TempDir(), filepath.Join(t.TempDir(), "elsewhere")
	if err := os.Symlink(elsewhere, filepath.Join(folder, "api-keys-export.json.rejects")); err != nil {
		t.Fatal(err)
	}
	install(t).imports(folder, "--api-keys "+writeTo(t, t.TempDir(), "export.json", badKey))
	if _, err := os.Lstat(elsewhere); !os.IsNotExist(err) {
		t.Errorf("%s: got %v, want no such file, because no link is followed", elsewhere, err)
	}
	if text, err := os.ReadFile(filepath.Join(folder, "api-keys-export.json.2.rejects")); err != nil ||
		string(text) != badKey {
		t.Errorf("the second file: got %q, error %v, want %q", text, err, badKey)
	}
}
