import { randomUUID } from 'node:crypto';
import type { AttackCall } from './attack-calls.ts';
import type { Escape, EscapeFixture } from './escape.ts';
import { hasControlGroups } from './has-control-groups.ts';
import { findSurvivors, trackPeak, whileProbingNeighbour } from './probe-neighbour-under-load.ts';
import { type Problem, toVerdict } from './to-verdict.ts';

const megabyte = 1024 * 1024;
const promptMs = 5000;
const maxCpus = 0.05;

/** Processor time of programs and of the server. */
export const resourcesTime: readonly Escape[] = [
  {
    id: 'G94',
    title: 'a program that never ends',
    guards: ['server'],
    async attempt(fixture) {
      const mark = randomUUID();
      const spin = `trap '' TERM INT HUP; : ${mark}; (while :; do :; done) & while :; do :; done`;
      const { result, problems } = await whileProbingNeighbour(await fixture.open({}), () =>
        fixture.run(spin, { timeoutSeconds: 1 }),
      );
      return toVerdict(
        problems,
        await findSurvivors(mark),
        (!result.timedOut || result.durationMs > promptMs) && `it ended after ${result.durationMs} ms`,
      );
    },
  },
  {
    id: 'G94b',
    title: 'more processors than it may have',
    guards: ['limits'],
    async attempt(fixture) {
      if (!hasControlGroups())
        return { skipped: 'without a control group nothing limits processors, as croft doctor says' };
      const own = await fixture.open({ limits: { cpus: maxCpus } });
      // Enough processes to get their share of a busy machine too.
      const spin =
        'for i in {1..8}; do (while :; do :; done) & done; sleep 1.5; kill $(jobs -p); wait 2>/dev/null; times';
      const { output, durationMs } = await own.run(spin);
      const [, minutes = '', seconds = ''] = /\n(\d+)m([\d.]+)s \d+m[\d.]+s\s*$/.exec(output) ?? [];
      if (minutes === '') throw new Error(`the time it took is not known: ${output}`);
      const used = Number(minutes) * 60 + Number(seconds);
      return toVerdict(used > (2 * maxCpus * durationMs) / 1000 && `it had ${used} s of ${durationMs} ms`);
    },
  },
  {
    id: 'G95',
    title: 'a flood of output',
    guards: ['server'],
    attempt: attemptFlood,
  },
  {
    id: 'G98',
    title: 'patterns that take for ever',
    guards: ['server'],
    attempt: attemptPatterns,
  },
];

/** The server must not keep all output in memory, nor answer with all of what it keeps. */
async function attemptFlood(fixture: EscapeFixture) {
  const [own, other] = [await fixture.open({}), await fixture.open({})];
  const size = 128 * megabyte;
  const { structured } = await own.call('bash', {
    command: `yes flood | head -c ${size / 16}; sleep 60`,
    run_in_background: true,
  });
  const before = process.memoryUsage().rss;
  const flood = `head -c ${size} /dev/zero | tr '\\0' x; head -c ${size / 2} /dev/zero >&2; yes | head -c ${size / 2}`;
  const { result, problems } = await whileProbingNeighbour(other, () =>
    trackPeak(
      () => process.memoryUsage().rss,
      () => own.run(flood),
    ),
  );
  const background = await own.call('bash_output', { shell_id: structured.shell_id });
  await own.call('kill_shell', { shell_id: structured.shell_id });
  const grown = result.most - before;
  return toVerdict(
    problems,
    // Above the garbage that Node keeps before it collects, and below what was printed.
    grown > 1.25 * size && `the server grew by ${Math.round(grown / megabyte)} MB`,
    result.result.output.length > megabyte && `${result.result.output.length} characters were answered`,
    background.text.length > 2 * megabyte && `${background.text.length} characters were answered from the background`,
  );
}

async function attemptPatterns(fixture: EscapeFixture): Promise<ReturnType<typeof toVerdict>> {
  const evil = `${'a'.repeat(50_000)}!`;
  const [own, other] = [
    await fixture.open({ tree: { 'a.txt': `${evil}\n${'a'.repeat(4000)}!\n` } }),
    await fixture.open({}),
  ];
  const patterns = ['(a+)+$', '(a|a)*$', '(a|aa)+b', '(.*a){20}b', '(?:a?){50}a{50}$', '((a{1,8}){1,8}){1,8}$'];
  const braces = [
    '{a,b}'.repeat(40),
    `${'{a,'.repeat(200)}b${'}'.repeat(200)}`,
    '**/*'.repeat(30),
    '*a'.repeat(60),
    '{1..99999999}',
    '[a-z]*?'.repeat(50),
  ];
  const { structured } = await own.call('bash', { command: 'cat a.txt >&2; sleep 60', run_in_background: true });
  const { shell_id } = structured;
  const calls: AttackCall[] = [
    ...patterns.flatMap((pattern): AttackCall[] => [
      ['grep', { pattern }],
      ['grep', { pattern, multiline: true }],
      ['bash_output', { shell_id, filter: pattern }],
      ['watch_process', { command: 'cat a.txt >&2', error_patterns: [pattern] }],
    ]),
    ...braces.flatMap((pattern): AttackCall[] => [
      ['glob', { pattern }],
      ['grep', { pattern: 'a', glob: pattern }],
    ]),
  ];
  const { result, problems } = await whileProbingNeighbour(other, () => findSlow(own, calls));
  await own.call('kill_shell', { shell_id });
  return toVerdict(problems, result);
}

async function findSlow(fixture: EscapeFixture, calls: readonly AttackCall[]): Promise<Problem[]> {
  const problems: Problem[] = [];
  for (const [tool, input] of calls) {
    const startedAt = performance.now();
    const { text } = await fixture.call(tool, input);
    const took = performance.now() - startedAt;
    const what = `${tool} ${JSON.stringify(input).slice(0, 80)}`;
    if (took > promptMs) problems.push(`${what} took ${Math.round(took)} ms`);
    if (text.includes('unexpected failure')) problems.push(`${what} failed in an unexpected way`);
    // Without guards, each further call would take as long.
    if (problems.length > 0) break;
  }
  return problems;
}
