package httpapi

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/gluepot/gluepot/domain/fault"
)

func TestEveryKindHasAStatus(t *testing.T) {
	t.Parallel()
	seen := map[int]bool{}
	for _, kind := range fault.Kinds() {
		status := statusOf[kind]
		if status < 400 || seen[status] {
			t.Errorf("%v: %d", kind, status)
		}
		seen[status] = true
	}
}

func TestPrefersProblem(t *testing.T) {
	t.Parallel()
	for accept, want := range map[string]bool{
		"": false, "*/*": false, "application/json": false, "text/html, */*;q=0.1": false,
		"application/problem+json": true, "Application/Problem+JSON": true, "application/problem+json; q=0.1": true,
		"application/problem+json;q=0": false, "application/problem+json;q=x": false, ";;;,,,": false,
		"*/*, application/problem+json;q=0.1": false, "application/*;q=0.5, application/problem+json;q=0.1": false,
		"application/json;q=0.1, */*, application/problem+json;q=0.1": true, "application/problem+json, */*": true,
		"application/json;q=0.9, application/problem+json": true, "application/json, application/problem+json;q=0.9": false,
	} {
		if prefersProblem([]string{accept}) != want {
			t.Errorf("%q", accept)
		}
	}
}

func TestMatchesETag(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]bool{
		`"a"`: true, `W/"a"`: true, `*`: true, `"b", "a"`: true, ` "a" `: true, `"b"`: false, ``: false, `a`: false, `"a`: false,
	} {
		if matchesETag([]string{header}, `"a"`) != want {
			t.Errorf("%q", header)
		}
	}
}

func TestReadings(t *testing.T) {
	t.Parallel()
	for query, want := range map[string][]string{
		"":                    {},
		"other=x":             {},
		"name":                {""},
		"name=":               {""},
		"name=Go":             {"Go"},
		"x=1&name=Go&name=C":  {"Go"},
		"na%6De=Go":           {"Go"},
		"name=C%2B%2B":        {"C++"},
		"name=C++":            {"C  ", "C++"},
		"name=C%252B%252B":    {"C%2B%2B", "C++"},
		"name=a+b%20c":        {"a b c", "a+b c"},
		"name=%u6F22":         {"漢"},
		"name=%uD83D%uDE00":   {"😀"},
		"name=%uD83Dx":        {"\ufffdx"},
		"name=%":              {"%"},
		"name=%zz;%u12":       {"%zz;%u12"},
		"name=%25%32%42":      {"%2B", "+"},
		"name=1%2B1%3D2&name": {"1+1=2"},

		"name=" + strings.Repeat("%2B", 400): {strings.Repeat("%2B", 400)}, // no name
	} {
		var r readings
		r.parse(query, "name")
		if got := r.all(); strings.Join(got, "\x00") != strings.Join(want, "\x00") || len(got) != len(want) {
			t.Errorf("%q: got %q, want %q", query, got, want)
		}
	}
}

func FuzzReadings(f *testing.F) {
	for _, seed := range []string{"name=C++", "name=%u6F22", "name=%uD83D%uDE00", "%", "name=%25%", "name=%u", "a&&=&name=%2"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, query string) {
		var r readings
		r.parse(query, "name")
		for _, value := range r.all() {
			if len(value) > len(query) {
				t.Errorf("%q became %q", query, value)
			}
		}
	})
}

func TestValidateNamesEveryWrongValue(t *testing.T) {
	t.Parallel()
	if err := DefaultConfig().Validate(); err != nil {
		t.Error(err)
	}
	err := Config{Addr: "x", BasePath: "/:y", DrainDelay: -time.Second, TrustedProxies: []string{"z"}}.Validate()
	for _, part := range []string{`"x"`, `"/:y"`, `"z"`, "drain delay", "request timeout", "read timeout", "write timeout", "idle timeout", "drain timeout"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s is not named in %v", part, err)
		}
	}
}

func FuzzHeaders(f *testing.F) {
	for _, seed := range []string{"", "Bearer x", "token  y ", "bEARER", "Basic eDp5", "\t", "application/problem+json;q=0.5, */*", `W/"a", "`, "a;q=;;"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
		c.Request.Header["Authorization"] = []string{value}
		presented := presentedToken(c)
		if !strings.Contains(value, presented) || strings.HasPrefix(presented, " ") || strings.HasSuffix(presented, " ") {
			t.Errorf("%q became %q", value, presented)
		}
		prefersProblem([]string{value})
		matchesETag([]string{value}, `"a"`)
		if validRequestID(value) && strings.ContainsAny(value, "\r\n\x00\" ") {
			t.Errorf("the request id %q is valid", value)
		}
	})
}

func TestPresentedToken(t *testing.T) {
	t.Parallel()
	for header, want := range map[string]string{
		"": "", "  ": "", "x": "x", " x ": "x", "Bearer x": "x", "bearer x": "x", "TOKEN x": "x", "Token  x+/=-_ ": "x+/=-_",
		"Bearer": "", "token ": "", "Basic x": "Basic x", "two words": "two words", "Bearerx": "Bearerx", "Bearer Bearer x": "Bearer x",
	} {
		c, _ := gin.CreateTestContext(httptest.NewRecorder())
		c.Request = httptest.NewRequest(http.MethodGet, "/", nil)
		c.Request.Header.Set("Authorization", header)
		if got := presentedToken(c); got != want {
			t.Errorf("%q: %q, want %q", header, got, want)
		}
	}
}

func TestDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		type key struct{}
		d := deadlines{timeout: 5 * time.Second}
		gone, leave := context.WithCancel(context.WithValue(t.Context(), key{}, "value"))
		first, _ := d.context(gone)
		leave()
		if first.Value(key{}) != "value" || first.Err() != nil {
			t.Errorf("%v, %v", first.Value(key{}), first.Err())
		}
		child, cancel := context.WithTimeout(first, time.Hour)
		defer cancel()
		time.Sleep(49 * time.Millisecond)
		second, _ := d.context(t.Context())
		if second.Done() != first.Done() || second.Value(key{}) != nil {
			t.Error("requests of the same moment do not share their deadline, or share more")
		}
		time.Sleep(2 * time.Millisecond)
		third, _ := d.context(t.Context())
		if left, _ := third.Deadline(); time.Until(left) != 5*time.Second {
			t.Errorf("the deadline is %v away", time.Until(left))
		}
		<-first.Done()
		synctest.Wait()
		if !errors.Is(second.Err(), context.DeadlineExceeded) || child.Err() == nil || third.Err() != nil {
			t.Errorf("%v, %v, %v", second.Err(), child.Err(), third.Err())
		}
		<-third.Done()

		shorter, cancelOuter := context.WithTimeout(t.Context(), time.Second)
		own, cancelOwn := d.context(shorter)
		defer cancelOwn()
		if left, _ := own.Deadline(); time.Until(left) != time.Second {
			t.Errorf("a deadline of a second became one of %v", time.Until(left))
		}
		cancelOuter()
		if !errors.Is(own.Err(), context.Canceled) {
			t.Error(own.Err())
		}
	})
}
