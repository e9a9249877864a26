import { spawn } from 'node:child_process';

/** The command that every side runs. */
export const command = ['bash', '-c', 'true'] as const;

/** Starts a program with Node, without a sandbox. */
export function bareSpawn(): Promise<void> {
  return toEnd(command);
}

/** Starts bubblewrap by hand: a new sandbox for one command, without limits and filter. */
export function bareSandbox(path: string): Promise<void> {
  const fence = [
    ...['--unshare-all', '--ro-bind', '/usr', '/usr'],
    ...['bin', 'lib', 'lib64'].flatMap((name) => ['--symlink', `usr/${name}`, `/${name}`]),
    ...['--proc', '/proc', '--dev', '/dev', '--tmpfs', '/tmp', '--bind', path, '/workspace'],
  ];
  return toEnd(['bwrap', ...fence, '--', ...command]);
}

/** Runs a program. Throws with its output if it fails. `shell` takes the first word for a command line. */
export function toEnd([program, ...args]: readonly [string, ...string[]], { shell = false } = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { shell, stdio: ['ignore', 'pipe', 'pipe'] });
    let words = '';
    child.stdout.resume();
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      words = (words + chunk).slice(-2000);
    });
    child.once('error', reject);
    child.once('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${program.slice(0, 40)} ended with ${code}: ${words.trim()}`)),
    );
  });
}
