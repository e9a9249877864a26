import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { namespaceOf } from '../../src/host/growth/namespace-processes.ts';
import { connectHttp, makeDirectory, startServer } from '../support/harness.ts';

const count = 500;
/** More than two cores can serve, so that the server is never what waits. */
const atOnce = 8;

test(`${count} sandboxes are open at once, share nothing, and leave nothing behind`, async () => {
  using directory = makeDirectory();
  await using server = await startServer(['--workspace', directory.path]);
  await using session = await connectHttp(server);
  const names = Array.from({ length: count }, (_, index) => `agent-${index}`);
  const run = async (name: string, command: string) => {
    const call = { name: 'bash', arguments: { command }, _meta: { 'croft/session': name } };
    return (await session.client.callTool(call)).structuredContent as
      | { exitCode?: number; output?: string }
      | undefined;
  };

  const written = await mapSome(names, (name) => run(name, `echo ${name} > /tmp/mine`));
  expect(written.filter((answer) => answer?.exitCode !== 0)).toEqual([]);
  const opened = programsBelow(server.child.pid);
  const namespaces = new Set(opened.flatMap(({ pid }) => namespaceOf(pid) ?? []));
  expect(namespaces.size).toBe(1 + count);

  const answers = await mapSome(names, (name) => run(name, 'cat /tmp/mine'));
  expect(answers.map((answer) => answer?.output)).toEqual(names.map((name) => `${name}\n`));
  // All were open all the time: none has been opened anew in the place of one that ended.
  expect(opened.filter((program) => !isRunning(program))).toEqual([]);

  const exited = once(server.child, 'exit');
  server.child.kill('SIGTERM');
  expect(await exited).toEqual([0, null]);
  await vi.waitFor(() => expect(opened.filter(isRunning)).toEqual([]));
});

interface Program {
  readonly pid: number;
  readonly parent: number;
  readonly name: string;
  readonly state: string;
  /** With the number it makes an identity: numbers are given out again. */
  readonly startedAt: string;
}

/** What a process has started, and what that has started, as far down as it goes. */
function programsBelow(pid: number | undefined): Program[] {
  const all = readdirSync('/proc').flatMap((name) => (/^\d+$/.test(name) ? (readProgram(Number(name)) ?? []) : []));
  const below = (parent: number | undefined): Program[] =>
    all.filter((program) => program.parent === parent).flatMap((program) => [program, ...below(program.pid)]);
  return below(pid);
}

function readProgram(pid: number): Program | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const [, name = '', rest = ''] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? [];
    const fields = rest.split(' ');
    return { pid, name, state: fields[0] ?? '', parent: Number(fields[1]), startedAt: fields[19] ?? '' };
  } catch {
    // It has ended since it was listed.
    return undefined;
  }
}

/** One that waits to be buried by its parent runs no more. */
function isRunning({ pid, startedAt }: Program): boolean {
  const now = readProgram(pid);
  return now?.startedAt === startedAt && now.state !== 'Z';
}

/** As `Promise.all` of a map, with a limit on how many are under way. */
async function mapSome<In, Out>(items: readonly In[], work: (item: In) => Promise<Out>): Promise<Out[]> {
  const results: Out[] = [];
  const left = items.entries();
  const worker = async () => {
    for (const [index, item] of left) results[index] = await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
