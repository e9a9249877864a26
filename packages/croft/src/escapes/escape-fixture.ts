import { randomUUID } from 'node:crypto';
import { copyFile, lstat, readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { type App, type AppOptions, createApp, defaultSandboxOptions, type HostOptions } from '../app/app.ts';
import type { Provider } from '../core/commands/sandbox.ts';
import { makeTemporaryDirectory, removeTemporaryDirectory } from '../lib/files/temporary-directory.ts';
import { describeNativeFix, findNativeFile, isIntact } from '../lib/processes/native-files.ts';
import type { CalledTool, EscapeFixture, EscapeFixtureOptions } from './escape.ts';
import { makeOwnedTree, removeOwnedTree } from './make-owned-tree.ts';

export interface OpenFixtureOptions extends EscapeFixtureOptions {
  /** Opens the sandboxes instead of the default provider. A function gets the host options. */
  readonly provider?: Provider | ((host: HostOptions) => Provider) | undefined;
  /** Opens the app around the workspace. By default the whole app runs on this machine. */
  readonly openApp?: OpenApp | undefined;
}

/** Opens an app with the one workspace of the options. It decides at which path programs see the workspace. */
export type OpenApp = (
  options: AppOptions,
) => Promise<Pick<App, 'toolbox' | 'newSession' | 'workspaces'> & AsyncDisposable>;

/** A fixture as its owner sees it: the owner passes a signal with every call. */
export interface OpenedFixture
  extends Pick<EscapeFixture, 'workspace' | 'inside' | 'outside' | 'canary' | 'prober' | 'reopen'> {
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<CalledTool>;
  /** Describes how the canary changed since the start. */
  findChanges(): Promise<string[]>;
  close(): Promise<void>;
}

/** A uid that no user of the machine has. */
const strangerId = 60_417;

/** Creates a workspace with a canary beside it, and opens the app around it. */
export async function openFixture(options: OpenFixtureOptions = {}): Promise<OpenedFixture> {
  const prober = findProber();
  const canary = `canary ${randomUUID()}`;
  const isRoot = process.getuid?.() === 0;
  const base = makeOwnedTree(
    makeTemporaryDirectory('escape'),
    { workspace: options.tree ?? {}, outside: { canary: `${canary}\n` } },
    isRoot && options.owner !== 'server' ? strangerId : undefined,
  );
  const [workspace, outside] = [join(base, 'workspace'), join(base, 'outside')];
  await copyFile(prober, join(workspace, 'prober'));
  const before = await describeCanary(outside);
  const { openApp = async (given) => createApp(given) } = options;
  const data = options.keepsHistory ? join(base, 'data') : undefined;
  const app = await openApp({ ...toAppOptions(workspace, options), data });
  let session = app.newSession(randomUUID());
  const inside = app.workspaces.first().root;

  return {
    ...{ workspace, inside, outside, canary, prober: join(inside, 'prober') },
    call: (tool, input, signal) => callTool(app.toolbox.call(tool, input, { session, signal })),
    async reopen() {
      await session.close();
      session = app.newSession(randomUUID());
    },
    async findChanges() {
      const now = await describeCanary(outside);
      return now === before ? [] : ['the canary is not as it was'];
    },
    async close() {
      await session.close();
      await app[Symbol.asyncDispose]();
      await removeOwnedTree(base);
      removeTemporaryDirectory(base);
    },
  };
}

function findProber(): string {
  const found = findNativeFile('croft-prober');
  if (found !== undefined && isIntact(found)) return found.file;
  throw new Error(`the prober of escapes is missing or changed; run: ${describeNativeFix()}`);
}

function toAppOptions(workspace: string, options: OpenFixtureOptions): AppOptions {
  const { network, limits, variables = {}, root, provider } = options;
  const host = { path: variables.PATH ?? '/usr/bin:/bin', home: homedir(), variables };
  return {
    workspaces: [{ name: 'workspace', path: workspace, ...(root !== undefined && { root }) }],
    readOnly: false,
    host,
    sandbox: {
      ...defaultSandboxOptions,
      ...(network && { network }),
      limits: { ...defaultSandboxOptions.limits, ...limits },
    },
    provider: typeof provider === 'function' ? provider(host) : provider,
    onWarning() {},
  };
}

async function callTool(result: ReturnType<ReturnType<typeof createApp>['toolbox']['call']>): Promise<CalledTool> {
  try {
    const { text, structured } = await result;
    return { isError: false, text, structured };
  } catch (thrown) {
    const { code, message, details } = AppError.from(thrown);
    return { isError: true, text: `${code}: ${message}`, structured: { code, ...details } };
  }
}

/** Leaves out the link count: an escape may create a hard link to see whether it is followed. */
async function describeCanary(outside: string): Promise<string> {
  const file = join(outside, 'canary');
  try {
    const { ino, mode, uid, gid, mtimeMs } = await lstat(file);
    return [ino, mode, uid, gid, mtimeMs, await readFile(file, 'utf8')].join();
  } catch (thrown) {
    return String(thrown);
  }
}
