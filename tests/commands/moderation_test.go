package commands

import (
	"strings"
	"testing"
)

func TestUserSuspend(t *testing.T) {
	t.Parallel()
	i := install(t)
	i.do("user create epoxy")
	id := i.field("paste create --owner epoxy --json", "_id")
	for _, step := range []struct{ line, want string }{
		{"user suspend epoxy --reason spam --hide-pastes", "Suspended the user epoxy and hid 1 pastes.\n"},
		{"user suspend epoxy --reason spam", "Suspended the user epoxy.\n"},
		{"user unsuspend epoxy", "The user epoxy is suspended no longer, and 1 pastes are there again.\n"},
		{"user unsuspend epoxy", "The user epoxy is suspended no longer.\n"},
	} {
		if got := i.do(step.line); got != step.want {
			t.Errorf("%s: got %q, want %q", step.line, got, step.want)
		}
		suspended := strings.Contains(step.line, " suspend ")
		if shown := i.do("user show epoxy"); strings.Contains(shown, "Suspended         yes\n") != suspended {
			t.Errorf("%s: got %s, want the user suspended: %t", step.line, shown, suspended)
		}
		if code := i.run("paste show " + id).code; (code == exitOK) == suspended {
			t.Errorf("%s: got exit code %d for the paste, want it hidden: %t", step.line, code, suspended)
		}
	}
	i.wantRefused("user suspend epoxy", "Give a reason: one line of at most 500 bytes.")
	i.wantRefused("user suspend nobody --reason spam", "There is no such user.")
	i.do("user update epoxy --admin")
	if shown := i.do("user show epoxy"); !strings.Contains(shown, "Administrator     yes\n") {
		t.Errorf("got %s, want an administrator", shown)
	}
	i.do("user delete epoxy --yes --pastes anonymous")
	if listed := i.do("paste list --anonymous"); !strings.Contains(listed, id) {
		t.Errorf("got %s, want the paste without its owner", listed)
	}
}

func TestBlock(t *testing.T) {
	t.Parallel()
	i := install(t)
	for _, step := range []struct{ line, want string }{
		{"block add 192.0.2.7/24 --reason spam", "Blocked 192.0.2.0/24.\n"},
		{"block add 2001:db8::1 --expires-in 7d --reason more", "Blocked 2001:db8::1/128.\n"},
		{"block list", "NETWORK          CREATED              EXPIRES              REASON\n" +
			"2001:db8::1/128  YYYY-MM-DD HH:MM:SS  YYYY-MM-DD HH:MM:SS  more\n" +
			"192.0.2.0/24     YYYY-MM-DD HH:MM:SS  never                spam\n"},
		{"block remove 2001:db8::1", "2001:db8::1 is blocked no longer.\n"},
		{"block list --json", `{"network":"192.0.2.0/24","reason":"spam","createdAt":"TIME","expiresAt":null}` + "\n"},
	} {
		wantLike(t, step.line, i.do(step.line), step.want)
	}
	i.wantRefused("block remove 192.0.2.1", "That network is not blocked. A block is removed by the network it was made for.")
	i.wantRefused("block add here --reason spam", "That is no network: write one such as 192.0.2.0/24 or 2001:db8::/32, or an address.")
	i.wantRefused("block add 192.0.2.1", "Give a reason: one line of at most 500 bytes.")
}
