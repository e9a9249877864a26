import type { McpServer } from '@croft/protocol';
import { checkRuntimes } from '../core/commands/command-settings.ts';
import type { Sandbox } from '../core/commands/sandbox.ts';
import type { Emit } from '../core/events/emitter.ts';
import type { Secrets } from '../core/secrets/secrets.ts';
import type { Session } from '../core/sessions/session.ts';
import type { Workspace } from '../core/workspace/workspace.ts';
import { createInnerServer, type InnerServer } from './inner-server.ts';
import { toLaunch } from './server-definitions.ts';

/** A server by name, with the workspace and session it is to run in. */
export interface WantedServer {
  readonly name: string;
  readonly server: McpServer;
  readonly workspace: Workspace;
  readonly session: Session;
}

export interface ServerPoolOptions {
  readonly secrets: Pick<Secrets, 'get' | 'redact'>;
  readonly emit: Emit;
}

interface Entry {
  readonly definition: string;
  readonly server: InnerServer;
}

export type ServerPool = ReturnType<typeof createServerPool>;

/** The running servers. Each runs in the sandbox of one session and ends with that sandbox. */
export function createServerPool({ secrets, emit }: ServerPoolOptions) {
  // A sandbox is passed on in several wrappers. The promise `closed` is the same in all of them, so it is the key.
  const bySandbox = new WeakMap<Promise<void>, Map<string, Entry>>();

  return {
    tell,
    /** Calls `work` with the server and keeps its sandbox open until `work` ends. */
    use: <T>(wanted: WantedServer, work: (server: InnerServer, sandbox: Sandbox) => Promise<T>): Promise<T> =>
      wanted.session.sandboxes.use(wanted.workspace.name, (sandbox) => work(find(sandbox, wanted), sandbox)),
  };

  function find(sandbox: Sandbox, wanted: WantedServer): InnerServer {
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

  function create(sandbox: Sandbox, { name, server, workspace, session }: WantedServer): InnerServer {
    return createInnerServer({
      ...{ name, sandbox, only: server.tools && new Set(server.tools) },
      launch() {
        checkRuntimes(server.command, workspace.commands ?? {});
        return toLaunch(server, sandbox, (secret) => {
          session.given.add(secret.toLowerCase());
          return secrets.get(secret, workspace.name);
        });
      },
      tell: (state, words) => tell({ workspace, session }, name, state, words),
    });
  }

  function tell(
    { workspace, session }: Pick<WantedServer, 'workspace' | 'session'>,
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
