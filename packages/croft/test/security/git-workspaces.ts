import { join } from 'node:path';
import { connectStdio, type McpSession, makeDirectory } from '../support/harness.ts';
import { createActor } from './git-canary-actor.ts';
import { evilFiles, type Person, writeFiles } from './git-canary-fixture.ts';

interface Options {
  /** Number of workspaces. */
  readonly count: number;
  readonly flags?: readonly string[];
  /** Script that the user runs in the repository before it is copied. */
  readonly prepare?: string;
}

/** Opens copies of the user's repository, each a workspace of one server: a server per test would take too long. */
export async function openWorkspaces(person: Person, { count, flags = [], prepare = 'true' }: Options) {
  const root = makeDirectory();
  const names = Array.from({ length: count }, (_, index) => `w${index}`);
  const first = root.at('first');
  person.copyRepository(first);
  person.shell(first, prepare);
  person.shell(root.path, names.map((name) => `cp -a first ${name}`).join('\n'));
  for (const name of names) writeFiles(root.at(name), evilFiles(root.at(name)));
  const spec = names.map((name) => `${name}=${root.at(name)}`).join(',');
  const session = await connectStdio([...flags, '--workspaces', spec]);
  return {
    take: () => enter(session, person, names.shift() ?? 'none is left', root.path),
    async [Symbol.asyncDispose]() {
      await session[Symbol.asyncDispose]();
      root[Symbol.dispose]();
    },
  };
}

function enter(session: McpSession, person: Person, workspace: string, directory: string) {
  const top = join(directory, workspace);
  return {
    top,
    at: (name: string) => join(top, name),
    call: (name: string, args: Record<string, unknown>, options?: { timeout: number }) =>
      session.call(name, { workspace, ...args }, options),
    session,
    workspace,
    ...createActor({ session, person, workspace, top }),
  };
}

export type Workspaces = Awaited<ReturnType<typeof openWorkspaces>>;
