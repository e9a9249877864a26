import type { SandboxDenial, SandboxLimits } from '../core/commands/sandbox.ts';
import type { Group } from '../lib/cgroup/find-groups.ts';
import { noNetwork } from './sandbox-paths.ts';

/** Limit of stored denials: a program that tries again for ever adds nothing new. */
const maxDenials = 20;

export interface DenialLog {
  add(denial: SandboxDenial): void;
  /** Returns and removes the denials since the last call. */
  take(): SandboxDenial[];
}

/** Collects the denials of a sandbox until they are taken, each once. */
export function createDenialLog(): DenialLog {
  const pending = new Map<string, SandboxDenial>();
  return {
    add(denial) {
      const key = JSON.stringify([denial.layer, denial.rule, denial.target]);
      if (pending.size < maxDenials) pending.set(key, denial);
    },
    take() {
      const all = [...pending.values()];
      pending.clear();
      return all;
    },
  };
}

/** Creates a function that returns what the control group refused since the last call. */
export function createGroupDenialReader(group: Pick<Group, 'refusals'>, limits: SandboxLimits): () => SandboxDenial[] {
  let seen = { memoryKills: 0, refusedForks: 0 };
  return () => {
    const before = seen;
    try {
      seen = group.refusals();
    } catch {
      // The group is gone with its sandbox.
      return [];
    }
    const denials: SandboxDenial[] = [];
    if (seen.memoryKills > before.memoryKills) denials.push(overMemory(limits));
    if (seen.refusedForks > before.refusedForks) denials.push(overProcesses(limits));
    return denials;
  };
}

function overMemory({ memoryBytes }: SandboxLimits): SandboxDenial {
  return {
    layer: 'limit',
    rule: 'memory',
    target: `${Math.round(memoryBytes / 1024 / 1024)} MB`,
    next: 'Use less memory at once, or ask the operator for a larger --limit memory.',
  };
}

/** Reason for a sandbox that ran out of memory and ended before it could report a denial. */
export function outOfMemoryReason({ memoryBytes }: SandboxLimits): string {
  return `it used more than its ${Math.round(memoryBytes / 1024 / 1024)} MB of memory, of which files in /tmp are a part`;
}

function overProcesses({ processes }: SandboxLimits): SandboxDenial {
  return {
    layer: 'limit',
    rule: 'processes',
    target: `${processes} processes`,
    next: 'Start fewer at once, or end those left behind.',
  };
}

export function toSystemCallDenial(name: string): SandboxDenial {
  return {
    layer: 'system-call',
    rule: name,
    target: 'the kernel',
    next: 'No program in a sandbox may do this; do without it.',
  };
}

const controlFileHints: Readonly<Record<string, (detail: string) => string>> = {
  'git-setting': (key) =>
    `git on the host could execute what ${key} says; use settings that name no program, or ask the operator.`,
  repository: (detail) =>
    `git on the host would obey this directory as a repository (${detail}); make repositories with git alone.`,
  'control-file': () => 'Programs outside the sandbox obey this file. Use the write tool, which asks a person.',
  'held-back': () =>
    'Programs outside obey this file, so it changed inside the sandbox alone. Use the write tool, which asks a person.',
  'set-aside': (other) =>
    `Programs outside obey this file, so it is now named ${other}. Use the write tool, which asks a person.`,
  reopened: () =>
    'A control file was replaced from outside, so the sandbox was closed; the next command opens a new one.',
};

/** Reason for a sandbox that ended because a guarded directory was replaced from outside. */
export const controlFileReplacedReason = 'a control file was replaced from outside; the next call opens a new sandbox';

/** Converts a report of the init: a guarded control file, or a host name asked for in a sandbox without network. */
export function toInitDenial({ rule, path, detail }: { rule: string; path: string; detail: string }): SandboxDenial {
  if (rule === noNetwork) return toNetworkDenial(path);
  return { layer: 'file', rule, target: path, next: controlFileHints[rule]?.(detail) ?? detail };
}

/** Uses the same words as explanations of failed programs do. */
function toNetworkDenial(target: string): SandboxDenial {
  const next = `This sandbox has no network. Ask the operator to start croft with --allow-domain ${target}.`;
  return { layer: 'network', rule: 'deny-all', target, next };
}
