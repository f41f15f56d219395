package gormstore

import (
	"slices"
	"testing"
)

func TestSettle(t *testing.T) {
	t.Parallel()
	type record struct{ id, key string }
	for what, c := range map[string]struct {
		current map[string]string
		records []record
		refused []int
	}{
		"new keys":                 {nil, []record{{"a", "x"}, {"b", "y"}}, nil},
		"the first of two gets it": {nil, []record{{"a", "x"}, {"b", "x"}}, []int{1}},
		"who has it keeps it":      {map[string]string{"b": "x"}, []record{{"a", "x"}, {"b", "x"}}, []int{0}},
		"held by somebody else":    {map[string]string{"c": "x"}, []record{{"a", "x"}, {"b", "y"}}, []int{0}},
		"a chain, backwards":       {map[string]string{"a": "y", "b": "x"}, []record{{"a", "x"}, {"b", "z"}}, nil},
		"a chain, forwards":        {map[string]string{"a": "y", "b": "x"}, []record{{"b", "z"}, {"a", "x"}}, nil},
		"a swap":                   {map[string]string{"a": "x", "b": "y"}, []record{{"a", "y"}, {"b", "x"}}, nil},
		"a circle": {map[string]string{"a": "x", "b": "y", "c": "z"},
			[]record{{"a", "y"}, {"b", "z"}, {"c", "x"}}, nil},
		"a chain whose end is held":      {map[string]string{"a": "y", "b": "x", "c": "z"}, []record{{"a", "x"}, {"b", "z"}}, []int{0, 1}},
		"a circle that somebody blocks":  {map[string]string{"a": "x", "b": "y", "c": "z"}, []record{{"a", "y"}, {"b", "z"}}, []int{0, 1}},
		"the last of one row decides":    {map[string]string{"c": "x"}, []record{{"a", "x"}, {"a", "y"}}, nil},
		"or the one before it":           {map[string]string{"c": "x"}, []record{{"a", "y"}, {"a", "x"}}, []int{1}},
		"which can push others aside":    {map[string]string{"c": "z"}, []record{{"a", "x"}, {"b", "x"}, {"a", "z"}}, []int{1, 2}},
		"there and back again":           {map[string]string{"a": "x"}, []record{{"a", "y"}, {"a", "x"}, {"b", "y"}}, nil},
		"it gives up what it never gets": {map[string]string{"a": "x", "c": "z"}, []record{{"b", "x"}, {"a", "z"}}, []int{0, 1}},
		"refused, and then a chain blocks": {
			map[string]string{"a": "1", "b": "2", "c": "3", "d": "4"}, []record{{"a", "2"}, {"b", "3"}, {"c", "4"}}, []int{0, 1, 2},
		},
	} {
		ids, keys := make([]string, len(c.records)), make([]string, len(c.records))
		for i, r := range c.records {
			ids[i], keys[i] = r.id, r.key
		}
		refused := make([]bool, len(ids))
		settle(ids, keys, c.current, refused)
		var got []int
		for i, r := range refused {
			if r {
				got = append(got, i)
			}
		}
		if !slices.Equal(got, c.refused) {
			t.Errorf("%s: refused %v, want %v", what, got, c.refused)
		}
	}
}
