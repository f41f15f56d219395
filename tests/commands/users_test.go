package commands

import (
	"regexp"
	"strings"
	"testing"
)

// createEpoxy creates a user with every field.
const createEpoxy = "user create Epoxy --public --avatar-url https://example.com/e --default-lang Go " +
	"--supporter-months 7 --contributor" +
	" --service github=1 --service gitlab=2"

func TestUserCreate(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"user create putty": "Created the user putty with the id RANDOMID.\n",
		"user create putty --json": `{"id":"RANDOMID","name":"putty","avatarUrl":"","defaultLang":"Autodetect",` +
			`"publicProfile":false,"showTags":false,` +
			`"supporterMonths":0,"contributor":false,"admin":false,"suspended":false,"services":{}}` + "\n",
		createEpoxy + " --json": `{"id":"RANDOMID","name":"Epoxy","avatarUrl":"https://example.com/e","defaultLang":"Go",` +
			`"publicProfile":true,"showTags":false,` +
			`"supporterMonths":7,"contributor":true,"admin":false,"suspended":false,"services":{"github":"1","gitlab":"2"}}` +
			"\n",
	} {
		wantLike(t, line, install(t).do(line), want)
	}
}

func TestUserCreateRefused(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create Epoxy")
	i.wantRefused("user create ePOXY", "The username is taken. Choose another.")
	i.wantRefused("user create -- -x", "The username must begin and end with a letter or a digit.")
	i.wantRefused("user create putty --supporter-months -1", "The supporter length must not be negative.")
	i.wantRefused("user create putty --service =x",
		"A provider and the user's id there must each be printable text of at most 256 bytes.")
	if got := strings.Count(i.do("user list --json"), "\n"); got != 1 {
		t.Errorf("got %d users, want the first alone", got)
	}
}

func TestUserShow(t *testing.T) {
	t.Parallel()
	i := install(t)
	created := used(i.do(createEpoxy + " --json"))
	if got := i.shown("ePOXY"); got != created {
		t.Errorf("got %s, want what was printed at first, %s", got, created)
	}
	wantLike(t, "user show", i.do("user show epoxy"), `id               RANDOMID
name             Epoxy
avatarUrl        https://example.com/e
defaultLang      Go
publicProfile    yes
showTags         no
supporterMonths  7
contributor      yes
admin            no
suspended        no
services         github=1, gitlab=2
createdAt        YYYY-MM-DD HH:MM:SS
pastes           0
bytes            0
tokens           0
lastUsedAt       never
`)
	i.do("paste create --owner epoxy")
	i.do("token issue epoxy")
	if got := i.shown("epoxy"); !strings.HasSuffix(got, `,"pastes":1,"bytes":4,"tokens":1,"lastUsedAt":null}`+"\n") {
		t.Errorf("got %s, want one paste of 4 bytes and one token", got)
	}
}

// shown is what user show prints as JSON, without the time when the user was created.
func (i installation) shown(name string) string {
	i.Helper()
	return regexp.MustCompile(`,"createdAt":"[^"]*"`).ReplaceAllString(i.do("user show "+name+" --json"), "")
}

// used is what user show prints of a user without pastes and tokens, whom other commands print so.
func used(printed string) string {
	return strings.TrimSuffix(printed, "}\n") + `,"pastes":0,"bytes":0,"tokens":0,"lastUsedAt":null}` + "\n"
}

func TestUserList(t *testing.T) {
	t.Parallel()
	i := install(t)
	const titles = "ID        NAME   PUBLIC  SUPPORTER MONTHS  CONTRIBUTOR  ADMIN  SUSPENDED\n"
	for line, want := range map[string]string{
		"user list": "ID  NAME  PUBLIC  SUPPORTER MONTHS  CONTRIBUTOR  ADMIN  SUSPENDED\n", "user list --json": "",
	} {
		if got := i.do(line); got != want {
			t.Errorf("%s without users: got %q, want %q", line, got, want)
		}
	}
	i.do(createEpoxy)
	i.do("user create putty")
	wantLike(t, "user list", i.do("user list"), titles+
		"RANDOMID  Epoxy  yes     7                 yes          no     no\n"+
		"RANDOMID  putty  no      0                 no           no     no\n")
	wantLike(t, "user list --json", i.do("user list --json"),
		`{"id":"RANDOMID","name":"Epoxy","avatarUrl":"https://example.com/e",`+
			`"defaultLang":"Go","publicProfile":true,"showTags":false,"supporterMonths":7,"contributor":true,`+
			`"admin":false,"suspended":false}
{"id":"RANDOMID","name":"putty","avatarUrl":"","defaultLang":"Autodetect",`+
			`"publicProfile":false,"showTags":false,"supporterMonths":0,"contributor":false,"admin":false,"suspended":false}
`)
}

// TestAdministrators checks that the list names administrators, and the audit log says who made them.
func TestAdministrators(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create mia --admin")
	i.do("user create epoxy")
	i.do("user update epoxy --admin --public")
	i.do("user suspend epoxy --reason spam")
	i.do("user create putty")
	i.do("user update putty --admin")
	i.do("user update putty --admin=false")
	wantLike(t, "user list", i.do("user list"),
		"ID        NAME   PUBLIC  SUPPORTER MONTHS  CONTRIBUTOR  ADMIN  SUSPENDED\n"+
			"RANDOMID  epoxy  yes     0                 no           yes    yes\n"+
			"RANDOMID  mia    no      0                 no           yes    no\n"+
			"RANDOMID  putty  no      0                 no           no     no\n")
	wantLike(t, "audit list", i.do("audit list"),
		"AT                   ACTOR     ACT                TARGET            REASON\n"+
			"YYYY-MM-DD HH:MM:SS  operator  user.unmake-admin  putty (RANDOMID)  \n"+
			"YYYY-MM-DD HH:MM:SS  operator  user.make-admin    putty (RANDOMID)  \n"+
			"YYYY-MM-DD HH:MM:SS  operator  user.create        putty (RANDOMID)  \n"+
			"YYYY-MM-DD HH:MM:SS  operator  user.suspend       epoxy (RANDOMID)  spam\n"+
			"YYYY-MM-DD HH:MM:SS  operator  user.make-admin    epoxy (RANDOMID)  \n"+
			"YYYY-MM-DD HH:MM:SS  operator  user.create        epoxy (RANDOMID)  \n"+
			"YYYY-MM-DD HH:MM:SS  operator  user.create-admin  mia (RANDOMID)    \n")
}

// TestUserUpdate checks that each flag changes its field, and nothing else.
func TestUserUpdate(t *testing.T) {
	t.Parallel()
	i := install(t)
	want := i.do(createEpoxy + " --json")
	for _, step := range []struct{ flags, before, after string }{
		{"", "", ""},
		{"--public=false", `"publicProfile":true`, `"publicProfile":false`},
		{"--avatar-url https://example.com/f", "com/e", "com/f"},
		{"--avatar-url=", "https://example.com/f", ""},
		{"--default-lang C++", `"Go"`, `"C++"`},
		{"--supporter-months 0", `Months":7`, `Months":0`},
		{"--contributor=false", `"contributor":true`, `"contributor":false`},
		{"--service gitlab=", `,"gitlab":"2"`, ""},
		{"--service github=3 --service bitbucket=4", `{"github":"1"`, `{"bitbucket":"4","github":"3"`},
		{"--service github= --service bitbucket=", `{"bitbucket":"4","github":"3"}`, "{}"},
	} {
		want = strings.Replace(want, step.before, step.after, 1)
		if got := i.do("user update epoxy --json " + step.flags); got != want {
			t.Errorf("user update %s: got %s, want %s", step.flags, got, want)
		}
	}
	if got := i.shown("epoxy"); got != used(want) {
		t.Errorf("user show: got %s, want %s", got, want)
	}
}

func TestUserUpdatePrintsUser(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do(createEpoxy)
	got := i.do("user update epoxy --public=false")
	if want := i.do("user show epoxy"); !strings.HasPrefix(want, got) || !strings.Contains(got, "publicProfile    no\n") {
		t.Errorf("got %s, want what user show prints, %s", got, want)
	}
}

// TestUserDeleteAsks checks that only a clear answer, or --yes, deletes the user.
func TestUserDeleteAsks(t *testing.T) {
	t.Parallel()
	const question = "Delete Epoxy with all tokens, stars and pastes? This cannot be undone. [y/N] "
	i := install(t)
	i.do("user create Epoxy")
	for _, answer := range []string{"", "\n", "n\n", "yesterday\n"} {
		want := result{exitFailed, "", question + "gluepot: Nothing was deleted. Answer y, or give --yes.\n"}
		if got := i.runReading(answer, "user delete epoxy"); got != want {
			t.Errorf("the answer %q: got %+v, want %+v", answer, got, want)
		}
	}
	i.do("user show epoxy")
	for _, answer := range []string{"y\n", "Y", " yes \n"} {
		want := result{exitOK, "Deleted the user Epoxy.\n", question}
		if got := i.runReading(answer, "user delete epoxy"); got != want {
			t.Errorf("the answer %q: got %+v, want %+v", answer, got, want)
		}
		i.do("user create Epoxy") // the name is free again
	}
}

func TestUserDeleteUnasked(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create Epoxy")
	if got, want := i.do("user delete epoxy --yes"), "Deleted the user Epoxy.\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	id := i.field("user create Epoxy --json", "id")
	if got, want := i.do("user delete epoxy --yes --json"), `{"deleted":"`+id+`"}`+"\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestUsersByID covers a user whose id is another user's name.
func TestUsersByID(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.runReading(`{"_id":"epoxy","username":"Putty"}`+"\n"+`{"_id":"u2","username":"Epoxy"}`, "import pastemyst --users -")
	for reference, name := range map[string]string{
		"epoxy": "Epoxy", "name:epoxy": "Epoxy", "id:epoxy": "Putty", "putty": "Putty", "u2": "Epoxy", "id:u2": "Epoxy",
	} {
		if got := i.field("user show "+reference+" --json", "name"); got != name {
			t.Errorf("%s: got %s, want %s", reference, got, name)
		}
	}
	for _, unknown := range []string{"name:u2", "id:Epoxy", "id:", "nobody"} {
		i.wantRefused("user show "+unknown, "There is no such user.")
	}
	i.do("user update id:epoxy --public")
	i.do("token issue id:epoxy")
	output := i.runReading("x", "paste create --owner u2 --json")
	if !strings.Contains(output.stdout, `"ownerId":"u2"`) {
		t.Errorf("got %+v, want a paste of u2", output)
	}
	if got := i.do("paste list u2"); strings.Count(got, "\n") != 2 {
		t.Errorf("got %s, want one paste", got)
	}
	i.do("user delete id:epoxy --yes")
	i.wantRefused("user show putty", "There is no such user.")
	i.do("user show epoxy")
}

// TestUserDeleteTakesAll checks that everything of the user is deleted, and nothing of others.
func TestUserDeleteTakesAll(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	i.do("token issue epoxy")
	i.do("paste create --owner epoxy")
	i.do("paste create")
	i.star("epoxy", "missing")
	i.do("user delete epoxy --yes")
	wantStats(i, `{"users":0,"tokens":0,"activePastes":1,"expiredUnsweptPastes":0,"waitingStars":0}`)
}

// TestUnknownUser checks that every command that takes a user names the unknown one.
func TestUnknownUser(t *testing.T) {
	t.Parallel()
	i := install(t)
	for _, line := range []string{
		"user show nobody", "user update nobody --public", "user delete nobody --yes", "user delete nobody",
		"token issue nobody",
		"token list nobody", "paste create --owner nobody", "paste list nobody",
	} {
		i.wantRefused(line, "There is no such user.")
	}
}

// TestIdentityFlag names a user by an account at a provider, in each command that takes one.
func TestIdentityFlag(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy --service github=77 --service oidc@https://id.example=a")
	i.do("user create putty --service github=78")
	id := i.field("paste create --identity github:77 --private --json", "_id")
	for _, step := range []struct{ line, want string }{
		{"user show --identity github:77", "epoxy"},
		{"user show --identity oidc@https://id.example:a", "epoxy"},
		{"user update --identity github:77 --public", "epoxy"},
		{"user identities --identity github:77", "github"},
		{"user sessions --identity github:77", "ID"},
		{"user sign-out --identity github:77", "Ended 0 sessions."},
		{"user unlink --identity github:77 oidc@https://id.example", "Unlinked"},
		{"token issue --identity github:77", "Issued the token"},
		{"token list --identity github:77", "write"},
		{"paste list --identity github:77", id},
		{"paste remove --identity github:77 --reason spam --yes", "Removed 1 paste."},
		{"user suspend --identity github:77 --reason spam", "Suspended the user epoxy"},
		{"user unsuspend --identity github:77", "epoxy"},
		{"user delete --identity github:77 --yes", "Deleted the user epoxy."},
		{"user show putty", "putty"},
	} {
		if got := i.do(step.line); !strings.Contains(got, step.want) {
			t.Errorf("%s: got %q, want %q in it", step.line, got, step.want)
		}
	}
	i.wantRefused("user show --identity github:77", "There is no such user.")
	for _, wrong := range []string{"github", "github:", ":", ":77"} {
		i.wantRefused("user show --identity "+wrong, "Write the identity as PROVIDER:SUBJECT, such as github:77.")
	}
	for _, line := range []string{
		"user show putty --identity github:78", "paste list putty --identity github:78",
		"paste list --owner putty --identity github:78",
		"paste remove --reason spam --anonymous --identity github:78", "paste remove x --reason spam --identity github:78",
	} {
		if got := i.run(line); got.code != exitUsage {
			t.Errorf("%s: got %+v, want exit code %d", line, got, exitUsage)
		}
	}
}
