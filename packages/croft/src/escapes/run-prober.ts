import type { Escape, EscapeFixture } from './escape.ts';
import { type Problem, toVerdict } from './to-verdict.ts';

const exits = { through: 0, refused: 1, killedForTheCall: 128 + 31 };

/** How one attempt of the prober ended: it got through, was refused with an errno, or was killed. */
interface ProbeResult {
  readonly attempt: string;
  readonly gotThrough: boolean;
  readonly answer: string;
}

/** Runs the prober once per attempt, in one process each. Throws if an attempt was not made at all. */
export async function runProber(
  fixture: EscapeFixture,
  attempts: readonly string[],
  before = '',
): Promise<ProbeResult[]> {
  const lines = attempts.map((attempt) => `answer=$(${fixture.prober} ${attempt}); echo "$? $answer"`);
  const { output } = await fixture.run(['exec 2>/dev/null', before, ...lines].join('\n'));
  const answers = output.trimEnd().split('\n');
  return attempts.map((attempt, index) => toProbeResult(attempt, answers[index] ?? ''));
}

function toProbeResult(attempt: string, line: string): ProbeResult {
  const [exit = '', ...answer] = line.split(' ');
  if (exit === '' || !Object.values(exits).includes(Number(exit))) throw new Error(`prober ${attempt}: ${line}`);
  return { attempt, gotThrough: Number(exit) === exits.through, answer: answer.join(' ') };
}

/** Returns one problem that names every attempt that got through. */
export function describeGotThrough(probed: readonly ProbeResult[]): Problem {
  const names = probed.filter(({ gotThrough }) => gotThrough).map(({ attempt }) => attempt);
  return names.length > 0 && `got through: ${names.join(', ')}`;
}

type Attempts = readonly string[] | ((fixture: EscapeFixture) => readonly string[]);

/** An escape that consists of prober attempts only. */
export function toProberEscape(about: Omit<Escape, 'attempt'>, attempts: Attempts, before = ''): Escape {
  const listFor = (fixture: EscapeFixture) => (typeof attempts === 'function' ? attempts(fixture) : attempts);
  return {
    ...about,
    attempt: async (fixture) => toVerdict(describeGotThrough(await runProber(fixture, listFor(fixture), before))),
  };
}
