import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { expectCheap } from '../../../test/support/expect-cheap.ts';
import { findImpossibleCommand } from './find-impossible-command.ts';

describe('refused', () => {
  test.each([
    ['sudo x', 'sudo'],
    ['  sudo', 'sudo'],
    ['su -c x', 'su'],
    ['mkfs.ext4 /dev/sda', 'mkfs.ext4'],
    ['mkfs -t ext4', 'mkfs'],
    ['cd x && sudo y', 'sudo'],
    ['a || mount b', 'mount'],
    ['a;umount b', 'umount'],
    ['a & reboot', 'reboot'],
    ['a | sudo tee b', 'sudo'],
    ['a |& sudo tee b', 'sudo'],
    ['a\nsudo b', 'sudo'],
    ['a # comment\nsudo b', 'sudo'],
    ['(sudo x)', 'sudo'],
    ['( cd x; sudo y )', 'sudo'],
    ['{ sudo x; }', 'sudo'],
    ['echo $(sudo x)', 'sudo'],
    ['echo "now: $(sudo x)"', 'sudo'],
    [`echo "\${x:-$(sudo y)}"`, 'sudo'],
    ['echo `sudo x`', 'sudo'],
    ['echo "`sudo x`"', 'sudo'],
    ['echo $((1 + $(sudo x)))', 'sudo'],
    ['diff <(sudo a) b', 'sudo'],
    ['a=(1 $(sudo b))', 'sudo'],
    ['X=1 Y="a b" sudo x', 'sudo'],
    ['a[1]=2 sudo x', 'sudo'],
    ['env sudo x', 'sudo'],
    ['env -i A=1 sudo x', 'sudo'],
    ['exec sudo x', 'sudo'],
    ['command sudo x', 'sudo'],
    ['command -p sudo x', 'sudo'],
    ['time -p nohup sudo x', 'sudo'],
    ['! sudo x', 'sudo'],
    ['if sudo x; then y; fi', 'sudo'],
    ['if a; then sudo x; fi', 'sudo'],
    ['if a; then b; else sudo x; fi', 'sudo'],
    ['while :; do sudo x; done', 'sudo'],
    ['for f in a b; do mount $f; done', 'mount'],
    ['for ((i=0; i<3; i++)); do mount $i; done', 'mount'],
    ['case $x in a) sudo y;; esac', 'sudo'],
    ['case $x in a) b;; *) sudo y;; esac', 'sudo'],
    ['case $x in a) b;; esac; sudo y', 'sudo'],
    ['[[ -f x ]] && sudo y', 'sudo'],
    ['f() { sudo x; }', 'sudo'],
    ['>out sudo x', 'sudo'],
    ['2>&1 sudo x', 'sudo'],
    ['&>out sudo x', 'sudo'],
    ['a >b 2>&1 && sudo x', 'sudo'],
    ['a >&2; sudo x', 'sudo'],
    ['cat <<EOF\ntext\nEOF\nsudo x', 'sudo'],
    ['cat <<EOF && sudo x\ntext\nEOF', 'sudo'],
    ['cat <<-EOF\n\ttext\n\tEOF\nsudo x', 'sudo'],
    ['cat <<< sudo; sudo x', 'sudo'],
    ['/usr/bin/sudo x', 'sudo'],
    ['/sbin/mount', 'mount'],
    ['s\\udo x', 'sudo'],
    ['"sudo" x', 'sudo'],
    ["su'do' x", 'sudo'],
    ['su\\\ndo x', 'sudo'],
    ['echo a \\\n b; sudo c', 'sudo'],
    ['command -v sudo && sudo x', 'sudo'],
    ['doas x', 'doas'],
    ['pkexec x', 'pkexec'],
    ['nsenter -t 1', 'nsenter'],
    ['unshare -r', 'unshare'],
    ['chroot /', 'chroot'],
    ['shutdown now', 'shutdown'],
    ['poweroff', 'poweroff'],
    ['halt', 'halt'],
  ])('%j', (command, token) => {
    expect(findImpossibleCommand(command)).toBe(token);
  });
});

describe('allowed', () => {
  test.each([
    '',
    'ls',
    'grep sudo f',
    'man mount',
    'which sudo',
    'command -v sudo',
    'command -V mount',
    "git commit -m 'add mount point'",
    'git commit -m "sudo; mount && reboot | halt"',
    "git commit -m \"$(cat <<'EOF'\nsudo mount\n\nit's (done)\nEOF\n)\" && ls",
    'echo "sudo"',
    'echo sudo; echo mount',
    'echo a\\;sudo',
    "echo 'a; sudo b'",
    "echo $'a\\'; sudo b'",
    'echo "a\\"; sudo b"',
    '# sudo x',
    'ls # then; sudo x',
    'echo a#b',
    'cat <<EOF\nsudo x\nEOF',
    "cat <<'EOF' > f\nsudo x; $(mount)\nEOF\nls",
    'cat <<"EOF" | wc\nsudo x\nEOF',
    'cat <<\\EOF\nsudo\nEOF',
    'cat <<A <<B\nsudo\nA\nmount\nB\nls',
    'cat <<-EOF\n\tsudo\n\tEOF\nls',
    'cat <<EOF\nsudo x',
    'cat <<< "sudo"',
    'cat < sudo > mount 2> reboot',
    'ls >sudo',
    'ls &> mount',
    './mount x',
    'bin/reboot',
    'scripts/sudo.sh',
    'sudoedit x',
    'mountpoint /',
    'sum x',
    'mkfs.',
    'x=sudo',
    'x=sudo y',
    'x=(sudo mount)',
    'x+=(sudo)',
    'declare -A m=([mount]=1)',
    'for x in mount umount; do echo $x; done',
    'case $1 in mount) a;; umount|reboot) b;; esac',
    'case $1 in\n  mount)\n    a\n    ;;\n  (umount)\n    b\n    ;;\nesac',
    'case $1 in start) case $2 in mount) a;; esac;; reboot) b;; esac',
    '[[ $x == sudo || $y == mount ]]',
    '[[ $x =~ ^(mount|umount)$ ]] && ls',
    '[ "$x" = sudo ]',
    'mount() { :; }',
    'mount () { :; }',
    'function mount { :; }',
    'echo $((mount + 1))',
    '((reboot = 1))',
    '((mount))',
    `echo \${sudo:-mount}`,
    `echo "\${x:-sudo}"`,
    'docker run -v a:b mount',
    'kubectl exec pod -- mount',
    'find . -name sudo -o -name mount',
    'python3 -c "import os; os.mount"',
    'su$x',
    '$(which sudo) x',
    'alias sudo=',
    'npm run mount',
    'tee sudo',
    'echo `which sudo`',
    'echo hi & echo sudo',
  ])('%j', (command) => {
    expect(findImpossibleCommand(command)).toBeUndefined();
  });
});

const word = fc.constantFrom(
  'ls',
  'sudo',
  'a=1',
  'echo',
  '"x y"',
  "'z;'",
  '$x',
  `\${y}`,
  'env',
  '-v',
  'command',
  '\\',
  '#',
  '>',
  '<',
  '<<E',
  'E',
  'case',
  'in',
  'esac',
  '[[',
  ']]',
  'then',
  'f()',
  '$((',
  '))',
);
const separator = fc.constantFrom(' ', ';', '\n', '&&', '|', '(', ')', '`', '$(', '"', "'", '', '{ ', '; }', '&', ';;');

test('any text is read to its end', () => {
  fc.assert(
    fc.property(fc.array(fc.oneof(word, separator), { maxLength: 40 }), (parts) => {
      const found = findImpossibleCommand(parts.join(''));
      expect([undefined, 'sudo']).toContain(found);
      if (
        !parts
          .join('')
          .replace(/[\\'"]|\n/g, '')
          .includes('sudo')
      )
        expect(found).toBeUndefined();
    }),
    { numRuns: 5000 },
  );
});

test('a refused command after any others is found', () => {
  const before = fc.constantFrom(
    ...['ls', 'echo "a b"', "grep 'x;y' f", 'a=1 b', '(cd x)', 'echo $(date)', 'x > y 2>&1', 'echo `id`'],
    ...['cat <<E\nsudo\nE\n:', 'case x in sudo) :;; esac', 'x=(su)', 'f() { :; }', '[[ a && su ]]', 'echo \\; # su\n:'],
  );
  const joint = fc.constantFrom(';', '\n', ' && ', ' || ', ' | ', ' & ');
  fc.assert(
    fc.property(fc.array(before), joint, (commands, between) => {
      expect(findImpossibleCommand([...commands, 'mount x'].join(between))).toBe('mount');
    }),
    { numRuns: 1000 },
  );
});

test.each([
  ['words', 'a '],
  ['commands', 'a;'],
  ['substitutions', '$('],
  ['arithmetic', '$(('],
  ['expansions', `\${`],
  ['back-ticks', '`'],
  ['single quotes', "'"],
  ['double quotes', '"'],
  ['substitutions in quotes', '"$('],
  ['back-ticks in quotes', '"`'],
  ['expansions in back-ticks', `\`\${`],
  ['parentheses', '('],
  ['lists', 'a=('],
  ['here-documents', '<<a '],
  ['here-documents with ends', '<<a\na\n'],
  ['open delimiters', "<<'a"],
  ['backslashes', '\\'],
  ['spaces', ' '],
  ['definitions', 'a   '],
  ['cases', 'case a in '],
  ['comments', '#'],
  ['redirections', '>'],
  ['digits', '1'],
  ['dollars', '$'],
  ['ansi quotes', "$'"],
])('a megabyte of %s is checked in little time', async (_, piece) => {
  const text = piece.repeat(Math.ceil(1024 ** 2 / piece.length));
  await expectCheap(() => findImpossibleCommand(text), 100);
});
