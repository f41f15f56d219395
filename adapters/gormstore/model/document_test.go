package model

import (
	"errors"
	"testing"

	"gorm.io/gorm"
	"gorm.io/gorm/utils/tests"
)

// TestLoadUntilTheDeadline reads rows until an error, such as a deadline, for which GORM appends a row without values.
func TestLoadUntilTheDeadline(t *testing.T) {
	t.Parallel()
	tx, err := gorm.Open(tests.DummyDialector{}, &gorm.Config{})
	if err != nil {
		t.Fatal(err)
	}
	deadline := errors.New("deadline")
	err = tx.Callback().Query().Replace("gorm:query", func(tx *gorm.DB) {
		if rows, ok := tx.Statement.Dest.(*[]Pasty); ok {
			*rows = append(*rows, Pasty{PasteID: "k2j4x8m1"}, Pasty{})
		}
		_ = tx.AddError(deadline)
	})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Load(tx, &Paste{ID: "k2j4x8m1", Pasties: 2}); !errors.Is(err, deadline) {
		t.Errorf("got %v, want the error of the rows", err)
	}
}
