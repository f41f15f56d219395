#!/bin/sh
tr -s '[:space:]' '\n' | sort | uniq -c | sort -rn
