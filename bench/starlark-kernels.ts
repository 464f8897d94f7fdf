/**
 * What both Starlark interpreters are timed with. Every kernel is a module whose `run()` gives a
 * figure that proves the work.
 */

export interface Kernel {
  readonly name: string;
  readonly source: string;
}

const ARITHMETIC = `
def collatz(n):
    steps = 0
    for _ in range(200):
        if n == 1:
            break
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1
    return steps

def run():
    total = 0
    mixed = 12345
    mean = 0.0
    for i in range(1, 300):
        total += collatz(i)
        mixed = (mixed * 1103515245 + 12345) & 0x7fffffff
        mean = mean + (mixed % 1000 - mean) / i
        if i % 3 == 0 and mixed > 1000 or i == 7:
            total -= mixed >> 20
    return [total, mixed, int(mean)]
`;

const CALLS = `
def add(a, b):
    return a + b

def scaled(x, factor=2, offset=1):
    return x * factor + offset

def counter(start):
    state = [start]
    def step(by):
        state[0] += by
        return state[0]
    return step

def spread(*args, **kwargs):
    return len(args) + len(kwargs)

def run():
    total = 0
    step = counter(5)
    square = lambda x: x * x
    for i in range(1500):
        total = add(total, scaled(i))
        total += scaled(i, offset=3) - step(1)
        total += add(square(i % 10), 1)
        if i % 10 == 0:
            total += spread(i, i, name=i)
    return total
`;

const LISTS = `
def run():
    numbers = []
    for i in range(2000):
        numbers.append((i * 7919) % 1009)
    evens = [n * 2 for n in numbers if n % 2 == 0]
    total = 0
    for i in range(len(evens)):
        total += evens[i]
        evens[i] = total % 97
    grid = [[x * y for x in range(20)] for y in range(20)]
    for row in grid:
        for cell in row:
            total += cell
    ordered = sorted(numbers)
    halves = ordered[:500] + ordered[1500:]
    for index, value in enumerate(reversed(halves)):
        if value in (3, 5, 7):
            total += index
    pairs = zip(ordered, numbers)
    return [total, len(pairs), pairs[17], max(evens), min(halves), ordered.index(500)]
`;

const DICTS = `
WORDS = ("alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu " * 20).split(" ")

def run():
    counts = {}
    for word in WORDS:
        counts[word] = counts.get(word, 0) + 1
    numbers = {}
    for i in range(1500):
        numbers[i * 31] = i
    total = 0
    for key in numbers:
        total += key
    for key, value in numbers.items():
        if key % 2 == 0:
            total -= value
    for i in range(1500):
        if i in numbers:
            total += numbers[i]
    inverted = {value: key for key, value in counts.items()}
    points = {(x, x + 1): x for x in range(100)}
    for x in range(100):
        total += points[(x, x + 1)]
    merged = dict(counts, extra=1)
    merged.update(inverted)
    for key in list(merged.keys()):
        if type(key) == "int":
            merged.pop(key)
    return [total, len(counts), len(merged), counts["kappa"]]
`;

const STRINGS = `
TEXT = "The quick brown fox jumps over the lazy dog; déjà vu, naïve café. "

def run():
    parts = []
    total = 0
    for i in range(150):
        line = "%d: %s (%r)" % (i, TEXT[i % 20:i % 20 + 12], i * 3)
        parts.append(line)
        total += len(line)
    joined = "\\n".join(parts)
    for line in joined.splitlines():
        head, _, tail = line.partition(": ")
        if tail.startswith("quick") or "jumps" in tail:
            total += int(head)
        total += len(line.replace("o", "00").upper().split(" "))
    text = ""
    for i in range(300):
        text += chr(97 + i % 26)
    for c in text.elems():
        if c in "aeiou":
            total += 1
    for word in (TEXT * 10).split(" "):
        total += len(word.strip(".,;")) + word.find("o")
    return [total, text.count("z"), "{}-{name}".format(total, name=text[:5]), joined.find("99:"), text > joined]
`;

export const KERNELS: readonly Kernel[] = [
  { name: 'arithmetic', source: ARITHMETIC },
  { name: 'calls', source: CALLS },
  { name: 'lists', source: LISTS },
  { name: 'dicts', source: DICTS },
  { name: 'strings', source: STRINGS },
];
