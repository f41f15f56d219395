package e2e

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gluepot/gluepot/tests/database"
	"github.com/gluepot/gluepot/tests/program"
)

const mib = 1 << 20

// gzipFile writes a gzip file. Repetition costs next to nothing, because a gzip file may consist of several members.
type gzipFile struct {
	file *bufio.Writer
	part *gzip.Writer // does not compress, which takes long with the race detector
}

// Write implements io.Writer. Close of the file reports errors.
func (z *gzipFile) Write(p []byte) (int, error) { return z.part.Write(p) }

// repeat writes a text repeatedly, 64 KiB at a time, until this many bytes are written.
func (z *gzipFile) repeat(text string, bytes int) {
	block := strings.Repeat(text, max(1, 64<<10/len(text)))
	_ = z.part.Close()
	var part strings.Builder
	compressed := gzip.NewWriter(&part)
	_, _ = io.WriteString(compressed, block)
	_ = compressed.Close()
	for written := 0; written < bytes; written += len(block) {
		_, _ = z.file.WriteString(part.String())
	}
	z.part.Reset(z.file)
}

// writeStars writes this many stars, a multiple of 100,000 if more than that. The first 100,000 differ, and then they
// repeat.
func writeStars(z *gzipFile, stars int) {
	var unique strings.Builder
	for i := range min(stars, 100_000) {
		unique.WriteString(`"` + id36('p', i) + `",`)
	}
	if stars > 100_000 {
		z.repeat(unique.String(), (stars/100_000-1)*unique.Len())
	}
	_, _ = io.WriteString(z, strings.TrimSuffix(unique.String(), ","))
}

// TestImportMemory imports records that could take gigabytes, and checks that the process stays below 320 MiB:
// encoding/json holds the longest accepted records, of 24 MiB, several times. On an idle machine they take 170 to 225
// MiB. On a busy one the garbage collector is late.
func TestImportMemory(t *testing.T) {
	t.Parallel()
	if !*large {
		t.Skip("only with -large: it takes half a minute of a processor")
	}
	const (
		limit                 = 320 // MiB
		tooLong, longest, few = 2, 3, 200
		records, pastes       = 100, 10_000
	)
	for _, c := range []struct {
		name  string
		args  []string // before the name of the file
		write func(z *gzipFile)
		want  []summary // of the runs, in order
	}{
		{"nesting on one line", []string{"--pastes"}, func(z *gzipFile) {
			z.repeat(`{"x":[`, 40*mib)
		}, []summary{{Read: 1, Rejected: 1}}},
		{"texts of 24 MiB", []string{"--users"}, func(z *gzipFile) {
			for _, text := range []string{"x", `\n`, "\xff", `\u00ff`} {
				for _, form := range []string{`{"_id":"%s"}`, `{"%s":1}`, `{"_id":"a","username":"a","x":"%s"}`,
					`{"stars":["%s"]}`, `%s`} {
					before, after, _ := strings.Cut(form, "%s")
					_, _ = io.WriteString(z, before)
					z.repeat(text, 24*mib-256<<10)
					_, _ = io.WriteString(z, after+"\n")
				}
			}
		}, []summary{{Read: 20, New: 1, Unchanged: 2, Rejected: 17}}},
		{"space", []string{"--users"}, func(z *gzipFile) {
			z.repeat(" ", 64*mib)
			z.repeat("\n", 16*mib)
		}, []summary{{}}},
		{"millions of stars", []string{"--users"}, func(z *gzipFile) {
			for i, stars := range []int{3_000_000, 2_000_000, 100_000, 100_000, 100_000} {
				_, _ = fmt.Fprintf(z, `{"_id":"u%d","username":"u%d","stars":[`, i, i)
				writeStars(z, stars)
				_, _ = io.WriteString(z, "]}\n")
			}
			for i := range few { // few users with many stars each
				_, _ = fmt.Fprintf(z, `{"_id":"v%d","username":"v%d","stars":[`, i, i)
				writeStars(z, 2_000)
				_, _ = io.WriteString(z, "]}\n")
			}
		}, []summary{
			{Read: tooLong + longest + few, New: longest + few, Rejected: tooLong},
			{Read: tooLong + longest + few, Unchanged: longest + few, Rejected: tooLong},
		}},
		{"millions of services", []string{"--users"}, func(z *gzipFile) {
			var services []byte
			for i := range 1_000_000 {
				services = append(strconv.AppendInt(append(services, `,"`...), int64(i), 10), `":"1"`...)
			}
			for i := range 3 {
				_, _ = fmt.Fprintf(z, `{"_id":"u%d","username":"u%d","serviceIds":{"":""%s}}`+"\n", i, i, services)
			}
		}, []summary{{Read: 3, Rejected: 3}}},
		{"many records of 1 MiB", []string{"--pastes"}, func(z *gzipFile) {
			for i := range records {
				_, _ = fmt.Fprintf(z, `{"_id":"p%d","createdAt":1,"pasties":[{"code":"`, i)
				z.repeat("x", mib-128<<10)
				_, _ = io.WriteString(z, "\"}]}\n")
			}
		}, []summary{{Read: records, New: records}, {Read: records, Unchanged: records}}},
		{"pastes of all sizes", []string{"--pastes"}, func(z *gzipFile) {
			for i := range pastes {
				_, _ = fmt.Fprintf(z,
					`{"_id":"p%d","createdAt":1,"title":"ü","edits":[{"editType":4,"edit":"%s"}],"pasties":[{"code":"`, i,
					strings.Repeat(`\"`, 500))
				_, _ = io.WriteString(z, strings.Repeat(`line\n`, 1<<(i%10)))
				if i%(pastes/10) == 0 {
					z.repeat(`line\n`, 2*mib)
				}
				_, _ = io.WriteString(z, "\"}]}\n")
			}
		}, []summary{{Read: pastes, New: pastes}, {Read: pastes, Unchanged: pastes}}},
		{"millions of parts", []string{"--pastes"}, func(z *gzipFile) {
			for i, form := range [][3]string{
				{`"pasties":[`, `{},`, `{}]`}, {`"edits":[`, `{},`, `{}]`}, {`"edits":[{"metadata":[`, `"",`, `""]}]`},
				{`"tags":[`, `"",`, `""]`},
			} {
				_, _ = fmt.Fprintf(z, `{"_id":"p%d","createdAt":1,%s`, i, form[0])
				z.repeat(form[1], 20*mib)
				_, _ = io.WriteString(z, form[2]+"}\n")
			}
		}, []summary{{Read: 4, Rejected: 4}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "export.json.gz")
			if err := writeGzip(file, c.write); err != nil {
				t.Fatal(err)
			}
			settings := []string{"GLUEPOT_DATABASE_URL=" + database.SQLite(t).URL}
			for _, want := range c.want {
				args := []string{"import", "pastemyst", "--json", "--rejects-dir", t.TempDir()}
				p := program.StartShipped(t, settings, append(args, append(c.args, file)...)...)
				start := time.Now()
				peak := peakMemory(t, p)
				_, got, report := endOfImport(t, p)
				duration := time.Since(start).Round(100 * time.Millisecond)
				for _, s := range got {
					want.Kind, want.RejectsFile = s.Kind, s.RejectsFile
					if s != want {
						t.Errorf("got %+v, want %+v: %.1000s", s, want, report)
					}
				}
				t.Logf("%s: at most %d MiB of memory, %v", c.name, peak, duration)
				if peak > limit || peak == 0 || len(got) != 1 {
					t.Errorf("got %d MiB of memory, want at most %d; got %d summaries, want 1", peak, limit, len(got))
				}
			}
		})
	}
}

func writeGzip(file string, write func(z *gzipFile)) error {
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	z := &gzipFile{file: bufio.NewWriterSize(f, 64<<10)}
	if z.part, err = gzip.NewWriterLevel(z.file, gzip.NoCompression); err != nil {
		return err
	}
	write(z)
	for _, end := range []func() error{z.part.Close, z.file.Flush, f.Close} {
		if err := end(); err != nil {
			return err
		}
	}
	return nil
}

// peakMemory returns the most memory, in MiB, that a process had until it ended. Resident pages of the program's file
// do not count: the system drops them when memory is short.
func peakMemory(t *testing.T, p *program.Process) (peak int) {
	t.Helper()
	status := fmt.Sprintf("/proc/%d/status", p.Cmd.Process.Pid)
	if _, err := os.Stat(status); err != nil {
		t.Skip("only Linux reports the peak memory of a process: ", err)
	}
	for {
		text, _ := os.ReadFile(status) // it is gone when the process is
		if _, after, ok := strings.Cut(string(text), "RssAnon:"); ok {
			var kib int
			if _, err := fmt.Sscan(after, &kib); err == nil {
				peak = max(peak, kib/1024)
			}
		}
		select {
		case <-p.Exited:
			return peak
		case <-time.After(2 * time.Millisecond):
		}
	}
}
