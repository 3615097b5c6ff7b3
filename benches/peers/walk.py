"""The same kind of work in Python: trees, json, ast, sorting. walk.py SECONDS"""
import ast
import json
import random
import sys
import time

draw = random.Random(1)


def build(depth):
    return [build(depth - 1) for _ in range(draw.randrange(1, 4))] if depth else draw.random()


def total(tree):
    return sum(map(total, tree)) if isinstance(tree, list) else tree


def text(depth):
    return f"({text(depth - 1)} {draw.choice('+-*')} {text(depth - 1)})" if depth else str(draw.randrange(99))


def words(tree):
    return sorted((w for t in tree for w in words(t)), key=lambda w: w[::-1]) if isinstance(tree, list) else [str(tree)]


end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    tree = build(8)
    total(json.loads(json.dumps(tree)))
    words(tree)
    compile(ast.parse(text(7)), "text", "exec")
