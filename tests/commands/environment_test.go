package commands

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fileWith returns the path of a file with that content.
func fileWith(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestSecretsInFiles(t *testing.T) {
	i := install(t)
	for _, end := range []string{"", "\n", "\r\n"} {
		if got := runWith(t, []string{"GLUEPOT_DATABASE_URL_FILE=" + fileWith(t, i.url+end)}, "stats"); got.code != exitOK ||
			got.stderr != "" {
			t.Errorf("%q at the end of the file: got %+v, want exit code 0", end, got)
		}
	}
	other := "GLUEPOT_DATABASE_URL_FILE=" + filepath.Join(t.TempDir(), "none")
	if got := runWith(t, []string{other}, "stats", "--database-url="+i.url); got.code != exitOK {
		t.Errorf("with a flag: got %+v, want the file left alone", got)
	}

	standby := "GLUEPOT_DATABASE_READ_URL_FILE=" + fileWith(t, "sqlite://hunter2\n")
	got := runWith(t, []string{"GLUEPOT_DATABASE_URL=postgres://u@127.0.0.1:1/d", standby}, "stats")
	wantRefusal(t, standby, got, exitUsage,
		"GLUEPOT_DATABASE_READ_URL cannot be used: it must be a postgres:// URL, and so must GLUEPOT_DATABASE_URL")
}

func TestSecretsInFilesThatCannotBeUsed(t *testing.T) {
	const secret = "hunter2"
	folder := t.TempDir()
	for _, c := range []struct{ path, url, want string }{
		{folder + "/none", "", `GLUEPOT_DATABASE_URL_FILE names "` + folder + `/none": no such file or directory`},
		{folder, "", `GLUEPOT_DATABASE_URL_FILE names "` + folder + `": is a directory`},
		{fileWith(t, "\n"), "", "PATH: the file is empty"},
		{fileWith(t, strings.Repeat(secret, 10_000)), "", "PATH: the file is longer than 65536 bytes"},
		{
			fileWith(t, secret), "",
			"GLUEPOT_DATABASE_URL cannot be used: the database URL is neither " +
				"postgres://USER:PASSWORD@HOST/DATABASE nor sqlite://PATH",
		},
		{fileWith(t, "postgres://u:"+secret+"@127.0.0.1:1/d\nmore"), "", "PATH: the file has more than one line"},
		{
			fileWith(t, "sqlite://"+secret), "sqlite://" + secret,
			"GLUEPOT_DATABASE_URL and GLUEPOT_DATABASE_URL_FILE are both set: choose one",
		},
		{
			"postgres://u:" + secret + "@127.0.0.1:1/d", "", // of the variable without _FILE
			"GLUEPOT_DATABASE_URL_FILE names something that may hold a password: no such file or directory",
		},
	} {
		want := strings.Replace(c.want, "PATH:", `GLUEPOT_DATABASE_URL_FILE names "`+c.path+`":`, 1)
		got := runWith(t, []string{"GLUEPOT_DATABASE_URL_FILE=" + c.path, "GLUEPOT_DATABASE_URL=" + c.url}, "stats")
		wantRefusal(t, c.path, got, exitUsage, want)
	}
}

func TestVariablesThatAreNoSettings(t *testing.T) {
	i := install(t)
	t.Setenv("GLUEPOT_DATABASE_URL", i.url)
	t.Setenv("GLUEPOT_SERVICE_HOST", "10.0.0.11")
	t.Setenv("GLUEPOT_PORT", "tcp://10.0.0.11:8080")
	if got := run(t, "stats"); got.code != exitOK || got.stderr != "" {
		t.Errorf("with Kubernetes' variables: got %+v, want exit code 0 and no message about them", got)
	}

	t.Setenv("GLUEPOT_COLOUR", "hunter2")
	t.Setenv("GLUEPOT_HTTP_ADR", "hunter2")
	for _, args := range [][]string{{"serve"}, {"stats"}, {"migrate", "status"}, {"health"}} {
		wantRefusal(t, strings.Join(args, " "), run(t, args...), exitUsage,
			`"GLUEPOT_COLOUR" is not a setting. See 'gluepot serve --help'`+
				"\ngluepot: "+`"GLUEPOT_HTTP_ADR" is not a setting. Did you mean GLUEPOT_HTTP_ADDR?`)
	}
}
