import type { GitIdentity, PersonalSettings } from '../../core/commands/sandbox.ts';
import { goQuote } from '../../lib/text/go-quote.ts';
import { UsageError } from '../../lib/usage-error.ts';
import type { Options, Values } from '../command.ts';

/** The flags by which people pass their own variables and git identity to commands. */
export const personalOptions = {
  env: {
    type: 'string',
    multiple: true,
    value: 'NAME[=VALUE]',
    summary:
      'a variable for commands, which agents can read; NAME alone takes the value that croft was started with; may be repeated',
  },
  'git-identity': {
    type: 'string',
    value: 'ID',
    summary: 'the author of commits: "Name <address>", or none; by default the identity of your git',
  },
} as const satisfies Options;

type PersonalValues = Values<typeof personalOptions>;

interface Refused {
  readonly names: RegExp;
  /** Completes the error message "--env NAME …". */
  readonly reason: string;
}

const refused: readonly Refused[] = [
  {
    names: /^PATH$/,
    reason: 'is made of the PATH that croft was started with: put the directory there, and open it with --allow-read',
  },
  { names: /^(?:HOME|USER|LOGNAME|PWD|OLDPWD|TMPDIR|GIT_TEMPLATE_DIR)$/, reason: 'is the sandbox’s own' },
  {
    names: /^(?:ENV|IFS|PS4|SHELLOPTS|BASHOPTS|PROMPT_COMMAND|BASH_.*)$/,
    reason: 'would change how every command line is read',
  },
  {
    // `LD_LIBRARY_PATH` is allowed: it only says where a program finds libraries that it asks for.
    names: /^(?:LD_(?!LIBRARY_PATH$).*|GLIBC_TUNABLES|GCONV_PATH)$/,
    reason: 'would put code into every program, also into those whose answers croft relies on',
  },
  { names: /^CROFT_/, reason: 'is for croft alone; what commands may be given is in --secrets-dir' },
];
/** Variables that lead programs to the sandbox's proxy, the only way to the network. */
const proxyNames = /^(?:(?:https?|all|no)_proxy|node_use_env_proxy)$/i;

/** Throws a `UsageError` for an invalid flag. */
export function toPersonal(
  { env = [], 'git-identity': identity }: PersonalValues,
  { variables, isOpen }: { variables: Readonly<Record<string, string | undefined>>; isOpen: boolean },
): PersonalSettings {
  return {
    environment: Object.fromEntries(env.map((written) => toVariable(written, variables, isOpen))),
    ...(identity !== undefined && { gitIdentity: toIdentity(identity) }),
  };
}

function toVariable(
  written: string,
  variables: Readonly<Record<string, string | undefined>>,
  isOpen: boolean,
): [string, string] {
  const [, name = '', given] = /^([^=]*)(?:=(.*))?$/s.exec(written) ?? [];
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new UsageError(
      `--env takes NAME or NAME=VALUE, where NAME is letters, digits and _; not ${goQuote(written)}`,
    );
  const reason =
    refused.find(({ names }) => names.test(name))?.reason ??
    (!isOpen && proxyNames.test(name) ? 'is how the sandbox leads to its network; see --network' : undefined);
  if (reason !== undefined) throw new UsageError(`--env ${name} ${reason}`);
  const value = given ?? variables[name];
  if (value === undefined)
    throw new UsageError(`--env ${name}: croft was started without it; set it there, or write ${name}=VALUE`);
  return [name, value];
}

function toIdentity(written: string): GitIdentity | 'none' {
  if (written === 'none') return 'none';
  const [, name, email] = /^\s*([^<>\n\0]*[^<>\s\0])\s*<([^<>\s\0]+)>\s*$/.exec(written) ?? [];
  if (name === undefined || email === undefined)
    throw new UsageError(`--git-identity takes "Name <address>" or none, not ${goQuote(written)}`);
  return { name, email };
}
