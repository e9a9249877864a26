import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { runInNewContext } from 'node:vm';
import type { OutputBuffer } from '../../../src/lib/text/lines/output-buffer.ts';
import type { Replacement } from './load-unguarded-escapes.ts';
import {
  createCheckedFiles,
  createFollowingHandles,
  createNaiveFiles,
  createSpellingFiles,
  createTellingFiles,
} from './naive-files.ts';
import { createNaiveSearches } from './naive-search.ts';

const proxy = '../../../src/lib/net/http-proxy';
const megabyte = 1024 * 1024;

/** Files by path, wherever it leads. */
export const naiveFiles: Replacement = [
  '../../../src/disk/disk-files.ts',
  () => ({ createDiskFiles: createNaiveFiles }),
];

/** Files that decode paths first. */
export const spellingFiles: Replacement = [
  '../../../src/disk/disk-files.ts',
  () => ({ createDiskFiles: createSpellingFiles }),
];

/** Files that pass errors on unchanged. */
export const tellingFiles: Replacement = [
  '../../../src/disk/disk-files.ts',
  () => ({ createDiskFiles: createTellingFiles }),
];

/** Files that check a path before they use it. */
export const checkedFiles: Replacement = [
  '../../../src/disk/disk-files.ts',
  () => ({ createDiskFiles: createCheckedFiles }),
];

/** History that follows links in paths. */
export const followingHistory: Replacement = [
  '../../../src/history/files/directory-fds.ts',
  () => ({ createDirectoryFds: createFollowingHandles }),
];

/** Searches without a sandbox. */
export const naiveSearches: Replacement = [
  '../../../src/providers/search-box/provider.ts',
  () => ({ createSearchBoxes: createNaiveSearches }),
];

/** Searches that accept options in a pattern. */
export const searchesWithOptions: Replacement = [
  '../../../src/core/content/search/ripgrep.ts',
  ({ runRipgrep }: Functions) => ({
    runRipgrep: (workspace: unknown, search: { args: readonly string[] }) =>
      runRipgrep?.(workspace, { ...search, args: search.args.filter((word) => word !== '--') }),
  }),
];

/** Temporary directories with a well-known name, open to all. */
export const openDirectories: Replacement = [
  '../../../src/lib/files/temporary-directory.ts',
  () => ({
    makeTemporaryDirectory(purpose: string, temporary = tmpdir()) {
      const path = mkdtempSync(join(makeNaiveBase(temporary), `${purpose}-${process.pid}-`));
      chmodSync(path, 0o755);
      return path;
    },
    allowGroupToTraverse: (path: string) => chmodSync(path, 0o755),
    removeTemporaryDirectory: (path: string) => rmSync(path, { recursive: true, force: true }),
    findCacheDirectory: (name: string, temporary = tmpdir()) => join(makeNaiveBase(temporary), name),
  }),
];

function makeNaiveBase(temporary: string): string {
  const path = join(temporary, `croft-${process.geteuid?.()}`);
  mkdirSync(path, { recursive: true });
  return path;
}

/** Programs found wherever somebody put them. */
export const programsFrom = (findOther: (name: string) => string | undefined): Replacement => [
  '../../../src/lib/processes/find-program.ts',
  ({ findProgram }: Functions) => ({ findProgram: (name: string) => findOther(name) ?? findProgram?.(name) }),
];

/** No redaction of secrets. */
export const openSecrets: Replacement = [
  '../../../src/core/secrets/secrets.ts',
  ({ createSecrets }: Functions) => ({
    createSecrets: (...sources: unknown[]) => ({ ...createSecrets?.(...sources), redact: (text: string) => text }),
  }),
];

const unroutable =
  /^(?:10\.|172\.16|192\.168|100\.|169\.254|168\.63|0\.0|255|224|fe80|fd00:ec2|::$|1\.1\.1|8\.8|9\.9|26|64:|2002)/;

/** A network judge that allows everything. Unroutable addresses are left out, because a test would only wait. */
export const openJudge: Replacement = [
  '../../../src/core/commands/network-judge.ts',
  () => ({
    createNetworkJudge: () => ({
      host: () => ({ allowed: true }),
      address: (one: string) =>
        unroutable.test(one) ? { allowed: false, rule: 'test', reason: 'Nobody is there.' } : { allowed: true },
    }),
  }),
];

/** A resolver for which every name leads to this machine, as in a DNS rebinding attack. */
export const rebindingResolver: Replacement = [
  `${proxy}/resolve-host.ts`,
  () => ({ createHostResolver: () => async () => ['127.0.0.1'] }),
];

/** Parses hosts as a browser does: with a user before them, and in every spelling of an address. */
export const lenientTargets: Replacement = [
  `${proxy}/proxy-target.ts`,
  () => ({ parseAuthority: (text: string) => toTarget(`http://${text}`), parseAbsoluteTarget: toTarget }),
];

function toTarget(text: string) {
  if (!URL.canParse(text)) return undefined;
  const { hostname, port, pathname } = new URL(text);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80), path: pathname };
}

/** Tunnels that do not check the TLS hello. */
export const blindTunnels: Replacement = [
  `${proxy}/read-client-hello.ts`,
  ({ readClientHello }: Functions) => ({
    readClientHello: async (...given: unknown[]) => ({
      ...(await readClientHello?.(...given)),
      hello: { serverName: undefined, isEncrypted: false },
    }),
  }),
];

/** Takes the host from the URL alone, or from the header if there is no URL. */
export const trustingForm: Replacement = [
  `${proxy}/read-request-target.ts`,
  () => ({
    readRequestTarget: ({ url = '', headers }: IncomingMessage) =>
      toTarget(url) ?? toTarget(`http://${headers.host}${url}`) ?? { status: 400, reason: 'no host at all' },
  }),
];

/** A parser that accepts requests which two readers read as two requests. */
export const lenientParser: Replacement = [
  'node:http',
  ({ createServer }: Functions) => ({
    createServer: (options: object, ...rest: unknown[]) =>
      createServer?.({ ...options, insecureHTTPParser: true }, ...rest),
  }),
];

/** A proxy that buffers unread data, up to a limit that is safe for the machine. */
export const keepingProxy: Replacement = [
  `${proxy}/byte-meter.ts`,
  () => ({
    createByteMeter: () => ({
      isSpent: () => false,
      stages: () => [new PassThrough({ highWaterMark: 48 * megabyte })],
    }),
  }),
];

/** Waits several times as long as asked. */
export const patientWaiting: Replacement = [
  '../../../src/core/commands/run-command.ts',
  ({ resultWithin }: Functions) => ({
    resultWithin: (work: Promise<unknown>, timeoutMs: number) => resultWithin?.(work, 7 * timeoutMs),
  }),
];

/** Keeps all output and shows much of it. */
export const endlessBuffers: Replacement = [
  '../../../src/lib/text/lines/output-buffer.ts',
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

/** Backtracking patterns, with a limit so that others can go on. */
export const backtrackingPatterns: Replacement = [
  '../../../src/lib/text/patterns/linear-pattern.ts',
  () => ({
    compileLinearPattern: (source: string) => (line: string) => {
      try {
        return runInNewContext('new RegExp(source).test(line)', { source, line }, { timeout: 6000 });
      } catch {
        return false;
      }
    },
  }),
];

/** The functions of a module; each use knows their types. */
type Functions = Readonly<Record<string, Method>>;
// biome-ignore lint/suspicious/noExplicitAny: what a module has is known where it is replaced.
type Method = (...given: any[]) => any;
