package site

// What tests of another package know of this one.
const MaxNext = maxNext

var CommonLanguages = commonLanguages
