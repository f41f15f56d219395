import collections
import sys

words = sys.stdin.read().split()
for word, count in collections.Counter(words).most_common():
    print(count, word)
