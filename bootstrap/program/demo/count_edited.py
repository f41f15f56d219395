import collections
import sys

words = sys.stdin.read().lower().split()
for word, count in collections.Counter(words).most_common(10):
    print(count, word)
