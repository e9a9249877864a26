import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { cases, croft, type Seen } from '../drivers/cases.ts';
import { type Dialect, startModel } from '../models/scripted-model.ts';

/** How one command-line agent is started. */
export interface Agent {
  readonly dialect: Dialect;
  /** Its name for `croft init`, which writes the entry of the server into its settings. */
  readonly client: string;
  /** Called with the address of the model. */
  prepare(model: string): {
    /** The agent's own settings, by path below the home directory. */
    readonly files?: Record<string, string>;
    readonly env?: Record<string, string>;
    readonly argv: readonly string[];
  };
}

const deadlineMs = 240_000;
const maxWords = 20_000;

/** Lets the agent make every call, and prints what its model was shown as one line of JSON. */
export async function runAgent({ client, dialect, prepare }: Agent): Promise<void> {
  const model = await startModel(dialect);
  const { argv, env, files = {} } = prepare(model.url);
  const home = process.env.HOME ?? '';
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  // The directory of the server is where the agent is started, as for a person. opencode takes it from PWD, as a shell sets it.
  const project = croft.args.at(-1) ?? '';
  initialize(client, project);
  const words = await runInGroup(argv, { ...process.env, ...env, PWD: project }, project);
  model.close();
  const missing = cases.filter(({ name }) => !model.seen.has(name)).map(({ name }) => name);
  if (missing.length > 0) process.stderr.write(`The agent answered no ${missing.join(', ')}. It said: ${words}\n`);
  const all: Seen[] = cases.map(({ name }) => ({ name, seen: model.seen.get(name), progress: 0 }));
  process.stdout.write(`${JSON.stringify([...all, { name: 'tools', seen: [...model.tools], progress: 0 }])}\n`);
}

function initialize(client: string, project: string): void {
  const { status, stderr } = spawnSync(croft.command, ['init', '--client', client, '--yes'], {
    cwd: project,
    encoding: 'utf8',
    timeout: 60_000,
  });
  if (status !== 0) throw new Error(`croft init --client ${client}: ${stderr}`);
}

/** Returns the last words of the program. Its group is killed at the end, at the deadline, and when we are told to stop. */
async function runInGroup(argv: readonly string[], env: NodeJS.ProcessEnv, cwd: string): Promise<string> {
  const [command = '', ...args] = argv;
  const child = spawn(command, args, { cwd, env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  const killGroup = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // The group is gone.
    }
  };
  let words = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      words = (words + chunk).slice(-maxWords);
    });
  const deadline = setTimeout(killGroup, deadlineMs);
  process.once('SIGTERM', () => {
    killGroup();
    process.exit(1);
  });
  try {
    await once(child, 'exit');
    return words;
  } finally {
    clearTimeout(deadline);
    killGroup();
    // A process that left the group may hold these open.
    child.stdout.destroy();
    child.stderr.destroy();
  }
}
