import {
  type AccountBounds,
  defaultBounds,
  type ServerBounds,
  type ServerTimes,
  type SharedBounds,
} from '../../app/server/server-bounds.ts';
import { goQuote } from '../../lib/text/go-quote.ts';
import { durationText, parseDuration } from '../../lib/text/parse-duration.ts';
import { parseSize } from '../../lib/text/parse-size.ts';
import { UsageError } from '../../lib/usage-error.ts';
import type { Options, Values } from '../command.ts';

interface Kind {
  parse(text: string): number | undefined;
  show(value: number): string;
  /** Completes the error message "takes …". */
  readonly form: string;
}

interface Bound<Key> {
  readonly key: Key;
  readonly kind: Kind;
  readonly least: number;
  readonly most: number;
  /** The limited value, for the documentation. */
  readonly about: string;
}

type Bounds<Group> = Readonly<Record<string, Bound<keyof Group>>>;

const count: Kind = {
  parse: (text) => (/^\d{1,9}$/.test(text) ? Number(text) : undefined),
  show: String,
  form: 'a whole number',
};
const size: Kind = { parse: parseSize, show: sizeText, form: 'a size such as 512m or 2g' };
const time: Kind = { parse: parseDuration, show: durationText, form: 'a time such as 30s, 10m, 24h or 7d' };

const most = 999_999_999;
/** The longest time that a timer of Node waits. */
const longestWaitMs = 24 * 86_400_000;
const longestMs = 3650 * 86_400_000;

const counted = <Key>(key: Key, about: string, least = 0): Bound<Key> => ({ key, kind: count, least, most, about });
const sized = <Key>(key: Key, about: string, least: number, largest: number): Bound<Key> => ({
  ...{ key, kind: size, least, most: largest, about },
});
const timed = <Key>(key: Key, about: string, least: number, longest = longestMs): Bound<Key> => ({
  ...{ key, kind: time, least, most: longest, about },
});

const accountBounds: Bounds<AccountBounds> = {
  sandboxes: counted('sandboxes', 'sandboxes that are open at once, on all servers together'),
  storage: sized(
    'storageBytes',
    'files, package caches, forks and histories on this server',
    0,
    Number.MAX_SAFE_INTEGER,
  ),
  requests: counted('requestsPerMinute', 'requests a minute; more are 429 with `Retry-After`', 1),
  agents: counted('agents', 'agents'),
  'defined-sandboxes': counted('definedSandboxes', 'sandboxes that are defined, open or not'),
  workspaces: counted('workspaces', 'workspaces'),
  keys: counted('keys', 'keys that can be used'),
  runners: counted('runners', 'runners'),
  secrets: counted('secrets', 'secrets'),
  sessions: counted('sessions', 'sessions of all agents'),
  terminals: counted('terminals', 'terminals that are open at once'),
  watches: counted('watches', 'streams of file changes that are open at once'),
  connections: counted('connections', 'connections of MCP clients of 2025; one more closes the one idle longest', 1),
  'waiting-calls': counted('waitingCalls', 'calls of one agent that wait for a person', 1),
};

const sharedBounds: Bounds<SharedBounds> = {
  refusals: counted('refusalsPerMinute', 'requests a minute of one address without a known key; more are 429', 1),
  'request-size': sized('requestBytes', 'the body of one request, other than an upload', 1024 ** 2, 1024 ** 3),
  connections: counted('connections', 'connections of MCP clients of 2025 at `/mcp`', 1),
};

const times: Bounds<ServerTimes> = {
  drain: timed('drainMs', 'for calls under way when the server is asked to stop', 0, 3_600_000),
  'sandbox-idle': timed(
    'sandboxIdleMs',
    'until a sandbox of an account that nobody uses is closed',
    1000,
    longestWaitMs,
  ),
  'session-idle': timed('sessionIdleMs', 'until a session that nobody uses is over', 60_000),
  approval: timed('approvalMs', 'for a person to decide, and for the call to be made after that', 1000),
  'terminal-grace': timed('terminalGraceMs', 'until a terminal whose connection was cut ends', 0, longestWaitMs),
  removal: timed('removalMs', 'for a runner that is away to take away files of removed workspaces', 60_000),
};

/** All limits for the documentation: by flag, each with its default. */
export const boundTables = [
  { flag: 'account-limit', bounds: accountBounds, defaults: defaultBounds.account },
  { flag: 'server-limit', bounds: sharedBounds, defaults: defaultBounds.server },
  { flag: 'server-time', bounds: times, defaults: defaultBounds.times },
].map(({ flag, bounds, defaults }) => ({
  flag,
  rows: Object.entries(bounds).map(([name, { key, kind, about }]) => {
    const value = (defaults as unknown as Readonly<Record<string, number>>)[key];
    return { name, about, value: kind.show(value ?? Number.NaN) };
  }),
}));

const namesOf = (bounds: object) => Object.keys(bounds).join(', ');
const seeLimits = 'see Limits below for what they mean; may be repeated';

export const boundOptions = {
  'min-free': {
    type: 'string',
    value: 'SIZE',
    summary:
      'with less than this free on the disk of the data directory (256m) files of accounts may not grow; 0 is no limit',
  },
  'account-limit': {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    summary: `a limit per account: ${namesOf(accountBounds)}; ${seeLimits}`,
  },
  'server-limit': {
    type: 'string',
    multiple: true,
    value: 'NAME=VALUE',
    summary: `a limit of the server: ${namesOf(sharedBounds)}; ${seeLimits}`,
  },
  'server-time': {
    type: 'string',
    multiple: true,
    value: 'NAME=TIME',
    summary: `how long: ${namesOf(times)}; ${seeLimits}`,
  },
} as const satisfies Options;

/** If a name is given twice, the last one counts. An invalid value stops the program before anything is opened. */
export function toBounds(values: Values<typeof boundOptions>): ServerBounds {
  return {
    account: { ...defaultBounds.account, ...read('account-limit', accountBounds, values['account-limit']) },
    server: { ...defaultBounds.server, ...read('server-limit', sharedBounds, values['server-limit']) },
    times: { ...defaultBounds.times, ...read('server-time', times, values['server-time']) },
    minFreeBytes: toMinFree(values['min-free']),
  };
}

function toMinFree(written: string | undefined): number {
  const bytes = written === undefined ? defaultBounds.minFreeBytes : parseSize(written);
  if (bytes !== undefined) return bytes;
  throw new UsageError(`--min-free takes a size such as 512m or 2g, not ${goQuote(written ?? '')}`);
}

function read<Group>(flag: string, bounds: Bounds<Group>, entries: readonly string[] = []): Partial<Group> {
  return Object.fromEntries(entries.map((entry) => readOne(flag, bounds, entry))) as Partial<Group>;
}

function readOne<Group>(flag: string, bounds: Bounds<Group>, entry: string): [keyof Group, number] {
  const [, name = '', text = ''] = /^([^=]*)=(.*)$/s.exec(entry) ?? [];
  const bound = Object.hasOwn(bounds, name) ? bounds[name] : undefined;
  if (!bound)
    throw new UsageError(`--${flag} takes NAME=VALUE, where NAME is one of ${namesOf(bounds)}; not ${goQuote(entry)}`);
  const value = bound.kind.parse(text);
  if (value !== undefined && value >= bound.least && value <= bound.most) return [bound.key, value];
  const { form, show } = bound.kind;
  const range = `from ${show(bound.least)} to ${show(bound.most)}`;
  throw new UsageError(`--${flag} takes for ${name} ${form}, ${range}, not ${goQuote(text)}`);
}

/** The shortest form of a size that `parseSize` reads. */
function sizeText(bytes: number): string {
  const units = ['', 'k', 'm', 'g', 't'];
  const power = units.findLastIndex((_, index) => bytes > 0 && bytes % 1024 ** index === 0);
  return power < 0 ? String(bytes) : `${bytes / 1024 ** power}${units[power]}`;
}
