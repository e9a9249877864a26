import type { McpServer } from '@croft/protocol';
import { checkRuntimes } from '../core/commands/runtimes.ts';
import type { Sandbox } from '../core/commands/sandbox.ts';
import type { Emit } from '../core/events.ts';
import type { Secrets } from '../core/secrets.ts';
import type { Session } from '../core/session.ts';
import type { Workspace } from '../core/workspace.ts';
import { toLaunch } from './definitions.ts';
import { createInnerServer, type InnerServer } from './inner-server.ts';

/** A server by its name, where it is wanted. */
export interface Wanted {
  readonly name: string;
  readonly server: McpServer;
  readonly workspace: Workspace;
  readonly session: Session;
}

export interface ServerPoolOptions {
  readonly secrets: Secrets;
  readonly emit: Emit;
}

interface Entry {
  readonly definition: string;
  readonly server: InnerServer;
}

export type ServerPool = ReturnType<typeof createServerPool>;

/** The servers that run, each in the sandbox of one session. They end with it. */
export function createServerPool({ secrets, emit }: ServerPoolOptions) {
  // A sandbox is handed out in many guises, and is known by when it ends.
  const bySandbox = new WeakMap<Promise<void>, Map<string, Entry>>();

  return {
    tell,
    /** `work` with the server, whose sandbox stays open meanwhile. */
    use: <T>(wanted: Wanted, work: (server: InnerServer, sandbox: Sandbox) => Promise<T>): Promise<T> =>
      wanted.session.sandboxes.use(wanted.workspace.name, (sandbox) => work(find(sandbox, wanted), sandbox)),
  };

  function find(sandbox: Sandbox, wanted: Wanted): InnerServer {
    const servers = bySandbox.get(sandbox.closed) ?? new Map<string, Entry>();
    bySandbox.set(sandbox.closed, servers);
    const definition = JSON.stringify(wanted.server);
    const known = servers.get(wanted.name);
    if (known?.definition === definition) return known.server;
    known?.server.close();
    const server = create(sandbox, wanted);
    servers.set(wanted.name, { definition, server });
    return server;
  }

  function create(sandbox: Sandbox, { name, server, workspace, session }: Wanted): InnerServer {
    return createInnerServer({
      ...{ name, sandbox, only: server.tools && new Set(server.tools) },
      launch() {
        checkRuntimes(server.command, workspace.commands ?? {});
        return toLaunch(server, sandbox, (secret) => secrets.get(secret, workspace.name));
      },
      tell: (state, words) => tell({ workspace, session }, name, state, words),
    });
  }

  function tell(
    { workspace, session }: Pick<Wanted, 'workspace' | 'session'>,
    server: string,
    state: string,
    words: string,
  ) {
    emit('lifecycle.mcp.server', () => ({
      ...{ workspace: workspace.name, session: session.id, server, state },
      ...(words !== '' && { reason: secrets.redact(words) }),
    }));
  }
}
