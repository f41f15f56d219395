package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// licences are those that a program under MIT may link in, each with a phrase that is only in its text. The Mozilla
// licence asks only for the source of its own files, which are unchanged here.
var licences = []struct{ name, text string }{
	{"Apache-2.0", "Apache License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License Version 2.0"},
	{"MPL-2.0", "Mozilla Public License, version 2.0"},
	{"BSD", "Redistribution and use in source and binary forms"},
	{"MIT", "Permission is hereby granted, free of charge, to any person obtaining a copy"},
	{"ISC", "Permission to use, copy, modify, and distribute this software for any purpose " +
		"with or without fee is hereby granted"},
	{"ISC", "Permission to use, copy, modify, and/or distribute this software for any purpose " +
		"with or without fee is hereby granted"},
	{"Unlicense", "This is free and unencumbered software released into the public domain"},
	{"public domain", "SQLite Is Public Domain"},
}

// notCode are licences of documentation and pictures, which are not linked in.
var notCode = []string{"LICENSE.docs", "LICENSE-LOGO"}

// TestLicences reads and lists the licences of all modules that are linked into the program or its tests, for each
// system of a release.
func TestLicences(t *testing.T) {
	t.Parallel()
	var modules []string
	for _, system := range []string{"linux", "darwin", "windows"} {
		list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-test", "-f",
			"{{with .Module}}{{if not .Main}}{{.Path}}\t{{.Dir}}{{end}}{{end}}", "./...")
		list.Dir, list.Env = "../..", append(os.Environ(), "GOOS="+system)
		out, err := list.Output()
		if err != nil {
			t.Fatalf("%s: %v", system, err)
		}
		modules = append(modules, strings.Split(strings.TrimSpace(string(out)), "\n")...)
	}
	slices.Sort(modules)
	modules = slices.DeleteFunc(slices.Compact(modules), func(line string) bool { return line == "" })
	if len(modules) < 20 {
		t.Fatalf("got %d modules, want at least 20", len(modules))
	}
	for _, module := range modules {
		name, dir, _ := strings.Cut(module, "\t")
		licences := licencesIn(t, dir)
		t.Logf("%-60s %s", name, strings.Join(licences, ", "))
		if len(licences) == 0 || slices.Contains(licences, "") {
			t.Errorf("%s: got a missing or unknown licence in %s, want those that go with MIT", name, dir)
		}
	}
}

// licencesIn returns the names of the licences in a module's folder, or "" for a text that matches none of licences.
func licencesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, entry := range entries {
		upper := strings.ToUpper(entry.Name())
		if entry.IsDir() || strings.HasSuffix(upper, ".GO") || slices.Contains(notCode, entry.Name()) ||
			!strings.HasPrefix(upper, "LICENSE") && !strings.HasPrefix(upper, "LICENCE") &&
				!strings.HasPrefix(upper, "COPYING") {
			continue
		}
		content, err := os.ReadFile(filepath.Join(dir, entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		text, name := strings.ToLower(strings.Join(strings.Fields(string(content)), " ")), ""
		for _, licence := range licences {
			if strings.Contains(text, strings.ToLower(licence.text)) {
				name = licence.name
				break
			}
		}
		names = append(names, name)
	}
	return names
}
