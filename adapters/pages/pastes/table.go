package pastes

import (
	"encoding/csv"
	"regexp"
	"strings"

	"github.com/a-h/templ"
)

// grid is a table. Its first row is its head, and all rows have the same number of values.
type grid struct {
	rows    [][]string
	numbers []bool // whether all values of a column are numbers
}

// byteOrderMark begins many files of Windows programs. It is not part of the content.
const byteOrderMark = "\ufeff"

// separators are the separators of CSV, the likeliest first.
var separators = []rune{'\t', ';', '|', ','}

const (
	sniffBytes = 8 << 10 // how much of a file is read to find its separator
	sniffRows  = 20
)

// csvTable renders CSV as a table, or returns nil if its rows differ in length.
func csvTable(code string) templ.Component {
	code = strings.TrimPrefix(code, byteOrderMark)
	separator, rest := findSeparator(code)
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

// findSeparator returns the separator that a first line such as sep=; names, and the text after that line. Without such
// a line, it returns the separator with which the most rows have as many values as the head.
func findSeparator(code string) (separator rune, rest string) {
	if line := separatorLine.FindStringSubmatch(code); line != nil && strings.ContainsAny(line[1], "\t;|,: ") {
		return rune(line[1][0]), code[len(line[0]):]
	}
	beginning := code
	if len(code) > sniffBytes {
		beginning = code[:strings.LastIndexByte(code[:sniffBytes], '\n')+1]
	}
	for _, lazy := range []bool{false, true} {
		best, most := ',', 0
		for _, separator := range separators {
			if fit := fittingRows(csvReader(beginning, separator, lazy)); fit > most {
				best, most = separator, fit
			}
		}
		if most > 0 {
			return best, code
		}
	}
	return ',', code
}

// fittingRows counts which of the first rows have as many values as the first one. It returns 0 if that has only one.
func fittingRows(rows *csv.Reader) (fit int) {
	columns := 0
	for range sniffRows {
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

// tsvTable renders TSV, which has no quotes (IANA text/tab-separated-values), as a table.
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
	// date matches a day, a time, or both.
	date = regexp.MustCompile(
		`^\d{1,4}([-./:]\d{1,4})+([T ]\d{1,2}:\d{2}(:\d{2}(\.\d+)?)?)?( ?([AP]M|Z|UTC|[-+]\d{2}:?\d{2}))?$`)
)

func isNumber(value string) bool { return digit.MatchString(value) && number.MatchString(value) }

// table renders rows as a table without the empty ones, or returns nil if they differ in length.
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

// class returns the class of a value in a column, or "".
func (g grid) class(column int, value string) string {
	switch {
	case g.numbers[column]:
		return "number"
	case date.MatchString(strings.TrimSpace(value)):
		return "date"
	}
	return ""
}
