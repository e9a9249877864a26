import { randomUUID } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { copyFile, lstat, readFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { type App, type AppOptions, createApp, defaultSandbox, type HostOptions } from '../app.ts';
import type { Provider } from '../core/commands/sandbox.ts';
import type { Called, Ground, GroundOptions } from './escape.ts';
import { makeTree, removeTree } from './tree.ts';

export interface OpenGroundOptions extends GroundOptions {
  /** Opens the sandboxes, in place of the one that commands have. May want to know whom it serves. */
  readonly provider?: Provider | ((host: HostOptions) => Provider) | undefined;
  /** The program around the workspace, in place of the one that is on this machine as a whole. */
  readonly openApp?: OpenApp | undefined;
}

/** Opens the one workspace of the options. Where its programs see it is for this to say. */
export type OpenApp = (
  options: AppOptions,
) => Promise<Pick<App, 'toolbox' | 'newSession' | 'workspaces'> & AsyncDisposable>;

/** A ground as its keeper has it, who says for how long each call may go on. */
export interface OpenedGround
  extends Pick<Ground, 'workspace' | 'inside' | 'outside' | 'canary' | 'prober' | 'reopen'> {
  call(tool: string, input: Record<string, unknown>, signal: AbortSignal): Promise<Called>;
  /** What has happened to the canary. */
  findChanges(): Promise<string[]>;
  close(): Promise<void>;
}

const prober = join(import.meta.dirname, '../../native/build/croft-prober');
/** Of nobody on any machine. */
const strangerId = 60_417;

/** Makes a workspace with a canary beside it, and the program as it is around them. */
export async function openGround(options: OpenGroundOptions = {}): Promise<OpenedGround> {
  if (!existsSync(prober)) throw new Error('the prober of escapes is not there; run: npm run setup');
  const canary = `canary ${randomUUID()}`;
  const isRoot = process.getuid?.() === 0;
  const base = makeTree(
    join(realpathSync(tmpdir()), 'croft-escape-'),
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
      await removeTree(base);
    },
  };
}

function toAppOptions(workspace: string, options: OpenGroundOptions): AppOptions {
  const { network, limits, variables = {}, root, provider } = options;
  const host = { path: variables.PATH ?? '/usr/bin:/bin', home: homedir(), variables };
  return {
    workspaces: [{ name: 'workspace', path: workspace, ...(root !== undefined && { root }) }],
    readOnly: false,
    host,
    sandbox: { ...defaultSandbox, ...(network && { network }), limits: { ...defaultSandbox.limits, ...limits } },
    provider: typeof provider === 'function' ? provider(host) : provider,
    onWarning() {},
  };
}

async function callTool(result: ReturnType<ReturnType<typeof createApp>['toolbox']['call']>): Promise<Called> {
  try {
    const { text, structured } = await result;
    return { isError: false, text, structured };
  } catch (thrown) {
    const { code, message, details } = AppError.from(thrown);
    return { isError: true, text: `${code}: ${message}`, structured: { code, ...details } };
  }
}

/** Not the number of its links: a case may well make one to see whether it is followed. */
async function describeCanary(outside: string): Promise<string> {
  const file = join(outside, 'canary');
  try {
    const { ino, mode, uid, gid, mtimeMs } = await lstat(file);
    return [ino, mode, uid, gid, mtimeMs, await readFile(file, 'utf8')].join();
  } catch (thrown) {
    return String(thrown);
  }
}
