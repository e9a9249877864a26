import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Escape, EscapeFixture } from './escape.ts';
import { coreOf, newValue, openWith, secretsShown } from './secrets-shown.ts';
import { toVerdict } from './to-verdict.ts';

/** F: secrets of the server, which commands may not see, or only while they run. */
export const secrets: readonly Escape[] = [
  {
    id: 'F81',
    title: 'variables of the server',
    guards: ['environment'],
    async attempt(fixture) {
      const value = newValue();
      const names = [
        'AWS_SECRET_ACCESS_KEY',
        'GITHUB_TOKEN',
        'CROFT_TOKEN',
        'CROFT_SECRET_UNASKED',
        'DATABASE_URL',
        'HOST_ONLY',
      ];
      const own = await fixture.open({ variables: Object.fromEntries(names.map((name) => [name, value])) });
      const reads = [
        await own.run('env; export -p; set; declare -x'),
        await own.run('cat /proc/*/environ /proc/*/task/*/environ 2>/dev/null | tr "\\0" "\\n"'),
        await own.run('cat /proc/*/cmdline 2>/dev/null | tr "\\0" "\\n"'),
      ];
      const output = reads.map((ran) => ran.output).join('');
      const allowed =
        /^(?:PATH|HOME|USER|LC_CTYPE|TERM|TMPDIR|PWD|OLDPWD|SHLVL|_|\w*_(?:HOME|ROOT|CACHE|DIR)|\w*(?:proxy|PROXY))$/;
      const given = [...(reads[0]?.output.matchAll(/^declare -x (\w+)/gm) ?? [])].map(([, name = '']) => name);
      return toVerdict(
        names.map((name) => new RegExp(`^(?:declare -x )?${name}=`, 'm').test(output) && `${name} is there`),
        given.filter((name) => !allowed.test(name)).map((name) => `a variable that nobody gave: ${name}`),
      );
    },
  },
  {
    id: 'F82',
    title: 'variables of a process beside, and of one that has ended',
    guards: ['environment'],
    attempt: attemptLeftBehind,
  },
  {
    id: 'F82b',
    title: 'variables of the server, through a link and the file tools',
    guards: ['files'],
    async attempt(fixture) {
      const own = await fixture.open({});
      await own.run('for pid in self 1 $$; do ln -s /proc/$pid/environ environ-$pid; done; ln -s /proc/self/environ e');
      const paths = ['e', 'environ-self', 'environ-1', `/proc/${process.pid}/environ`, '/proc/self/environ'];
      const answers = await Promise.all(paths.map((path) => own.call('read', { file_path: path })));
      return toVerdict(answers.map(({ isError }, index) => !isError && `${paths[index]} was read`));
    },
  },
  ...secretsShown,
  {
    id: 'F88',
    title: 'the value of a secret in what a history keeps',
    guards: ['redaction'],
    attempt: attemptHistory,
  },
];

/** The secret is in the command line and the environment of a call that the history records. It must be in no file. */
async function attemptHistory(fixture: EscapeFixture) {
  const value = newValue();
  const variables = { CROFT_SECRET_DEPLOY: value };
  const own = await fixture.open({ variables, keepsHistory: true });
  await own.run(`echo made > made.txt; : '${value}'`, { secrets: ['deploy'] });
  const made = await own.call('snapshot_create', { name: 'after' });
  const { text } = await own.call('undo_list', {});
  if (made.isError || !text.includes('made.txt')) throw new Error(`nothing was kept: ${made.text} ${text}`);
  const data = join(dirname(own.workspace), 'data');
  const files = readdirSync(data, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const holding = files.filter(({ parentPath, name }) => readFileSync(join(parentPath, name)).includes(coreOf(value)));
  return toVerdict(holding.map(({ name }) => `${name} has the secret`));
}

/** The hash shows whether a command had the value: the value itself would be redacted. */
const hash = `printf %s "$DEPLOY" | sha256sum`;

async function attemptLeftBehind(fixture: EscapeFixture) {
  const own = await openWith(fixture, newValue());
  const other = await own.open({});
  const given = await own.run(hash, { secrets: ['deploy'] });
  const sum = given.output.slice(0, 64);
  const without = await own.run(`unset DEPLOY; ${hash}`);
  if (sum === without.output.slice(0, 64)) throw new Error('the command was not given the secret');
  const findScript = `for file in /proc/*/environ; do tr '\\0' '\\n' < $file; done 2>/dev/null | sed -En 's/^(CROFT_SECRET_)?DEPLOY=//p'`;
  const find = `found=$(${findScript}); [ -z "$found" ] || echo found; echo "[$DEPLOY]"; ls -d /tmp/*DEPLOY* 2>/dev/null; exit 0`;
  const after = await own.run(find);
  const { structured } = await own.call('bash', { command: 'sleep 60', run_in_background: true, secrets: ['deploy'] });
  const beside = await other.run(find);
  await own.call('kill_shell', { shell_id: structured.shell_id });
  const ended = await own.run(find);
  const findings: [string, string][] = [
    ['the next command', after.output],
    ['another sandbox', beside.output],
    ['a command after the end of one in the background', ended.output],
  ];
  return toVerdict(findings.map(([who, output]) => output !== '[]\n' && `${who} has the secret`));
}
