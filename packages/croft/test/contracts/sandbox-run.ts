import { randomBytes } from 'node:crypto';
import { text } from 'node:stream/consumers';
import type { CommandSpec, RunningProgram, Sandbox } from '../../src/core/commands/sandbox.ts';

export interface OpenedSandbox {
  readonly sandbox: Sandbox;
  /** Path of the workspace on this machine. */
  readonly directory: string;
  /** Variables that it sets in addition to those of every sandbox. */
  readonly variables?: readonly string[];
}

type Argv = CommandSpec['argv'];
type Options = Partial<Omit<CommandSpec, 'argv'>>;

export const waiting = { interval: 10 };
const minute = 60;

export function startIn(sandbox: Sandbox, argv: Argv, options: Options = {}): RunningProgram {
  return sandbox.start({ argv, signal: new AbortController().signal, ...options });
}

/** Runs a program to its end. */
export async function runIn(sandbox: Sandbox, argv: Argv, options: Options = {}) {
  const running = startIn(sandbox, argv, options);
  const [stdout, stderr, exit] = await Promise.all([text(running.stdout), text(running.stderr), running.exit]);
  return { stdout, stderr, code: exit.code, signal: exit.signal, usage: exit.usage };
}

export const shellIn = (sandbox: Sandbox, script: string, options: Options = {}) =>
  runIn(sandbox, ['/bin/sh', '-c', script], options);

/** Lists the command lines of all processes in a sandbox. */
export async function listCommands(sandbox: Sandbox): Promise<string[]> {
  const { stdout } = await shellIn(sandbox, 'for file in /proc/[0-9]*/cmdline; do cat $file; echo; done 2>/dev/null');
  return stdout.split('\n').map((line) => line.replaceAll('\0', ' ').trimEnd());
}

/** A number of seconds that no other test sleeps for, so that the process can be found by it. */
export function uniqueSeconds(): string {
  return String(10 * minute + randomBytes(4).readUInt32LE() / 2 ** 32);
}

/** Limits the wait for an end that a bug would delay forever. */
export async function within<T>(promise: Promise<T>, ms = 60_000): Promise<T | 'not in time'> {
  const late = Promise.withResolvers<'not in time'>();
  const timer = setTimeout(() => late.resolve('not in time'), ms);
  return Promise.race([promise, late.promise]).finally(() => clearTimeout(timer));
}
