import type { GoldenLanguage } from '../golden.ts';

export const bash: GoldenLanguage = {
  path: 'shop.sh',
  source: `#!/bin/bash
# About.

LIMIT=3
readonly NAME='x'

# Adds.
add() {
  local a=$1
  echo "$a"
}

function sub {
  echo 1
}

one() { echo 1; }

add 1
`,
  outline: ['variable LIMIT', 'constant NAME', 'function add', 'function sub', 'function one'],
  edits: [
    {
      edit: 'body',
      symbol: 'add',
      text: 'if true; then\n  echo 2\nfi',
      from: '  local a=$1\n  echo "$a"\n',
      to: '  if true; then\n    echo 2\n  fi\n',
    },
    { edit: 'body', symbol: 'one', text: 'echo 2', from: '{ echo 1; }', to: '{\n  echo 2\n}' },
    { edit: 'body', symbol: 'sub', text: '', from: '  echo 1\n}\n\none', to: '  :\n}\n\none' },
    { edit: 'signature', symbol: 'sub', text: 'sub()', from: 'function sub {', to: 'sub() {' },
    {
      edit: 'after',
      symbol: 'add',
      text: 'more() {\n  echo\n}',
      from: '  echo "$a"\n}\n',
      to: '  echo "$a"\n}\n\nmore() {\n  echo\n}\n',
    },
    { edit: 'before', symbol: 'add', text: 'first() { :; }', from: '# Adds.\n', to: 'first() { :; }\n\n# Adds.\n' },
    { edit: 'replace', symbol: 'one', text: 'one() { echo 3; }', from: 'one() { echo 1; }', to: 'one() { echo 3; }' },
    { edit: 'delete', symbol: 'sub', from: '\nfunction sub {\n  echo 1\n}\n', to: '' },
  ],
};
