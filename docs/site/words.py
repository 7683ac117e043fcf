#!/usr/bin/env python3
"""Words of the book by page: by hand and generated, and how long sentences are by hand.

--gate ends with status 1 if there are more words by hand than MOST, or if the median sentence is longer than SENTENCE.
"""

import pathlib
import re
import statistics
import sys

# Take words away before you add some; when there are fewer, lower it.
MOST = 40000
SENTENCE = 20
DOCS = pathlib.Path(__file__).resolve().parent.parent
# Pages that a program writes whole.
GENERATED = {"registers.md"}
# What a test compares or renews stands between `<!-- name -->` and `<!-- end of name -->`.
BETWEEN = re.compile(r"^<!-- (?!end of|file|run)(.*?) -->\n(.*?)^<!-- end of \1 -->", re.S | re.M)
BLOCK = re.compile(r"^```.*?^```", re.S | re.M)


def words(text):
    """Words as a reader counts them: with a letter or a digit in them."""
    return sum(1 for word in text.split() if any(c.isalnum() for c in word))


def sentences(text):
    """Lengths of the sentences of prose: no tables, no headings."""
    lines = [line for line in text.split("\n") if not line.startswith(("|", "#", "<!--"))]
    prose = re.sub(r"\n(?=\s*([*-]|\d+\.) )", "\n\n", "\n".join(lines))
    for paragraph in re.split(r"\n\s*\n", prose):
        for sentence in re.split(r"(?<=[.!?:])\*{0,2}\s+(?=[^a-z])", paragraph):
            if words(sentence) > 2:
                yield words(sentence)


def page(path):
    """Words by hand, those of them in tables, the others, and lengths of sentences."""
    text = path.read_text()
    if path.name in GENERATED:
        return 0, 0, words(text), []
    by_hand = BLOCK.sub("", BETWEEN.sub("", text))
    in_tables = words("\n".join(line for line in by_hand.split("\n") if line.startswith("|")))
    return words(by_hand), in_tables, words(text) - words(by_hand), list(sentences(by_hand))


def main():
    rows, lengths = [], []
    for path in sorted(DOCS.glob("*.md")):
        hand, tables, made, of_page = page(path)
        rows.append((path.name, hand, tables, made, statistics.median(of_page or [0])))
        lengths += of_page
    total = sum(row[1] for row in rows)
    if "--gate" in sys.argv:
        median = statistics.median(lengths)
        if total > MOST or median > SENTENCE:
            sys.exit(f"the book has {total} words by hand, at most {MOST}; its median sentence has {median:g}, at most {SENTENCE}: docs/site/words.py")
        return
    book = ("the book", total, sum(row[2] for row in rows), sum(row[3] for row in rows), statistics.median(lengths))
    for name, hand, tables, made, median in [*sorted(rows, key=lambda row: -row[1]), book]:
        print(f"{hand:6} by hand, {tables:5} of them in tables; {made:5} generated or code; sentence {median:3.0f} words  {name}")


main()
