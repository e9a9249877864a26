import { z } from 'zod';
import type { Redact } from '../../lib/redact.ts';
import { explainDenials, keyOf, tidy } from './explain-denials.ts';
import type { Denial, Exit, Sandbox } from './sandbox.ts';

/** As tools answer them to programs. */
export const denialList = z
  .array(
    z.object({
      layer: z.enum(['file', 'limit', 'network', 'system-call']),
      rule: z.string(),
      target: z.string().describe('What it wanted'),
      next: z.string().describe('What to do about it'),
    }),
  )
  .describe('What the fence refused meanwhile');

const maxShown = 5;
/** More than a sandbox keeps. */
const maxReported = 20;

export interface Told {
  /** What a program that has ended printed, as plain text. */
  readonly output: string;
  readonly exit: Pick<Exit, 'code' | 'signal'>;
}

/** What the sandbox says it refused, and then what only the words of a failed program tell of. */
export function collectDenials(sandbox: Sandbox, told: Told | undefined, redact?: Redact): Denial[] {
  const reported = take(sandbox).map((denial) => tidy(denial, redact));
  const found = new Map(reported.map((denial) => [keyOf(denial), denial]));
  const explained = told ? explainDenials({ ...told, ...toFence(sandbox), redact }) : [];
  for (const denial of explained) {
    const isKnown = [...found.values()].some((other) => isSame(denial, other));
    if (!isKnown && found.size < maxShown) found.set(keyOf(denial), denial);
  }
  return [...found.values()].slice(0, maxReported);
}

/** As the model reads them, a line each. */
export function renderDenials(denials: readonly Denial[]): string {
  return denials
    .map(({ layer, rule, target, next }) => `refused (${layer}, ${rule}): ${target}. Next: ${next}\n`)
    .join('');
}

function toFence({ name, workspacePath, network, limits }: Sandbox) {
  return { workspacePath, network, limits, holdsFiles: name !== 'none' };
}

/** The fence names a host with its port, and a limit in its own words. */
function isSame(explained: Denial, reported: Denial): boolean {
  if (explained.layer !== reported.layer) return false;
  if (explained.layer === 'limit') return explained.rule === reported.rule;
  return reported.target === explained.target || reported.target.startsWith(`${explained.target}:`);
}

/** One that is gone can no longer be asked. */
function take(sandbox: Sandbox): Denial[] {
  try {
    return sandbox.takeDenials();
  } catch {
    return [];
  }
}
