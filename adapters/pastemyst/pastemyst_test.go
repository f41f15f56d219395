package pastemyst

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gluepot/gluepot/application/imports"
	"github.com/gluepot/gluepot/domain/paste"
)

func collect[R any](t *testing.T, records imports.Records[R]) []imports.Record[R] {
	t.Helper()
	var all []imports.Record[R]
	for record, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		record.Raw = bytes.Clone(record.Raw)
		all = append(all, record)
	}
	return all
}

func TestUsers(t *testing.T) {
	t.Parallel()
	const full = `{"_id":"u1","username":"Epoxy","avatarUrl":"https://example.com/a",` +
		`"serviceIds":{"github":"1","gitlab":""},"publicProfile":true,"defaultLang":"Go","stars":["a","b"],` +
		`"supporterLength":{"$numberLong":"24"},"contributor":true,"more":[1,{"x":null}]}`
	text := full + "\n\n  " + `{"_id":"u2","username":"putty","stars":null,"supporterLength":3}` + "\r\n" +
		`{"_id":` + "\n" + `[]` + "\n" + `{"supporterLength":1.5}`
	records := collect(t, Users(strings.NewReader(text)))
	if len(records) != 5 {
		t.Fatalf("got %d records, want 5", len(records))
	}
	first := records[0]
	if u := first.Value; first.Err != nil || first.Line != 1 || string(first.Raw) != full ||
		u.ID != "u1" || u.Name != "Epoxy" || !*u.PublicProfile || *u.SupporterMonths != 24 || !*u.Contributor ||
		!slices.Equal(u.Stars, []string{"a", "b"}) || len(u.Identities) != 1 || u.Identities["github"] != "1" {
		t.Errorf("got %+v, want every field of %s", first, full)
	}
	if second := records[1]; second.Err != nil || second.Line != 3 || *second.Value.SupporterMonths != 3 {
		t.Errorf("got %+v, want putty of line 3 with 3 months", second)
	}
	for _, broken := range records[2:] {
		if broken.Err == nil {
			t.Errorf("got %+v, want an error", broken)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"24": 24, "-1": -1, "24.0": 24, "1.7e9": 1_700_000_000, "null": 0,
		`{"$numberLong":"24"}`: 24, `{"$numberInt":"-3"}`: -3, `{"$numberDouble":"24.0"}`: 24,
		`{"$numberLong":"9223372036854775807"}`: 1<<63 - 1,
	} {
		records := collect(t, Pastes(strings.NewReader(`{"deletesAt":`+text+`}`)))
		got := records[0].Value.Over(paste.Document{}, false).ExpiresAt
		if records[0].Err != nil || got.Unix() != want && !(want == 0 && got.IsZero()) {
			t.Errorf("%s: got %+v, want %d", text, records[0], want)
		}
	}
	for _, text := range []string{
		"1.5", `"24"`, "true", "[]", "{}", "1e300",
		`{"$numberLong":24}`, `{"$date":"24"}`, `{"$numberLong":"x"}`, `{"$numberDouble":"NaN"}`,
	} {
		if records := collect(t, Pastes(strings.NewReader(`{"deletesAt":`+text+`}`))); records[0].Err == nil {
			t.Errorf("%s: got %+v, want an error", text, records[0])
		}
	}
}

// TestArray checks that one array, as mongoexport --jsonArray writes it, is refused in a sentence.
func TestArray(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"[]", " [{\"_id\":\"a\"},\n{\"_id\":\"b\"}]\n"} {
		var last error
		records := 0
		for _, err := range Pastes(strings.NewReader(text)) {
			last = err
			records++
		}
		if records != 1 || !errors.Is(last, errArray) {
			t.Errorf("%s: got %d records, error %v, want %v alone", text, records, last, errArray)
		}
	}
}

// TestLineNumbers checks each record's text and line number.
func TestLineNumbers(t *testing.T) {
	t.Parallel()
	var got []string
	for _, record := range collect(t, Pastes(strings.NewReader("\n{\"_id\":\"a\"}  \n \n\t{\"_id\":\r\nnonsense\n"))) {
		got = append(got, fmt.Sprintf("%d %s", record.Line, record.Raw))
	}
	if want := []string{`2 {"_id":"a"}`, `4 {"_id":`, `5 nonsense`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	for i := range 1000 {
		_, _ = fmt.Fprintf(w, "{\"_id\":\"p%d\"}\n", i)
	}
	_ = w.Close()
	whole := b.Bytes()
	if records := collect(t, Pastes(bytes.NewReader(whole))); len(records) != 1000 || records[999].Value.ID != "p999" {
		t.Errorf("got %d records, want 1000, the last one being p999", len(records))
	}
	broken := false
	for _, err := range Pastes(bytes.NewReader(whole[:len(whole)/2])) {
		broken = broken || err != nil
	}
	if !broken {
		t.Error("half a file: got no error, want one")
	}
}

// deep returns that many nested arrays and objects.
func deep(levels int) string {
	return strings.Repeat(`[{"":`, levels/2) + "0" + strings.Repeat("}]", levels/2)
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	text := io.MultiReader(strings.NewReader("{\"_id\":\"a\"}\n{\"_id\":\""), io.LimitReader(endless('x'), maxDocument),
		strings.NewReader("\"}\n{\"_id\":\"c\"}"))
	records := collect(t, Pastes(text))
	if len(records) != 3 || records[0].Err != nil || records[1].Err == nil || len(records[1].Raw) != maxDocument ||
		records[2].Value.ID != "c" {
		t.Errorf("got %d records, want the second of three to be too large", len(records))
	}
	// Space between documents does not count.
	spaces := io.MultiReader(io.LimitReader(endless(' '), maxDocument+1), strings.NewReader(`{"_id":"a"}`))
	if records := collect(t, Pastes(spaces)); len(records) != 1 || records[0].Value.ID != "a" {
		t.Errorf("got %d records after much space, want 1", len(records))
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	if len(p) > 0 {
		p[0] = byte(e)
	}
	for n := 1; n < len(p); n *= 2 { // byte by byte takes seconds with the race detector
		copy(p[n:], p[:n])
	}
	return len(p), nil
}

const (
	// much is the length of documents, in bytes, for which a buffer grows in large steps.
	much = 1 << 20
	// mostAllocated, in bytes, allows for a buffer, the maximum number of parts, and garbage.
	mostAllocated = maxDocument + 96<<20
)

// TestBounds reads documents that would take many times their own length if they were decoded naively.
func TestBounds(t *testing.T) { // not parallel: it counts allocated bytes
	huge := strings.Repeat("x", much)
	for name, c := range map[string]struct {
		text    string
		refused bool
	}{
		"a long text":                  {`{"_id":"` + huge + `"}`, false},
		"a long text of invalid UTF-8": {`{"_id":"` + strings.Repeat("\xff", much) + `"}`, true},
		"a long text elsewhere":        {`{"x":"` + huge + `"}`, false},
		"a long name":                  {`{"` + huge + `":1}`, false},
		"a long name with escapes":     {`{"\n` + strings.Repeat("ü", much/2) + `":1}`, false},
		"a long number":                {`{"supporterLength":` + strings.Repeat("1", much) + `}`, true},
		"a long extended number":       {`{"supporterLength":{"$numberLong":"` + huge + `"}}`, true},
		"a long star":                  {`{"stars":["` + huge + `"]}`, false},
		"a long service":               {`{"serviceIds":{"` + huge + `":"1"}}`, true},
		"many stars":                   {`{"stars":[` + strings.Repeat(`"a",`, much/4) + `"a"]}`, true},
		"many services":                {`{"serviceIds":{` + manyServices(much/10) + `}}`, true},
		"many unlinked services":       {`{"serviceIds":{` + strings.Repeat(`"a":"",`, much/7) + `"b":"1"}}`, true},
		"many lists of stars": {
			`{` + strings.Repeat(`"stars":["a","b","c","d","e","f"],`, much/40) + `"stars":["c"]}`, false,
		},
		"much nesting": {`{"x":` + deep(much) + `}`, true},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for record, err := range Users(strings.NewReader(c.text)) {
			if err != nil || (record.Err != nil) != c.refused || len(record.Value.Stars) > imports.MaxStars+1 ||
				len(record.Value.Identities) > imports.MaxIdentities+1 {
				t.Errorf("%s: got %v, %v, %d stars, %d services, want it refused: %v", name, err, record.Err,
					len(record.Value.Stars), len(record.Value.Identities), c.refused)
			}
		}
		runtime.ReadMemStats(&after)
		allocated := after.TotalAlloc - before.TotalAlloc
		t.Logf("%s: %d bytes allocated", name, allocated)
		if allocated > mostAllocated {
			t.Errorf("%s: got %d bytes allocated, want at most %d", name, allocated, mostAllocated)
		}
	}
}

func manyServices(n int) string {
	var b strings.Builder
	for i := range n {
		_, _ = fmt.Fprintf(&b, `"%d":"%d",`, i, i)
	}
	return b.String() + `"a":"1"`
}

func FuzzRecords(f *testing.F) {
	for _, seed := range []string{
		`{"_id":"a","createdAt":{"$numberLong":"1"}}`, "{}\n\n[", `[{"_id":"a"},{]},"`, "\x1f\x8b", "\x00",
		`{"stars":[null]}`, `[[[{"`,
		`{"_\u0069d":"\\\"","stars":["a" , "b"],"serviceIds":{"a":"1","b":""},"publicProfile" : true,` +
			`"x":[{"y":"}"},-1.5e3 ]}`,
		deep(20_010), strings.Repeat("[{", 100) + strings.Repeat("]", 50) + "}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		total := 0
		for record, err := range Pastes(bytes.NewReader(text)) {
			if err != nil {
				break
			}
			total += len(record.Raw)
			if len(record.Raw) == 0 || record.Line < 1 {
				t.Errorf("got %+v, want a text and the number of its line", record)
			}
			valid := record.Raw[0] == '{' && utf8.Valid(record.Raw) && json.Valid(record.Raw)
			if !valid && record.Err == nil {
				t.Errorf("%q: got %+v, want it refused", record.Raw, record.Value)
			}
		}
		if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
			return
		}
		if total > len(text) {
			t.Errorf("got %d bytes of records, want at most the %d that were read", total, len(text))
		}
		for record, err := range Users(bytes.NewReader(text)) {
			_, _ = record, err // it must not panic
		}
		for record, err := range Keys(bytes.NewReader(text)) {
			_, _ = record, err // as above
		}
	})
}

func BenchmarkRecords(b *testing.B) {
	code := strings.Repeat(`func main() {\n\tprintln(\"hello\")\n}\n`, 10)
	line := `{"_id":"abcdefgh","ownerId":"hiqpz8s5","createdAt":{"$numberLong":"1700000000"},"deletesAt":0,` +
		`"pasties":[{"_id":"a","language":"Go","code":"` + code + `"}]}`
	text := strings.Repeat(line+"\n", 1000)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		records := 0
		for _, err := range Pastes(strings.NewReader(text)) {
			if err != nil {
				b.Fatal(err)
			}
			records++
		}
		if records != 1000 {
			b.Fatalf("got %d records, want 1000", records)
		}
	}
}
