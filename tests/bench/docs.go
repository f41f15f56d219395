package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/gluepot/gluepot/tests/markdown"
)

// writeDocs puts the table into BENCHMARKS.md and draws its chart.
func (b *bench) writeDocs(folder string) error {
	var rows [][]string
	for _, r := range b.rows {
		rows = append(rows, r.cells())
	}
	introduction := fmt.Sprintf(
		"%s; %d pastes; medians of %d interleaved rounds of %d s each.\n\n![Ratios](benchmarks.svg)",
		b.machine(), b.pastes, b.rounds, b.seconds)
	if err := markdown.ReplaceTable(filepath.Join(folder, "BENCHMARKS.md"), "make bench", introduction,
		titles, rows); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "benchmarks.svg"), []byte(b.chart()), 0o600)
}

// machine describes the machine, and the date of the measurement.
func (b *bench) machine() string {
	cpu := "unknown processor"
	if info, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(info), "model name\t: "); ok {
			cpu, _, _ = strings.Cut(rest, "\n")
		}
	}
	version, err := run(context.Background(), b.gluepot, "version")
	if err != nil {
		version = "gluepot"
	}
	return fmt.Sprintf("%s; %d cores of %s, load generator and database included; shared_buffers of %s; %s",
		time.Now().UTC().Format("2006-01-02"), runtime.NumCPU(), cpu, b.cache, strings.TrimSpace(version))
}

// chart draws the ratios that compare two programs: a bar to the ratio, a mark at the floor.
func (b *bench) chart() string {
	const left, width, step, scale = 470, 900, 26, 150
	var bars strings.Builder
	y := 30
	for _, r := range b.rows {
		if r.atMost || r.Floor > 10 { // not a ratio of two programs
			continue
		}
		colour := "#2a9d8f"
		if !r.Met {
			colour = "#e76f51"
		}
		length := min(r.Ratio, 2.5) * scale
		fmt.Fprintf(&bars, `<text x="%d" y="%d" text-anchor="end">%s</text>`, left-10, y+14,
			strings.ReplaceAll(r.Name, "&", "&amp;"))
		fmt.Fprintf(&bars,
			`<rect x="%d" y="%d" width="%.0f" height="18" fill="%s"/><text x="%d" y="%d" text-anchor="end">%.2f</text>`,
			left, y, length, colour, width-5, y+14, r.Ratio)
		fmt.Fprintf(&bars, `<line x1="%.0f" x2="%.0f" y1="%d" y2="%d" stroke="#264653" stroke-width="2"/>`+"\n",
			left+r.Floor*scale,
			left+r.Floor*scale, y-2, y+20)
		y += step
	}
	return fmt.Sprintf(
		`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" font-family="sans-serif" font-size="13"><rect `+
			`width="100%%" height="100%%" fill="white"/>`+
			`<text x="%d" y="18" font-weight="bold">Gluepot over the other; the line is the floor</text>%s</svg>`+"\n", width,
		y+10, left, bars.String())
}
