package httpapi

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"
)

// value reads a value of any type as encoding/json does, but for numbers, of which it keeps the text.
func (d *decoder) value() (value any, err error) {
	switch before := d.rest; d.next() {
	case '{':
		fields := map[string]any{}
		err = d.object("", func(name string) error {
			fields[name], err = d.value()
			return err
		})
		return fields, err
	case '[':
		elements := []any{}
		err = d.array("", func(int) error {
			element, err := d.value()
			elements = append(elements, element)
			return err
		})
		return elements, err
	case '"':
		text, err := d.text("")
		return *text, err
	case 't', 'f':
		is, err := d.boolean("")
		return *is, err
	case 'n':
		_, err := d.text("")
		return nil, err
	default:
		err = d.skip()
		return json.Number(strings.TrimLeft(strings.TrimSuffix(before, d.rest), " \t\r\n")), err
	}
}

// FuzzDecode compares what is read with what encoding/json reads of the same text.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{
		`{}`, ` { "a" : [ ] , "b":[1,-0.5e+7,0,"x",true,false,null,{"c":{}}]}`, "\ufeff{\"a\":\"é\u2028\"}", "\ufeff\ufeff{}",
		`{"a":"\"\\\/\b\f\n\r\t\u0000\u00e9\uD83D\uDE00\ud800\ud800\udc00\udc00\ud83d\u0041\ud83dx\ud83d"}`, `{"\u0061":1,"a":2}`,
		`{"a":1,}`, `{"a":[1,]}`, `{"a":[,1]}`, `{,}`, `{"a"}`, `{"a":}`, `{"a" 1}`, `{"a":1 "b":2}`, `{"a":[1 2]}`, `{a:1}`, `{'a':1}`, `{1:1}`,
		`{"a":01}`, `{"a":-}`, `{"a":1.}`, `{"a":.5}`, `{"a":1e}`, `{"a":1e+}`, `{"a":+1}`, `{"a":0x1}`, `{"a":-01}`, `{"a":1E9}`, `{"a":NaN}`,
		`{"a":"\x"}`, `{"a":"\u12g4"}`, `{"a":"\u123"}`, `{"a":"\`, `{"a":"x`, `{"a":"\ud800\`,
		"{\"a\":\"\n\"}", "{\"a\":\"\x7f\"}", "{\"a\":\"\xff\"}",
		`{"a":tru}`, `{"a":nulll}`, `{"a":True}`, `{`, `{"a":[`, `{"a":[}`, `{"a":{]}`, `{}}`, `{} {}`, `{} x`, "{}\x00", "\v{}",
		`[]`, `"x"`, ``, ` `,
		`{"a":` + strings.Repeat("[", maxDepth-1) + strings.Repeat("]", maxDepth-1) + `}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, sent []byte) {
		got := map[string]any{}
		err := decode(&body{size: int64(len(sent)), held: sent}, func(d *decoder, name string) (err error) {
			got[name], err = d.value()
			return err
		})
		skipped := decode(&body{size: int64(len(sent)), held: sent}, func(d *decoder, _ string) error { return d.skip() })
		if !errors.Is(skipped, err) {
			t.Errorf("%q: got the error %v when its values are dropped, want %v", sent, skipped, err)
		}
		if errors.Is(err, errTooDeep) {
			return
		}
		reader := json.NewDecoder(strings.NewReader(strings.TrimPrefix(string(sent), byteOrderMark)))
		reader.UseNumber()
		var want map[string]any
		valid := utf8.Valid(sent) && json.Valid([]byte(strings.TrimPrefix(string(sent), byteOrderMark))) &&
			reader.Decode(&want) == nil && want != nil // null is no object
		if valid != (err == nil) {
			t.Fatalf("%q: got the error %v, want one: %t", sent, err, !valid)
		}
		if valid && !reflect.DeepEqual(got, want) {
			t.Errorf("%q: got %#v, want %#v", sent, got, want)
		}
	})
}

func TestNesting(t *testing.T) {
	t.Parallel()
	for _, brackets := range [][2]string{{"[", "]"}, {`{"b":`, "}"}} {
		for depth, want := range map[int]error{maxDepth: nil, maxDepth + 1: errTooDeep, 1 << 18: errTooDeep} {
			begin, end, _ := strings.Cut(`{"a":`+strings.Repeat(brackets[0], depth-1)+"|"+strings.Repeat(brackets[1], depth-1)+`}`, "|")
			text := begin + "0" + end
			err := decode(&body{size: int64(len(text)), held: []byte(text)}, func(d *decoder, _ string) error { return d.skip() })
			if !errors.Is(err, want) {
				t.Errorf("%d times %s: got %v, want %v", depth, brackets[0], err, want)
			}
		}
	}
}
