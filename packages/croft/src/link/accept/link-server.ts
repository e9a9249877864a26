import { type RunnerHello, type RunnerWelcome, runnerLinkVersion } from '@croft/protocol';
import type { WebSocket } from 'ws';
import type { LinkWire } from '../transport/link-wire.ts';
import { createWebSocketWire } from '../transport/web-socket-wire.ts';
import { createDropsDuringAdmission } from './drops-during-admission.ts';
import { refuseConnection } from './link-refusal.ts';
import { createLinkTable, type LinkEntry, type ServedLink } from './link-table.ts';
import { checkEncrypted, type RunnerConnectionAttempt, readHello } from './read-hello.ts';
import { refuseRival } from './refuse-rival.ts';

export interface LinkServerOptions<Who> {
  /**
   * Identifies a runner by its token. Returns the key under which the runner has its one link. Throws a `LinkRefusal`.
   */
  admit(knocking: RunnerConnectionAttempt & { readonly hello: RunnerHello }): Promise<AdmittedRunner<Who>>;
  /** Called for every new link. Not called when a link is resumed. */
  onLink(who: Who, hello: RunnerHello, link: ServedLink): void;
  /** Another machine connected with the token of `who` while the first machine is online, and was refused. */
  onRival?(who: Who, knocking: RunnerConnectionAttempt): void;
  readonly graceMs: number;
  readonly heartbeatMs: number;
  /** Accepts runners of other machines without TLS. */
  readonly allowsInsecure?: boolean;
  readonly capabilities?: readonly string[];
  readonly helloWithinMs?: number;
  /** The most sockets that may wait to be identified. */
  readonly maxWaiting?: number;
  now(): Date;
}

interface AdmittedRunner<Who> {
  readonly who: Who;
  readonly key: string;
}

/** The server's side of all links. `accept` takes each WebSocket as it arrives. */
export function createLinkServer<Who>(options: LinkServerOptions<Who>) {
  const { allowsInsecure = false, helloWithinMs = 10_000, maxWaiting = 256 } = options;
  const table = createLinkTable(options);
  const waiting = new Set<WebSocket>();
  const drops = createDropsDuringAdmission();
  let turns = 0;
  let isClosed = false;

  return {
    accept(socket: WebSocket, knocking: RunnerConnectionAttempt): void {
      socket.on('error', () => {});
      if (isClosed) {
        socket.terminate();
        return;
      }
      waiting.add(socket);
      dropOldestWaiting(waiting, maxWaiting);
      const turn = ++turns;
      greet(socket, knocking, turn)
        .catch((thrown) => refuseConnection(socket, thrown))
        .finally(() => waiting.delete(socket));
    },
    /** Ends the link of this key at once, and also refuses a runner that is being identified just now. */
    drop(key: string, reason: string): void {
      drops.note(key);
      table.get(key)?.served.close(reason);
    },
    close(): void {
      isClosed = true;
      for (const socket of waiting) socket.terminate();
      for (const { served } of table.values()) served.close('the server is stopping');
    },
  };

  async function greet(socket: WebSocket, knocking: RunnerConnectionAttempt, turn: number): Promise<void> {
    checkEncrypted(knocking, allowsInsecure);
    const hello = await readHello(socket, helloWithinMs);
    let isIn = false;
    while (!isIn) {
      isIn = await drops.around(async (isDropped) => {
        const admitted = await options.admit({ ...knocking, hello });
        const onRival = () => options.onRival?.(admitted.who, knocking);
        await refuseRival(() => table.rivalOf(admitted.key, hello), { onRival, heartbeatMs: options.heartbeatMs });
        // Starts again if the token was dropped since `admit`, or two machines passed the check at once.
        if (isDropped(admitted.key) || table.rivalOf(admitted.key, hello)) return false;
        enter(socket, hello, admitted, turn);
        return true;
      });
    }
  }

  function enter(socket: WebSocket, hello: RunnerHello, { who, key }: AdmittedRunner<Who>, turn: number): void {
    // The same runner connected a second time while this connection was being identified.
    const isOvertaken = (table.get(key)?.turn ?? 0) > turn;
    if (isClosed || isOvertaken || socket.readyState !== socket.OPEN) {
      socket.terminate();
      return;
    }
    const known = table.resume(key, hello);
    const entry = known ?? table.begin(key, hello);
    entry.turn = turn;
    if (!known) announce(who, hello, entry);
    socket.send(JSON.stringify(toWelcome(options, entry, known !== undefined)));
    entry.link.attach(createWire(options, socket, entry), known ? hello.received : 0);
  }

  function announce(who: Who, hello: RunnerHello, { link, served }: LinkEntry): void {
    try {
      options.onLink(who, hello, served);
    } catch (thrown) {
      link.lose('the server could not accept the link');
      throw thrown;
    }
  }
}

/** Drops the socket that waits longest: runners identify themselves at once, so that silent sockets keep nobody out. */
function dropOldestWaiting(waiting: Set<WebSocket>, max: number): void {
  const [oldest] = waiting;
  if (!oldest || waiting.size <= max) return;
  waiting.delete(oldest);
  oldest.terminate();
}

function createWire<Who>({ heartbeatMs, now }: LinkServerOptions<Who>, socket: WebSocket, entry: LinkEntry): LinkWire {
  const onSeen = () => {
    entry.seenAt = now();
  };
  onSeen();
  return createWebSocketWire(socket, { heartbeatMs, onSeen });
}

function toWelcome<Who>(options: LinkServerOptions<Who>, { id, link }: LinkEntry, resumed: boolean): RunnerWelcome {
  const { graceMs, heartbeatMs, capabilities = [] } = options;
  return {
    ...{ type: 'welcome', version: runnerLinkVersion, capabilities: [...capabilities] },
    ...{ link: id, resumed, received: link.received, graceMs, heartbeatMs },
  };
}
