import { z } from 'zod';
import type { Redact } from '../../../lib/redaction/redact.ts';
import type { ProgramExit, Sandbox, SandboxDenial } from '../sandbox.ts';
import { denialKey, findDenialsInOutput, tidyDenial } from './find-denials-in-output.ts';

/** Schema of denials in structured tool results. */
export const denialList = z
  .array(
    z.object({
      layer: z.enum(['file', 'limit', 'network', 'system-call']),
      rule: z.string(),
      target: z.string().describe('The refused path, host, system call or limit'),
      next: z.string().describe('The next step'),
    }),
  )
  .describe('Accesses that the sandbox refused meanwhile');

const maxShown = 5;
/** Most denials in one answer: more than a sandbox records. */
const maxReported = 20;

interface EndedProgram {
  /** The output of the ended program, as plain text. */
  readonly output: string;
  readonly exit: Pick<ProgramExit, 'code' | 'signal'>;
}

/** Takes the denials that the sandbox recorded, and adds those that only the output of a failed program reveals. */
export function takeSandboxDenials(
  sandbox: Sandbox,
  ended: EndedProgram | undefined,
  redact?: Redact,
): SandboxDenial[] {
  const reported = takeRecorded(sandbox).map((denial) => tidyDenial(denial, redact));
  const found = new Map(reported.map((denial) => [denialKey(denial), denial]));
  const explained = ended ? findDenialsInOutput({ ...ended, ...toSandboxRules(sandbox), redact }) : [];
  for (const denial of explained) {
    const isKnown = [...found.values()].some((other) => isSame(denial, other));
    if (!isKnown && found.size < maxShown) found.set(denialKey(denial), denial);
  }
  return [...found.values()].slice(0, maxReported);
}

/** Renders denials for the model, one line each. */
export function renderDenials(denials: readonly SandboxDenial[]): string {
  return denials
    .map(({ layer, rule, target, next }) => `refused (${layer}, ${rule}): ${target}. Next: ${next}\n`)
    .join('');
}

function toSandboxRules({ name, workspacePath, network, limits }: Sandbox) {
  return { workspacePath, network, limits, guardsFiles: name !== 'none' };
}

/** Sandboxes name a host with its port, and a limit in their own words. */
function isSame(explained: SandboxDenial, reported: SandboxDenial): boolean {
  if (explained.layer !== reported.layer) return false;
  if (explained.layer === 'limit') return explained.rule === reported.rule;
  return reported.target === explained.target || reported.target.startsWith(`${explained.target}:`);
}

/** A closed sandbox can no longer be asked. */
function takeRecorded(sandbox: Sandbox): SandboxDenial[] {
  try {
    return sandbox.takeDenials();
  } catch {
    return [];
  }
}
