package pastemyst

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/gluepot/gluepot/application/imports"
)

func collect[R any](t *testing.T, records func(func(imports.Record[R], error) bool)) []imports.Record[R] {
	t.Helper()
	var all []imports.Record[R]
	for record, err := range records {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, record)
	}
	return all
}

func TestUsers(t *testing.T) {
	t.Parallel()
	const full = `{"_id":"u1","username":"Epoxy","avatarUrl":"https://example.com/a","serviceIds":{"github":"1","gitlab":""},"publicProfile":true,"defaultLang":"Go","stars":["a","b"],"supporterLength":{"$numberLong":"24"},"contributor":true,"more":[1,{"x":null}]}`
	text := full + "\n\n  " + `{"_id":"u2","username":"putty","stars":null,"supporterLength":3}` + "\r\n" + `{"_id":` + "\n" + `[]` + "\n" + `{"supporterLength":1.5}`
	records := collect(t, Users(strings.NewReader(text), false))
	if len(records) != 5 {
		t.Fatalf("%d records", len(records))
	}
	first := records[0]
	if u := first.Value; first.Err != nil || first.Line != 1 || string(first.Raw) != full || u.ID != "u1" || u.Name != "Epoxy" || !u.PublicProfile ||
		u.SupporterMonths != 24 || !u.Contributor || !slices.Equal(u.Stars, []string{"a", "b"}) || len(u.Services) != 1 || u.Services["github"] != "1" {
		t.Errorf("%+v", first)
	}
	if second := records[1]; second.Err != nil || second.Line != 3 || second.Value.SupporterMonths != 3 {
		t.Errorf("%+v", second)
	}
	for _, broken := range records[2:] {
		if broken.Err == nil {
			t.Errorf("%+v", broken)
		}
	}
}

func TestNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"24": 24, "-1": -1, "24.0": 24, "1.7e9": 1_700_000_000, "null": 0,
		`{"$numberLong":"24"}`: 24, `{"$numberInt":"-3"}`: -3, `{"$numberDouble":"24.0"}`: 24, `{"$numberLong":"9223372036854775807"}`: 1<<63 - 1,
	} {
		records := collect(t, Pastes(strings.NewReader(`{"createdAt":`+text+`}`), false))
		if records[0].Err != nil || records[0].Value.CreatedAt != want {
			t.Errorf("%s: %+v", text, records[0])
		}
	}
	for _, text := range []string{"1.5", `"24"`, "true", "[]", "{}", `{"$numberLong":24}`, `{"$date":"24"}`, `{"$numberLong":"x"}`, "1e300", `{"$numberDouble":"NaN"}`} {
		if records := collect(t, Pastes(strings.NewReader(`{"createdAt":`+text+`}`), false)); records[0].Err == nil {
			t.Errorf("%s: %+v", text, records[0])
		}
	}
}

func TestArray(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]string{
		``:              nil,
		`[]`:            nil,
		` [ ] `:         nil,
		`[{"_id":"a"}]`: {"a"},
		"[\n{\"_id\":\"a\"},\n{\n\"_id\" : \"b\"\n}\n]\n":             {"a", "b"},
		`[{"_id":"a","x":[{"y":"},]{["}]},{"_id":"\\"},{"_id":"\""}]`: {"a", `\`, `"`},
		`[{"_id":"a"},{"_id":b},nonsense,{"_id":"c"}]`:                {"a", "!", "!", "c"},
		`[{"_id":"a","x":[1,2},{"_id":"b"}]`:                          {"!", "b"},
		`[{"_id":"a"},{"_id":"b"`:                                     {"a", "!"},
	} {
		var got []string
		for _, record := range collect(t, Pastes(strings.NewReader(text), true)) {
			if record.Err != nil {
				got = append(got, "!")
			} else {
				got = append(got, record.Value.ID)
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
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
	if records := collect(t, Pastes(bytes.NewReader(whole), false)); len(records) != 1000 || records[999].Value.ID != "p999" {
		t.Errorf("%d records", len(records))
	}
	failed := false
	for _, err := range Pastes(bytes.NewReader(whole[:len(whole)/2]), false) {
		failed = failed || err != nil
	}
	if !failed {
		t.Error("a file that was cut off is no error")
	}
}

func TestTooLong(t *testing.T) {
	t.Parallel()
	for _, array := range []bool{false, true} {
		begin, end := "", "\n"
		if array {
			begin, end = "[", ","
		}
		text := io.MultiReader(strings.NewReader(begin+`{"_id":"a"}`+end+`{"_id":"`), io.LimitReader(endless('x'), maxDocument), strings.NewReader(`"}`+end+`{"_id":"c"}`))
		records := collect(t, Pastes(text, array))
		if len(records) != 3 || records[0].Err != nil || records[1].Err == nil || records[2].Value.ID != "c" {
			t.Errorf("%v: %d records", array, len(records))
		}
	}
}

type endless byte

func (e endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = byte(e)
	}
	return len(p), nil
}

func FuzzRecords(f *testing.F) {
	for _, seed := range []string{
		`{"_id":"a","createdAt":{"$numberLong":"1"}}`, "{}\n\n[", `[{"_id":"a"},{]},"`, "\x1f\x8b", "\x00", `{"stars":[null]}`, `[[[{"`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, array := range []bool{false, true} {
			total := 0
			for record, err := range Pastes(bytes.NewReader(text), array) {
				if err != nil {
					break
				}
				total += len(record.Raw)
				if len(record.Raw) == 0 || record.Line < 1 {
					t.Errorf("%+v", record)
				}
			}
			if bytes.HasPrefix(text, []byte{0x1f, 0x8b}) {
				continue
			}
			if total > len(text) {
				t.Errorf("%d bytes became %d", len(text), total)
			}
			for record, err := range Users(bytes.NewReader(text), array) {
				_, _ = record, err // it must not panic
			}
			for record, err := range Keys(bytes.NewReader(text), array) {
				_, _ = record, err // as above
			}
		}
	})
}

func BenchmarkRecords(b *testing.B) {
	code := strings.Repeat(`func main() {\n\tprintln(\"hello\")\n}\n`, 10)
	line := `{"_id":"abcdefgh","ownerId":"hiqpz8s5","createdAt":{"$numberLong":"1700000000"},"deletesAt":0,"pasties":[{"_id":"a","language":"Go","code":"` + code + `"}]}`
	for name, text := range map[string]string{
		"lines": strings.Repeat(line+"\n", 1000),
		"array": "[" + strings.Repeat(line+",\n", 999) + line + "]",
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				records := 0
				for _, err := range Pastes(strings.NewReader(text), name == "array") {
					if err != nil {
						b.Fatal(err)
					}
					records++
				}
				if records != 1000 {
					b.Fatal(records)
				}
			}
		})
	}
}
