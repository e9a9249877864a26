import { join, resolve } from 'node:path';
import type { SandboxOptions } from '../../app/app.ts';
import { defaultSandboxOptions } from '../../app/workspaces/sandbox-options.ts';
import { NetworkPolicy } from '../../core/commands/network-policy.ts';
import { findNameProblem } from '../../core/control-files/allowance.ts';
import { goQuote } from '../../lib/text/go-quote.ts';
import { UsageError } from '../../lib/usage-error.ts';
import type { Options, Values } from '../command.ts';
import { isDataInWorkspace, type ProtectedDirectories, toReadable } from './readable-directories.ts';
import { toSandboxLimits } from './sandbox-limits.ts';

export const providerSummary = 'bubblewrap (the default), docker, or none: no isolation at all';

/** The flags of every command that may open a sandbox. */
export const sandboxOptions = {
  sandbox: { type: 'string', value: 'NAME', summary: providerSummary },
  'docker-image': {
    type: 'string',
    value: 'IMAGE',
    summary: 'an image on this machine whose programs commands have with docker, in place of those of this machine',
  },
  network: {
    type: 'string',
    value: 'MODE',
    summary: 'what commands may reach: deny-all (the default), restricted or allow-all',
  },
  'allow-domain': {
    type: 'string',
    multiple: true,
    value: 'HOST',
    summary: 'a host for restricted, or *.HOST for those below it; may be repeated',
  },
  'allow-cidr': {
    type: 'string',
    multiple: true,
    value: 'CIDR',
    summary: 'addresses for restricted, private ones too; may be repeated',
  },
  'allow-read': {
    type: 'string',
    multiple: true,
    value: 'DIR',
    summary: 'a further directory that commands may read; may be repeated',
  },
  'allow-control': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    summary: 'control files that agents may change unasked, such as .vscode, .mcp.json or .git/hooks; may be repeated',
  },
  limit: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    summary: 'of a sandbox: memory, disk or file (512m, 2g), processes, cpus or open-files; may be repeated',
  },
} as const satisfies Options;

type SandboxValues = Values<typeof sandboxOptions>;

/** Throws a `UsageError` for an invalid flag, and for a combination that no provider can enforce. */
export function toSandboxOptions(
  values: SandboxValues,
  protectedDirectories: ProtectedDirectories,
  flag = 'sandbox',
): SandboxOptions {
  const provider = oneOf(
    flag,
    ['bubblewrap', 'docker', 'none'] as const,
    values.sandbox ?? defaultSandboxOptions.provider,
  );
  const network = toNetwork(values);
  const isBare = provider === 'none';
  if (isBare && network.mode !== 'allow-all') {
    throw new UsageError(
      `--${flag} none cannot hold the network policy ${network.mode}; add --network allow-all, or leave --${flag} none out`,
    );
  }
  const { 'docker-image': image } = values;
  if (image !== undefined && provider !== 'docker')
    throw new UsageError(`--docker-image goes with --${flag} docker, not with ${provider}`);
  return {
    provider,
    ...(image !== undefined && { image }),
    network,
    limits: { ...defaultSandboxOptions.limits, ...toSandboxLimits(values.limit ?? []) },
    readable: toReadable(values['allow-read'] ?? [], protectedDirectories),
    ...toAllowControl(values['allow-control'] ?? []),
    // Without isolation, commands use the caches of their user. Inside a workspace, agents could change the caches.
    ...(!isBare &&
      !isDataInWorkspace(protectedDirectories) && { caches: join(resolve(protectedDirectories.data), 'caches') }),
  };
}

function toAllowControl(names: readonly string[]): Pick<SandboxOptions, 'allowControl'> {
  const problem = findNameProblem(names);
  if (problem !== undefined) throw new UsageError(`--allow-control ${problem}`);
  return names.length === 0 ? {} : { allowControl: [...new Set(names)] };
}

/** Describes every option that weakens isolation, so that an operator notices it. */
export function describeOpenings({ provider, network, allowControl = [] }: SandboxOptions): string[] {
  const bare =
    'commands run on this machine without isolation (--sandbox none); ' +
    'limits of memory, processes, cpus and disk do not hold';
  return [
    ...(provider === 'none' ? [bare] : []),
    ...allowControl.map(
      (name) => `agents may change ${name}, which programs outside the sandbox obey (--allow-control)`,
    ),
    ...(network.mode === 'allow-all' ? ['commands share the network of this machine (--network allow-all)'] : []),
  ];
}

function toNetwork({ network, 'allow-domain': domains = [], 'allow-cidr': cidrs = [] }: SandboxValues): NetworkPolicy {
  const hasEntries = domains.length + cidrs.length > 0;
  const written = network ?? (hasEntries ? 'restricted' : defaultSandboxOptions.network.mode);
  const mode = oneOf('network', ['deny-all', 'restricted', 'allow-all'] as const, written);
  if (hasEntries && mode !== 'restricted')
    throw new UsageError(`--allow-domain and --allow-cidr go with --network restricted, not with ${mode}`);
  const result = NetworkPolicy.safeParse(mode === 'restricted' ? { mode, domains, cidrs } : { mode });
  if (result.success) return result.data;
  const flags: Readonly<Record<string, string>> = { domains: '--allow-domain', cidrs: '--allow-cidr' };
  const words = result.error.issues.map(({ path, message }) => `${flags[String(path[0])] ?? 'network'}: ${message}`);
  throw new UsageError(words.join('\n'));
}

export function oneOf<const T extends string>(flag: string, names: readonly T[], written: string): T {
  const found = names.find((name) => name === written);
  if (found !== undefined) return found;
  throw new UsageError(`--${flag} takes one of ${names.join(', ')}; not ${goQuote(written)}`);
}
