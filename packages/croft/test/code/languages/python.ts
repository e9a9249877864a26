import type { GoldenLanguage } from '../golden.ts';

export const python: GoldenLanguage = {
  path: 'shop.py',
  source: `#!/usr/bin/env python3
import os

LIMIT = 3

SETTINGS = {
    'a': 1,
}


@cached
@traced(level=2)
async def load(path: str) -> bytes:  # reads
    """Load a file.

    All of it.
    """
    # first
    data = open(path)
    return data


class Shop(Base):
    """A shop."""

    name: str = 'x'

    def __init__(self, name):
        self.name = name

    @property
    def size(self): return 1

    def outer(self):
        def inner():
            return 1

        return inner


def tabbed():
    pass
`,
  outline: [
    ...['constant LIMIT', 'constant SETTINGS', 'function load', 'class Shop', 'field Shop.name'],
    ...['constructor Shop.__init__', 'method Shop.size', 'method Shop.outer', 'function Shop.outer.inner'],
    'function tabbed',
  ],
  edits: [
    {
      ...{ edit: 'body', symbol: 'load', text: 'text = """\n x\n"""\nif text:\n  return 1' },
      from: '    # first\n    data = open(path)\n    return data\n',
      to: '    text = """\n x\n"""\n    if text:\n      return 1\n',
    },
    {
      ...{ edit: 'body', symbol: 'load', text: '"""Other.\n\nMore.\n"""\nreturn 1' },
      from: '"""Load a file.\n\n    All of it.\n    """\n    # first\n    data = open(path)\n    return data\n',
      to: '"""Other.\n\n    More.\n    """\n    return 1\n',
    },
    { ...{ edit: 'body', symbol: 'Shop.size', text: 'return 2' }, from: 'self): return 1', to: 'self): return 2' },
    {
      ...{ edit: 'body', symbol: 'Shop.size', text: 'a = 2\nreturn a' },
      from: 'self): return 1',
      to: 'self):\n        a = 2\n        return a',
    },
    {
      ...{ edit: 'body', symbol: 'Shop.__init__', text: '' },
      from: '        self.name = name\n',
      to: '        pass\n',
    },
    {
      ...{ edit: 'body', symbol: 'inner', text: 'for x in y:\n    yield x' },
      from: '            return 1\n',
      to: '            for x in y:\n                yield x\n',
    },
    {
      ...{ edit: 'signature', symbol: 'load', text: 'async def load(path: str, size: int) -> bytes' },
      from: 'async def load(path: str) -> bytes:',
      to: 'async def load(path: str, size: int) -> bytes:',
    },
    {
      ...{ edit: 'signature', symbol: 'Shop.size', text: 'def size(self) -> int:' },
      from: 'def size(self):',
      to: 'def size(self) -> int:',
    },
    {
      ...{ edit: 'after', symbol: 'SETTINGS', text: 'MORE = 1' },
      from: "    'a': 1,\n}\n",
      to: "    'a': 1,\n}\n\n\nMORE = 1\n",
    },
    {
      ...{ edit: 'after', symbol: 'Shop.__init__', text: 'def close(self):\n  pass' },
      from: '        self.name = name\n',
      to: '        self.name = name\n\n    def close(self):\n      pass\n',
    },
    {
      ...{ edit: 'before', symbol: 'load', text: 'def first():\n    pass' },
      from: '@cached\n',
      to: 'def first():\n    pass\n\n\n@cached\n',
    },
    {
      ...{ edit: 'replace', symbol: 'Shop.size', text: '@cached_property\ndef size(self):\n    return 3' },
      from: '@property\n    def size(self): return 1',
      to: '@cached_property\n    def size(self):\n        return 3',
    },
    { ...{ edit: 'delete', symbol: 'Shop.size' }, from: '\n    @property\n    def size(self): return 1\n', to: '' },
    { ...{ edit: 'delete', symbol: 'tabbed' }, from: '\n\ndef tabbed():\n    pass\n', to: '' },
  ],
};
