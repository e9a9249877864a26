import type { Escape, Ground } from './escape.ts';
import { type Problem, verdict } from './verdict.ts';

const exits = { through: 0, refused: 1, killedForTheCall: 128 + 31 };

/** How one attempt of the prober ended: refused with an errno, by a signal, or not at all. */
export interface Probed {
  readonly attempt: string;
  readonly gotThrough: boolean;
  readonly answer: string;
}

/** Lets the prober make attempts, one process each. Throws for one that was not even made. */
export async function probe(ground: Ground, attempts: readonly string[], before = ''): Promise<Probed[]> {
  const lines = attempts.map((attempt) => `answer=$(${ground.prober} ${attempt}); echo "$? $answer"`);
  const { output } = await ground.run(['exec 2>/dev/null', before, ...lines].join('\n'));
  const answers = output.trimEnd().split('\n');
  return attempts.map((attempt, index) => toProbed(attempt, answers[index] ?? ''));
}

function toProbed(attempt: string, line: string): Probed {
  const [exit = '', ...answer] = line.split(' ');
  if (exit === '' || !Object.values(exits).includes(Number(exit))) throw new Error(`prober ${attempt}: ${line}`);
  return { attempt, gotThrough: Number(exit) === exits.through, answer: answer.join(' ') };
}

/** What got through, in one problem that names it all. */
export function throughOf(probed: readonly Probed[]): Problem {
  const names = probed.filter(({ gotThrough }) => gotThrough).map(({ attempt }) => attempt);
  return names.length > 0 && `got through: ${names.join(', ')}`;
}

type Attempts = readonly string[] | ((ground: Ground) => readonly string[]);

/** A case that is nothing but attempts of the prober. */
export function probing(about: Omit<Escape, 'attempt'>, attempts: Attempts, before = ''): Escape {
  const listFor = (ground: Ground) => (typeof attempts === 'function' ? attempts(ground) : attempts);
  return { ...about, attempt: async (ground) => verdict(throughOf(await probe(ground, listFor(ground), before))) };
}
