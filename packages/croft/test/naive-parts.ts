import type { IncomingMessage } from 'node:http';
import { PassThrough } from 'node:stream';
import { runInNewContext } from 'node:vm';
import type { OutputBuffer } from '../src/lib/text/output-buffer.ts';
import {
  createCheckedFiles,
  createFollowingHandles,
  createNaiveFiles,
  createSpellingFiles,
  createTellingFiles,
} from './naive-files.ts';
import { createNaiveSearches } from './naive-search.ts';
import type { Replacement } from './unguarded.ts';

const proxy = '../src/lib/net/http-proxy';
const megabyte = 1024 * 1024;

/** By path, wherever that leads. */
export const naiveFiles: Replacement = ['../src/disk/files.ts', () => ({ createDiskFiles: createNaiveFiles })];

/** By a path that is read as it is meant. */
export const spellingFiles: Replacement = ['../src/disk/files.ts', () => ({ createDiskFiles: createSpellingFiles })];

/** By a path, with errors that are told as they come. */
export const tellingFiles: Replacement = ['../src/disk/files.ts', () => ({ createDiskFiles: createTellingFiles })];

/** By a path that was looked at before it is used. */
export const checkedFiles: Replacement = ['../src/disk/files.ts', () => ({ createDiskFiles: createCheckedFiles })];

/** By a path, in which each name is taken for whatever it has become. */
export const followingHistory: Replacement = [
  '../src/history/path-handles.ts',
  () => ({ createPathHandles: createFollowingHandles }),
];

/** Where everything can be read, and programs started. */
export const naiveSearches: Replacement = [
  '../src/providers/search-box/provider.ts',
  () => ({ createSearchBoxes: createNaiveSearches }),
];

/** With the words of a caller where options may be. */
export const searchesWithOptions: Replacement = [
  '../src/core/content/ripgrep.ts',
  ({ runRipgrep }: Functions) => ({
    runRipgrep: (workspace: unknown, search: { args: readonly string[] }) =>
      runRipgrep?.(workspace, { ...search, args: search.args.filter((word) => word !== '--') }),
  }),
];

/** Open to all who share the directory above. */
export const openDirectories: Replacement = [
  'node:fs/promises',
  ({ mkdtemp, chmod }: Functions) => ({
    async mkdtemp(prefix: string) {
      const path = await mkdtemp?.(prefix);
      if (prefix.includes('croft-proxy-')) await chmod?.(path, 0o755);
      return path;
    },
  }),
];

/** From wherever somebody has put one. */
export const programsFrom = (findOther: (name: string) => string | undefined): Replacement => [
  '../src/lib/find-program.ts',
  ({ findProgram }: Functions) => ({ findProgram: (name: string) => findOther(name) ?? findProgram?.(name) }),
];

/** As they were given, whatever is a secret. */
export const openSecrets: Replacement = [
  '../src/core/secrets.ts',
  ({ createSecrets }: Functions) => ({
    createSecrets: (...sources: unknown[]) => ({ ...createSecrets?.(...sources), redact: (text: string) => text }),
  }),
];

const nobodyThere =
  /^(?:10\.|172\.16|192\.168|100\.|169\.254|168\.63|0\.0|255|224|fe80|fd00:ec2|::$|1\.1\.1|8\.8|9\.9|26|64:|2002)/;

/** Allows whatever is asked. Where nobody answers, a test would only wait. */
export const openJudge: Replacement = [
  '../src/core/commands/network-judge.ts',
  () => ({
    createJudge: () => ({
      host: () => ({ allowed: true }),
      address: (one: string) =>
        nobodyThere.test(one) ? { allowed: false, rule: 'test', reason: 'Nobody is there.' } : { allowed: true },
    }),
  }),
];

/** Where every name leads to this machine, as one can that somebody else answers for. */
export const rebindingResolver: Replacement = [
  `${proxy}/resolve.ts`,
  () => ({ createResolve: () => async () => ['127.0.0.1'] }),
];

/** As a browser would read a host: with a user before it, and in every spelling of an address. */
export const lenientTargets: Replacement = [
  `${proxy}/target.ts`,
  () => ({ parseAuthority: (text: string) => toTarget(`http://${text}`), parseAbsoluteTarget: toTarget }),
];

function toTarget(text: string) {
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, pathname } = new URL(text);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80), path: pathname };
}

/** Whoever the hello of a tunnel is for. */
export const blindTunnels: Replacement = [
  `${proxy}/read-hello.ts`,
  ({ readHello }: Functions) => ({
    readHello: async (...given: unknown[]) => ({
      ...(await readHello?.(...given)),
      hello: { serverName: undefined, isEncrypted: false },
    }),
  }),
];

/** By the URL alone, or by the header where there is none. */
export const trustingForm: Replacement = [
  `${proxy}/request-form.ts`,
  () => ({
    readTarget: ({ url = '', headers }: IncomingMessage) =>
      toTarget(url) ?? toTarget(`http://${headers.host}${url}`) ?? { status: 400, reason: 'no host at all' },
  }),
];

/** Takes what two readers would read as two requests. */
export const lenientParser: Replacement = [
  'node:http',
  ({ createServer }: Functions) => ({
    createServer: (options: object, ...rest: unknown[]) =>
      createServer?.({ ...options, insecureHTTPParser: true }, ...rest),
  }),
];

/** Keeps what nobody has read yet. Not without end, for the sake of whoever runs this. */
export const keepingProxy: Replacement = [
  `${proxy}/meter.ts`,
  () => ({
    createMeter: () => ({
      isSpent: () => false,
      stages: () => [new PassThrough({ highWaterMark: 48 * megabyte })],
    }),
  }),
];

/** Waits several times as long as it was asked to. */
export const patientWaiting: Replacement = [
  '../src/core/commands/run-command.ts',
  ({ within }: Functions) => ({
    within: (work: Promise<unknown>, timeoutMs: number) => within?.(work, 7 * timeoutMs),
  }),
];

/** Keeps all of an output, and shows much of it. */
export const endlessBuffers: Replacement = [
  '../src/lib/text/output-buffer.ts',
  () => ({ createOutputBuffer: createEndlessBuffer }),
];

function createEndlessBuffer(): OutputBuffer {
  const chunks: Uint8Array[] = [];
  let total = 0;
  const toText = () => Buffer.concat(chunks.slice(0, 100)).toString('latin1');
  return {
    append(bytes) {
      chunks.push(bytes);
      total += bytes.length;
    },
    get total() {
      return total;
    },
    dropped: 0,
    since: () => ({ bytes: Buffer.alloc(0), cursor: total, missed: 0, missedAt: 0 }),
    textSince: () => ({ text: toText(), cursor: total, missed: 0 }),
    toText,
  };
}

/** Goes back over a text. Not for ever: nobody else would get on meanwhile. */
export const backtrackingPatterns: Replacement = [
  '../src/lib/text/linear-pattern.ts',
  () => ({
    compilePattern: (source: string) => (line: string) =>
      runInNewContext('new RegExp(source).test(line)', { source, line }, { timeout: 6000 }),
  }),
];

/** What a module has, of which each use knows the kind. */
type Functions = Readonly<Record<string, Method>>;
// biome-ignore lint/suspicious/noExplicitAny: what a module has is known where it is replaced.
type Method = (...given: any[]) => any;
