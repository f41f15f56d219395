package program

import (
	"time"

	"github.com/gluepot/gluepot/application/pastes"
	"github.com/gluepot/gluepot/domain/paste"
)

// demoPaste is a paste that each account has. It expires after its life, or has expired before that; 0 is never.
type demoPaste struct {
	life    time.Duration
	content paste.Content
	edit    *pastes.EditInput // made once
}

// Pasties that the demonstration names.
const (
	demoMain  = "demomain"
	demoCount = "demo0002"
)

var demoPastes = []demoPaste{
	{0, paste.Content{
		Title: "A server in ten lines", Visibility: paste.Public, Tags: []string{"go", "http"}, Lifetime: paste.Never,
		Pasties: []paste.Pasty{
			{ID: demoMain, Title: "main.go", Language: "Go", Code: demoGo}, {ID: "demo0001", Title: "go.mod", Language: "Go", Code: demoGoMod},
		},
	}, nil},
	{0, paste.Content{
		Title: "Words that occur most often", Lifetime: paste.Never,
		Pasties: []paste.Pasty{
			{ID: demoCount, Title: "count.py", Language: "Python", Code: demoPython},
			{ID: "demo0003", Title: "count.sh", Language: "Shell", Code: demoShell},
		},
	}, &pastes.EditInput{
		Title:   new("The ten words that occur most often"),
		Pasties: []paste.PastyChanges{{ID: demoCount, Code: new(demoPythonEdited)}},
	}},
	{time.Hour, paste.Content{
		Title: "Who has the most pastes?", Lifetime: "1h",
		Pasties: []paste.Pasty{{ID: "demo0004", Title: "owners.sql", Language: "SQL", Code: demoSQL}},
	}, nil},
	{24 * time.Hour, paste.Content{
		Title: "Not for others", Visibility: paste.Private, Tags: []string{"notes"}, Lifetime: "1d",
		Pasties: []paste.Pasty{{ID: "demo0005", Title: "todo.md", Language: "Markdown", Code: demoMarkdown}},
	}, nil},
	{-time.Hour, paste.Content{
		Title: "Too late", Lifetime: "1h",
		Pasties: []paste.Pasty{{ID: "demo0006", Title: "late.js", Language: "JavaScript", Code: "console.log('nobody sees this')\n"}},
	}, nil},
}

const (
	demoGo = `package main

import (
	"fmt"
	"net/http"
)

func main() {
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) { fmt.Fprintln(w, "Hello from", r.URL.Path) })
	fmt.Println(http.ListenAndServe("127.0.0.1:8081", nil))
}
`
	demoGoMod = `module example.com/hello

go 1.26
`
	demoPython = `import collections
import sys

words = sys.stdin.read().split()
for word, count in collections.Counter(words).most_common():
    print(count, word)
`
	demoPythonEdited = `import collections
import sys

words = sys.stdin.read().lower().split()
for word, count in collections.Counter(words).most_common(10):
    print(count, word)
`
	demoShell = `#!/bin/sh
tr -s '[:space:]' '\n' | sort | uniq -c | sort -rn
`
	demoSQL = `SELECT owner_id, count(*) AS pastes
FROM pastes
GROUP BY owner_id
ORDER BY pastes DESC
LIMIT 10;
`
	demoMarkdown = `# To do

- [x] write it down
- [ ] do it
`
)
