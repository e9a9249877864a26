import { randomBytes } from 'node:crypto';
import type { CalledTool, Escape, EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';

/** Values of secrets in answers. */
export const secretsShown: readonly Escape[] = [
  {
    id: 'F87',
    title: 'the value of a secret, printed as it is, encoded, in pieces',
    guards: ['redaction'],
    attempt: attemptPrinting,
  },
  {
    id: 'F87b',
    title: 'the value of a secret, read back from a file',
    guards: ['redaction'],
    attempt: attemptReadingBack,
  },
  {
    id: 'F87c',
    title: 'tokens of known shapes that no one declared',
    guards: ['redaction'],
    async attempt(fixture) {
      const [random, long] = [
        randomBytes(18).toString('hex'),
        randomBytes(60).toString('base64').replace(/[+/=]/g, 'x'),
      ];
      const tokens = [
        `ghp_${random}`,
        `AKIA${random.slice(0, 16).toUpperCase()}`,
        `xoxb-${random.slice(0, 12)}-${random.slice(12)}`,
      ];
      const own = await fixture.open({ tree: { 'leak.txt': [...tokens, long].join('\n') } });
      const answers = [
        await own.call('bash', { command: 'cat leak.txt' }),
        await own.call('read', { file_path: 'leak.txt' }),
      ];
      // Only the last string is no token: ordinary text must stay unchanged.
      const isShown = answers.every(({ text }) => text.includes(long));
      return toVerdict(
        answers.flatMap((answer) => tokens.map((token) => shows(answer, token, token.slice(0, 4)))),
        !isShown && 'an ordinary text was taken for a secret',
      );
    },
  },
];

/** A unique value with every kind of character that encodings change. */
export function newValue(): string {
  return `s3cr3t/${randomBytes(12).toString('hex')}+&"é`;
}

/** The part of the value that is the same in every encoding but base64. */
export const coreOf = (value: string) => value.slice(7, 31);

export const openWith = async (fixture: EscapeFixture, value: string, tree = {}) =>
  fixture.open({ variables: { CROFT_SECRET_DEPLOY: value }, tree });

const ways: Readonly<Record<string, string>> = {
  'as it is': 'echo "$DEPLOY"',
  'on stderr': 'echo "$DEPLOY" >&2',
  'by env': 'env',
  'in base64': 'printf %s "$DEPLOY" | base64 -w 0',
  'in base64 behind other bytes': 'printf %s "x$DEPLOY" | base64 -w 0; printf %s "xx$DEPLOY" | base64 -w 0',
  'in two writes': 'printf %s "$DEPLOY" | { head -c 9; sleep 0.2; cat; }',
  'byte by byte': 'printf %s "$DEPLOY" | while IFS= read -rn1 byte; do printf %s "$byte"; done',
  'between colours': 'printf %s "$DEPLOY" | { head -c 9; printf "\\e[31m"; cat; }',
  'in the name of a missing program': '"./$DEPLOY" || "$DEPLOY"',
};

async function attemptPrinting(fixture: EscapeFixture) {
  const value = newValue();
  const own = await openWith(fixture, value);
  const problems: Problem[] = [];
  for (const [way, command] of Object.entries(ways)) {
    problems.push(...showsAny(await own.call('bash', { command, secrets: ['deploy'] }), value, way));
  }
  const program = { cmd: 'bash', args: ['-c', 'echo "$DEPLOY"; echo "$DEPLOY" >&2'], secrets: ['deploy'] };
  problems.push(...showsAny(await own.call('run_command', program), value, 'without a shell'));
  const encoded = `echo '${encodeURIComponent(value)}'; echo '${JSON.stringify(value)}'`;
  problems.push(...showsAny(await own.call('bash', { command: encoded }), value, 'encoded for a URL'));
  const { structured } = await own.call('bash', {
    command: `${ways['in two writes']}; sleep 60`,
    run_in_background: true,
    secrets: ['deploy'],
  });
  const { shell_id } = structured;
  for (let turn = 0; turn < 10; turn += 1) {
    problems.push(...showsAny(await own.call('bash_output', { shell_id }), value, 'in the background'));
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  await own.call('kill_shell', { shell_id });
  return toVerdict(problems);
}

async function attemptReadingBack(fixture: EscapeFixture) {
  const value = newValue();
  const tree = { 'plain.txt': `a\n${value}\nb\n`, 'base64.txt': Buffer.from(`xx${value}`).toString('base64') };
  const own = await openWith(fixture, value, tree);
  await own.run('printf %s "$DEPLOY" > made.txt', { secrets: ['deploy'] });
  const calls = [
    ...Object.keys(tree).map((file_path) => ['read', { file_path }] as const),
    ['read', { file_path: 'made.txt' }] as const,
    ['grep', { pattern: 's3cr3t' }] as const,
    ['grep', { pattern: '.', output_mode: 'content' }] as const,
    ['edit', { file_path: 'plain.txt', old_string: 'a\n', new_string: 'c\n' }] as const,
    ['read', { file_path: value }] as const,
    ['bash', { command: 'cat *.txt' }] as const,
  ];
  const problems: Problem[] = [];
  for (const [tool, input] of calls) problems.push(...showsAny(await own.call(tool, input), value, `by ${tool}`));
  return toVerdict(problems);
}

function showsAny(answer: CalledTool, value: string, way: string): Problem[] {
  const base64 = [0, 1, 2].map((shift) =>
    Buffer.from('x'.repeat(shift) + value)
      .toString('base64')
      .slice(8, 32),
  );
  return [coreOf(value), ...base64].map((form) => shows(answer, form, way));
}

function shows({ text, structured }: CalledTool, form: string, way: string): Problem {
  return (text + JSON.stringify(structured)).includes(form) && `a secret was shown: ${way}`;
}
