package site

// For tests in another package.
const MaxNext = maxNext

var CommonLanguages = commonLanguages
