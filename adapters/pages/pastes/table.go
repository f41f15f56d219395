package pastes

import (
	"encoding/csv"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// grid is a table, whose first row is its head. All rows have as many values.
type grid struct {
	rows    [][]string
	numbers []bool // of the columns: all of their values are numbers
}

// byteOrderMark is what Windows programs begin files with. It is no content.
const byteOrderMark = "\ufeff"

// separators are those of CSV. The first is the likeliest where several fit.
var separators = []rune{'\t', ';', '|', ','}

const (
	sniffed     = 8 << 10 // how many bytes say which separator a file has
	sniffedRows = 20
)

// csvTable returns a table of CSV, or nil if its rows do not fit together.
func csvTable(code string) templ.Component {
	code = strings.TrimPrefix(code, byteOrderMark)
	separator, rest := chosenSeparator(code)
	rows, err := csvReader(rest, separator, true).ReadAll()
	if err != nil {
		return nil
	}
	return table(rows)
}

func csvReader(code string, separator rune, lazy bool) *csv.Reader {
	values := csv.NewReader(strings.NewReader(code))
	values.Comma, values.FieldsPerRecord, values.LazyQuotes = separator, -1, lazy
	return values
}

var separatorLine = regexp.MustCompile(`^(?i:"?sep=([^\r\n"]))"?\r?\n`)

// chosenSeparator returns the separator that a first line such as sep=; names, and what follows it. Without one, it
// is the separator that gives most of the first rows as many values as their head.
func chosenSeparator(code string) (separator rune, rest string) {
	if line := separatorLine.FindStringSubmatch(code); line != nil && strings.ContainsAny(line[1], "\t;|,: ") {
		return rune(line[1][0]), code[len(line[0]):]
	}
	beginning := code
	if len(code) > sniffed {
		beginning = code[:strings.LastIndexByte(code[:sniffed], '\n')+1]
	}
	for _, lazy := range []bool{false, true} {
		best, most := ',', 0
		for _, separator := range separators {
			if fit := fitting(csvReader(beginning, separator, lazy)); fit > most {
				best, most = separator, fit
			}
		}
		if most > 0 {
			return best, code
		}
	}
	return ',', code
}

// fitting returns how many of the first rows have as many values as the first one, which has several.
func fitting(rows *csv.Reader) (fit int) {
	columns := 0
	for range sniffedRows {
		row, err := rows.Read()
		if err != nil {
			break
		}
		if columns == 0 {
			columns = len(row)
		}
		if columns > 1 && len(row) == columns {
			fit++
		}
	}
	return fit
}

// tsvTable returns a table of TSV, which has no quotes (IANA text/tab-separated-values).
func tsvTable(code string) templ.Component {
	var rows [][]string
	for line := range strings.Lines(strings.TrimPrefix(code, byteOrderMark)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\r\n"), "\t"))
	}
	return table(rows)
}

var (
	number = regexp.MustCompile(
		`^[$€£¥]? ?[-+−]?[$€£¥]?(\d{1,3}([.,' \x{a0}]\d{3})+|\d+)?([.,]\d+)?([eE][-+]?\d+)? ?[%$€£¥]?$`)
	digit = regexp.MustCompile(`\d`)
	// date is a day, or a time, or both.
	date = regexp.MustCompile(
		`^\d{1,4}([-./:]\d{1,4})+([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?( ?([AP]M|Z|UTC|[-+]\d{2}:?\d{2}))?$`)
)

func isNumber(value string) bool { return digit.MatchString(value) && number.MatchString(value) }

// table returns rows as a table, or nil if they do not fit together. Empty rows are left out.
func table(rows [][]string) templ.Component {
	var g grid
	for _, row := range rows {
		if strings.TrimSpace(strings.Join(row, "")) == "" {
			continue
		}
		if g.rows = append(g.rows, row); len(row) != len(g.rows[0]) {
			return nil
		}
	}
	if len(g.rows) == 0 {
		return nil
	}
	g.numbers = make([]bool, len(g.rows[0]))
	for column := range g.numbers {
		filled, numbers := 0, 0
		for _, row := range g.rows[1:] {
			if value := strings.TrimSpace(row[column]); value != "" {
				filled++
				if isNumber(value) {
					numbers++
				}
			}
		}
		g.numbers[column] = filled > 0 && numbers == filled
	}
	return tableView(g)
}

// class is that of a value in a column.
func (g grid) class(column int, value string) string {
	switch {
	case g.numbers[column]:
		return "number"
	case date.MatchString(strings.TrimSpace(value)):
		return "date"
	}
	return ""
}
