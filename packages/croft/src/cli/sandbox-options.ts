import { join, resolve } from 'node:path';
import { defaultSandbox, type SandboxOptions } from '../app.ts';
import { NetworkPolicy } from '../core/commands/network-policy.ts';
import { goQuote } from '../lib/text/go-quote.ts';
import { UsageError } from '../lib/usage-error.ts';
import type { Options, Values } from './command.ts';
import { toLimits } from './limits.ts';
import { isDataOpen, type KeptDirectories, toReadable } from './readable.ts';

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
  limit: {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    summary: 'of a sandbox: memory, disk or file (512m, 2g), processes, cpus or open-files; may be repeated',
  },
} as const satisfies Options;

type SandboxValues = Values<typeof sandboxOptions>;

/** Throws a `UsageError` for what is not valid, and for what no provider could hold. */
export function toSandboxOptions(values: SandboxValues, kept: KeptDirectories, flag = 'sandbox'): SandboxOptions {
  const provider = oneOf(flag, ['bubblewrap', 'docker', 'none'] as const, values.sandbox ?? defaultSandbox.provider);
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
    limits: { ...defaultSandbox.limits, ...toLimits(values.limit ?? []) },
    readable: toReadable(values['allow-read'] ?? [], kept),
    // Without isolation commands use the caches of whoever they run as. In a workspace they would be nobody's own.
    ...(!isBare && !isDataOpen(kept) && { caches: join(resolve(kept.data), 'caches') }),
  };
}

/** What an operator must not learn by accident. */
export function describeOpenings({ provider, network }: SandboxOptions): string[] {
  const bare =
    'commands run on this machine without isolation (--sandbox none); ' +
    'limits of memory, processes, cpus and disk do not hold';
  return [
    ...(provider === 'none' ? [bare] : []),
    ...(network.mode === 'allow-all' ? ['commands share the network of this machine (--network allow-all)'] : []),
  ];
}

function toNetwork({ network, 'allow-domain': domains = [], 'allow-cidr': cidrs = [] }: SandboxValues): NetworkPolicy {
  const hasEntries = domains.length + cidrs.length > 0;
  const written = network ?? (hasEntries ? 'restricted' : defaultSandbox.network.mode);
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
