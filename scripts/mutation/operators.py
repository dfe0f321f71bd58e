"""Mutants of C++ text, made by operators: where each stands, and what replaces what.

There is no C++ parser here. A lexer finds tokens, and the layout of clang-format tells a comparison (blanks on both
sides) from the brackets of a template. What does not compile, the caller finds out by compiling it.
"""
import hashlib
import re

TOKEN = re.compile(r"""
    (?P<skip>\s+|//[^\n]*|/\*.*?\*/|(?<![^\n])[ \t]*\#(?:[^\n\\]|\\.)*)
  | (?P<text>(?:u8|[uUL])?R"(?P<end>[^(\s]*)\(.*?\)(?P=end)"|(?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"|(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
  | (?P<number>(?:0[xX][0-9a-fA-F']+|0[bB][01']+|\d[\d']*(?:\.\d*)?(?:[eE][+-]?\d+)?)[uUlLfF]*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<sign><<=|>>=|\.\.\.|->|::|&&|\|\||[=!<>]=|\+\+|--|[-+*/%&|^]=|<<|>>|.)
""", re.VERBOSE | re.DOTALL)
COMPARISONS = {"<": ("<=", ">="), "<=": ("<", ">"), ">": (">=", "<="), ">=": (">", "<"), "==": ("!=",), "!=": ("==",)}
ASSIGNMENTS = {"=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
CLOSING = {"(": ")", "[": "]", "{": "}"}
# Words that begin what is no statement of an expression, or look like a call.
KEYWORDS = set("""alignas alignof auto bool case catch char class const constexpr decltype default delete do double else enum
    explicit extern float for friend if inline int long mutable namespace new noexcept operator private protected public
    return short signed sizeof static static_assert struct switch template throw try typedef typename union unsigned using
    virtual void while""".split())
# What is asserted holds in every run, so that a weaker assertion is no fault.
ASSERTIONS = {"FLITWISE_CHECK", "static_assert"}


class Token:
    def __init__(self, match):
        self.kind = match.lastgroup if match.lastgroup != "end" else "text"
        self.text = match.group()
        self.start, self.end = match.span()
        self.partner = None  # index of the bracket that belongs to this one


class Mutant:
    """One change of one file. `form` makes of a condition the text that acts where the condition is true, in the place of
    `whole`: start and end of the expression or statement around the change."""

    def __init__(self, path, operator, source, start, end, after, whole, form):
        self.path, self.operator = path, operator
        self.start, self.end, self.after = start, end, after
        self.whole, self._form = whole, form
        self.line = source.count("\n", 0, start) + 1
        first = source.rfind("\n", 0, start) + 1
        last = source.find("\n", end)
        last = len(source) if last < 0 else last
        self.old_text = " ".join(source[first:last].split())
        self.new_text = " ".join((source[first:start] + after + source[end:last]).split())
        self.id = ""

    def name_by_text(self, nth):
        """The name does not hang on the line number, so that it stays when the file changes elsewhere."""
        words = "\t".join([self.path, self.operator, self.old_text, self.new_text, str(nth)])
        self.id = hashlib.sha256(words.encode()).hexdigest()[:16]

    def apply(self, source):
        return source[:self.start] + self.after + source[self.end:]

    def guarded(self, number):
        return self._form(f"::mutation::is_on({number})")

    def overlaps(self, other):
        return self.path == other.path and self.whole[0] < other.whole[1] and other.whole[0] < self.whole[1]


def guard_all(source, numbered):
    """The source with all these mutants of it, pairs of number and mutant that do not overlap; and the lines of each."""
    text, at, lines = "", 0, {}
    for number, mutant in sorted(numbered, key=lambda pair: pair[1].whole):
        text += source[at:mutant.whole[0]]
        first = text.count("\n") + 1
        text += mutant.guarded(number)
        at = mutant.whole[1]
        lines[number] = range(first, text.count("\n") + 2)
    return text + source[at:], lines


def tokens_of(source):
    tokens = [Token(match) for match in TOKEN.finditer(source) if match.group("skip") is None]
    opened = []
    for index, token in enumerate(tokens):
        if token.kind != "sign":
            continue
        if token.text in CLOSING:
            opened.append(index)
        elif opened and token.text == CLOSING[tokens[opened[-1]].text]:
            token.partner = opened.pop()
            tokens[token.partner].partner = index
    return tokens


class File:
    """The mutants of one file."""

    def __init__(self, path, source):
        self.path, self.source = path, source
        self.tokens = tokens_of(source)
        self.found = []
        self.asserted = {i for index, token in enumerate(self.tokens) if token.text in ASSERTIONS
                         for i in range(index, self._after(index + 1))}

    def mutants(self):
        for index, token in enumerate(self.tokens):
            if index not in self.asserted:
                self._at(index, token)
        seen = {}
        for mutant in self.found:
            key = (mutant.operator, mutant.old_text, mutant.new_text)
            mutant.name_by_text(seen.setdefault(key, 0))
            seen[key] += 1
        return self.found

    def _at(self, index, token):
        if token.kind == "number":
            self._constant(token)
        elif token.kind == "sign" and self._stands_apart(token):
            for after in COMPARISONS.get(token.text, ()):
                self._operator("comparison", index, after)
            if token.text in ("&&", "||"):
                self._operator("logic", index, "||" if token.text == "&&" else "&&")
        if token.text == "?":
            self._negate(self._start_of_condition(index), index)
        elif token.text in ("if", "while", "for"):
            self._condition_of(index)
        elif token.text == "(" and index > 0 and self._is_called(self.tokens[index - 1]):
            self._swap(index)
        if self._begins_statement(index):
            self._drop(index)

    def _add(self, operator, start, end, after, form, whole=None):
        self.found.append(Mutant(self.path, operator, self.source, start, end, after, whole or (start, end), form))

    # Another operator, in the largest expression that it stands in.
    def _operator(self, operator, index, after):
        token = self.tokens[index]
        first, behind = self._start_of_condition(index), self._end_of_condition(index)
        start, end = self.tokens[first].start, self.tokens[behind - 1].end
        old = self.source[start:end]
        new = self.source[start:token.start] + after + self.source[token.end:end]
        self._add(operator, token.start, token.end, after, lambda on: f"({on} ? ({new}) : ({old}))", (start, end))

    def _text(self, index):
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def _after(self, index):
        """The token behind the one at index, or behind all that it brackets."""
        partner = self.tokens[index].partner if index < len(self.tokens) else None
        return (partner if partner is not None and partner > index else index) + 1

    def _stands_apart(self, token):
        return self.source[token.start - 1:token.start].isspace() and self.source[token.end:token.end + 1].isspace()

    # A constant, one more and one less; 0 has no less.
    def _constant(self, token):
        digits = re.match(r"0[xX][0-9a-fA-F']+|0[bB][01']+|[\d']+", token.text).group()
        base = {"0x": 16, "0b": 2}.get(digits[:2].lower(), 10)
        value = int(digits.replace("'", ""), 0 if base != 10 else 10)
        for other in (value + 1, value - 1):
            if other >= 0:
                shown = {16: f"0x{other:x}", 2: f"0b{other:b}", 10: str(other)}[base]
                new = shown + token.text[len(digits):]
                self._add("constant", token.start, token.end, new, lambda on, new=new: f"({on} ? {new} : {token.text})")

    # if (a) and while (a), with or without an initial statement; the second of the three parts of a for.
    def _condition_of(self, index):
        opening = index + 1
        closing = self.tokens[opening].partner if self._text(opening) == "(" else None
        if closing is None:
            return
        ends = [i for i in self._inside(opening) if self._text(i) == ";"]
        if self._text(index) == "for":
            if len(ends) == 2:
                self._negate(ends[0] + 1, ends[1])
        else:
            self._negate(ends[0] + 1 if ends else opening + 1, closing)

    # All tokens between the brackets, but for those in brackets of their own, which count with their opening one.
    def _inside(self, opening):
        index, closing = opening + 1, self.tokens[opening].partner
        while index < closing:
            yield index
            index = self._after(index)

    def _start_of_condition(self, index):
        index -= 1
        while index >= 0:
            token = self.tokens[index]
            if token.text in (")", "]", "}") and token.partner is not None:
                index = token.partner
            elif token.text in ASSIGNMENTS or token.text in ("return", "case", "throw", ",", ";", "?", ":", "(", "[", "{", "}"):
                break
            index -= 1
        return index + 1

    def _end_of_condition(self, index):
        while self._text(index) not in ASSIGNMENTS | {"", ",", ";", "?", ":", ")", "]", "}"}:
            index = self._after(index)
        return index

    def _negate(self, first, behind):
        if first < behind:
            start, end = self.tokens[first].start, self.tokens[behind - 1].end
            old = self.source[start:end]
            self._add("negation", start, end, f"!({old})", lambda on: f"({on} != static_cast<bool>({old}))")

    def _is_called(self, token):
        return token.kind == "name" and token.text not in KEYWORDS

    # Neighbours among the arguments of a call. Only where their types fit does it compile.
    def _swap(self, opening):
        if self.tokens[opening].partner is None:
            return
        arguments, first = [], opening + 1
        for index in list(self._inside(opening)) + [self.tokens[opening].partner]:
            if self._text(index) == "," or index == self.tokens[opening].partner:
                if first < index:
                    arguments.append((first, index))
                first = index + 1
        for left, right in zip(arguments, arguments[1:]):
            spans = [(self.tokens[a].start, self.tokens[b - 1].end) for a, b in (left, right)]
            one, two = (self.source[start:end] for start, end in spans)
            literals = [self.tokens[argument[0]].kind == "text" for argument in (left, right)]
            if one != two and literals[0] == literals[1] and not self._declares(*left) and not self._declares(*right):
                between = self.source[spans[0][1]:spans[1][0]]
                self._add("swap", spans[0][0], spans[1][1], two + between + one, lambda on, one=one, two=two, between=between:
                          f"({on} ? ({two}) : ({one})){between}({on} ? ({one}) : ({two}))")

    # `Tlp tlp`, `const Tlp& tlp`, `std::vector<int> list`: a parameter, no argument.
    def _declares(self, first, behind):
        for index in range(first + 1, behind):
            before, token = self.tokens[index - 1], self.tokens[index]
            glued = before.start > 0 and not self.source[before.start - 1].isspace()
            if token.kind == "name" and (before.kind == "name" or (before.text in ("&", "*", "&&", ">") and glued
                                                                  and before.end < token.start)):
                return True
        return self._text(behind - 1) in ("&", "&&", "*", ">") or self._text(first) in KEYWORDS - {"new", "sizeof"}

    def _begins_statement(self, index):
        before = self._text(index - 1)
        if before == ")":  # if (...), for (...), while (...)
            opening = self.tokens[index - 1].partner
            return opening is not None and self._text(opening - 1) in ("if", "for", "while", "constexpr")
        return before in (";", "{", "}", "else", "do", ":")

    # Calls, assignments and jumps; a declaration or a value that is returned cannot go.
    def _drop(self, index):
        end = self._end_of_expression(index)
        if end is not None:
            start, semicolon = self.tokens[index].start, self.tokens[end]
            text = self.source[start:semicolon.start]
            self._add("drop", start, semicolon.start, "\n" * text.count("\n"),
                      lambda on: f"{{ if (!{on}) {{ {text}; }} }}", (start, semicolon.end))

    def _end_of_expression(self, index):
        if self._text(index) in ("break", "continue", "return"):
            return index + 1 if self._text(index + 1) == ";" else None
        changes = False
        while self._text(index) in ("++", "--", "*", "("):
            changes = changes or self._text(index) in ("++", "--")
            index = self._after(index)
        expects_name = True
        while index < len(self.tokens) and not self._text(index) == ";":
            token = self.tokens[index]
            if token.text in ASSIGNMENTS or token.text in ("++", "--", "<<"):
                return self._semicolon(index)
            if token.kind == "name" and token.text not in KEYWORDS and expects_name:
                expects_name = False
            elif token.text in ("::", ".", "->"):
                expects_name = True
            elif token.text in ("(", "[") and token.partner is not None:
                changes = changes or token.text == "("
            else:
                return None
            index = self._after(index)
        return self._semicolon(index) if changes else None

    def _semicolon(self, index):
        while index < len(self.tokens) and self._text(index) not in (";", "}", ")"):
            index = self._after(index)
        return index if self._text(index) == ";" else None


def sample_order(mutants, seed):
    """Every operator in turn; within one, the order hangs on the seed and on each mutant alone."""
    groups = {}
    for mutant in mutants:
        rank = hashlib.sha256(f"{seed} {mutant.id}".encode()).hexdigest()
        groups.setdefault(mutant.operator, []).append((rank, mutant))
    ordered = []
    for operator in groups:
        for place, (rank, mutant) in enumerate(sorted(groups[operator], key=lambda pair: pair[0])):
            ordered.append((place, rank, mutant))
    return [mutant for _, _, mutant in sorted(ordered, key=lambda entry: entry[:2])]
