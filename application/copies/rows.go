package copies

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
)

// Table is one whose rows are copied. Rows are ordered by their key: texts by their bytes, numbers by their size.
type Table struct {
	Name    string
	Columns []string
	Key     int   // how many of the first columns are the primary key; one or two, texts and numbers
	Unique  []int // the other columns whose value no two rows share
}

// Row is the values of a row in the order of its table's columns, each a string, int64, bool, []byte, time.Time (to the
// microsecond) or nil.
type Row []any

// Key is the first values of a row.
type Key []any

// Compare orders keys of one table.
func (k Key) Compare(other Key) int {
	for i, value := range k {
		switch value := value.(type) {
		case string:
			if order := strings.Compare(value, other[i].(string)); order != 0 { //nolint:forcetypeassert // of the same table
				return order
			}
		case int64:
			if theirs := other[i].(int64); value != theirs { //nolint:forcetypeassert // of the same table
				if value < theirs {
					return -1
				}
				return 1
			}
		default:
			panic(fmt.Sprintf("a key with a %T", value))
		}
	}
	return 0
}

// Digest is the SHA-256 of values in their canonical form, which is the same whatever database they come from.
type Digest [sha256.Size]byte

// Mark stands for a row that is stored: enough to find it and to tell whether it is as another.
type Mark struct {
	Key    Key
	Row    Digest // of all values
	Unique Digest // of those that no two rows share; the same for all rows of a table that has none
}

// NewMark returns the mark of a row.
func NewMark(table Table, row Row) Mark {
	m := Mark{Key: Key(row[:table.Key:table.Key])}
	var buffer []byte
	m.Row = sha256.Sum256(canonical(buffer, row...))
	if len(table.Unique) > 0 {
		for _, column := range table.Unique {
			buffer = canonical(buffer, row[column])
		}
		m.Unique = sha256.Sum256(buffer)
	}
	return m
}

// canonical appends values so that no two lists of values of the same number look alike.
func canonical(b []byte, values ...any) []byte {
	for _, value := range values {
		switch value := value.(type) {
		case nil:
			b = append(b, '-')
		case string:
			b = append(binary.AppendUvarint(append(b, 's'), uint64(len(value))), value...)
		case []byte:
			b = append(binary.AppendUvarint(append(b, 'b'), uint64(len(value))), value...)
		case int64:
			b = binary.AppendVarint(append(b, 'i'), value)
		case time.Time:
			b = binary.AppendVarint(append(b, 't'), value.UnixMicro())
		case bool:
			if value {
				b = append(b, 'T')
			} else {
				b = append(b, 'F')
			}
		default:
			panic(fmt.Sprintf("a row with a %T", value))
		}
	}
	return b
}

// size is about how many bytes a row takes.
func (r Row) size() (size int) {
	for _, value := range r {
		switch value := value.(type) {
		case string:
			size += len(value)
		case []byte:
			size += len(value)
		}
		size += 16
	}
	return size
}
