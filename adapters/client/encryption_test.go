package client

import (
	"errors"
	"strings"
	"testing"
)

// TestParseContent parses plaintexts that another program could have encrypted.
func TestParseContent(t *testing.T) {
	t.Parallel()
	for text, valid := range map[string]bool{
		`{"title":"a","pasties":[{"title":"b","language":"Go","code":"c"}]}`: true,
		`{"pasties":[{}],"more":1}`:                 true,
		`{"title":null,"pasties":[{"title":null}]}`: true,
		`{"pasties":[]}`:                            true,
		`{"pasties":[null]}`:                        false,
		`{"pasties":[{"code":"a"},null]}`:           false,
		`{"pasties":["a"]}`:                         false,
		`{"pasties":[[]]}`:                          false,
		`{"pasties":[{"code":1}]}`:                  false,
		`{"pasties":{}}`:                            false,
		`{"pasties":null}`:                          false,
		`{"title":[],"pasties":[]}`:                 false,
		`{}`:                                        false,
		`null`:                                      false,
		`[]`:                                        false,
		`{"pasties":[{}`:                            false,
		``:                                          false,
		`{"pasties":[{}` + strings.Repeat(",{}", 1000) + `]}`: false,
	} {
		plain, err := parseContent([]byte(text))
		if valid != (err == nil) || err != nil && (!errors.Is(err, errContent) || plain.Pasties != nil) {
			t.Errorf("%.60s: got %v, error %v, want it valid: %v", text, plain, err, valid)
		}
	}
}
