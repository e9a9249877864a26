import type { Denial, SandboxLimits } from '../core/commands/sandbox.ts';
import type { Group } from '../lib/cgroup/cgroup.ts';

/** A program that tries for ever says nothing new. */
const maxKept = 20;

export interface Denials {
  add(denial: Denial): void;
  /** Everything since it was last asked. */
  take(): Denial[];
}

/** What a sandbox refused and nobody asked for yet, each once. */
export function createDenials(): Denials {
  const kept = new Map<string, Denial>();
  return {
    add(denial) {
      const key = JSON.stringify([denial.layer, denial.rule, denial.target]);
      if (kept.size < maxKept) kept.set(key, denial);
    },
    take() {
      const all = [...kept.values()];
      kept.clear();
      return all;
    },
  };
}

/** Looks at what the group refused since it was last asked. */
export function createGroupReader(group: Pick<Group, 'refusals'>, limits: SandboxLimits): () => Denial[] {
  let seen = { memoryKills: 0, refusedForks: 0 };
  return () => {
    const before = seen;
    try {
      seen = group.refusals();
    } catch {
      // Gone with its sandbox.
      return [];
    }
    const denials: Denial[] = [];
    if (seen.memoryKills > before.memoryKills) denials.push(overMemory(limits));
    if (seen.refusedForks > before.refusedForks) denials.push(overProcesses(limits));
    return denials;
  };
}

function overMemory({ memoryBytes }: SandboxLimits): Denial {
  return {
    layer: 'limit',
    rule: 'memory',
    target: `${Math.round(memoryBytes / 1024 / 1024)} MB`,
    next: 'Use less memory at once, or ask the operator for a larger --limit memory.',
  };
}

/** For when nothing was left that could have been told. */
export function outOfMemory({ memoryBytes }: SandboxLimits): string {
  return `it used more than its ${Math.round(memoryBytes / 1024 / 1024)} MB of memory, of which files in /tmp are a part`;
}

function overProcesses({ processes }: SandboxLimits): Denial {
  return {
    layer: 'limit',
    rule: 'processes',
    target: `${processes} processes`,
    next: 'Start fewer at once, or end those left behind.',
  };
}

export function refusedCall(name: string): Denial {
  return {
    layer: 'system-call',
    rule: name,
    target: 'the kernel',
    next: 'No program in a sandbox may do this; do without it.',
  };
}
