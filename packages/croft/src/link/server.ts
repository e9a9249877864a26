import { type RunnerHello, type RunnerWelcome, runnerLinkVersion } from '@croft/protocol';
import type { WebSocket } from 'ws';
import { createDrops } from './drops.ts';
import { createLinkTable, type LinkEntry, type ServedLink } from './link-table.ts';
import { refuse } from './refusal.ts';
import { checkEncrypted, type Knocking, readHello } from './server-greeting.ts';
import { createWebSocketWire } from './web-socket-wire.ts';
import type { Wire } from './wire.ts';

export interface LinkServerOptions<Who> {
  /** Who it is, by its token alone, and the key under which there is one link. Throws a `LinkRefusal`. */
  admit(knocking: Knocking & { readonly hello: RunnerHello }): Promise<Admitted<Who>>;
  /** A new link. One that is resumed is the same as before, and nobody is told. */
  onLink(who: Who, hello: RunnerHello, link: ServedLink): void;
  readonly graceMs: number;
  readonly heartbeatMs: number;
  /** Takes runners of other machines without TLS. */
  readonly allowsInsecure?: boolean;
  readonly capabilities?: readonly string[];
  readonly helloWithinMs?: number;
  /** Sockets that have not shown yet who they are. */
  readonly maxWaiting?: number;
  now(): Date;
}

export interface Admitted<Who> {
  readonly who: Who;
  readonly key: string;
}

/** The side that runners connect to. Sockets are given to it as they come. */
export function createLinkServer<Who>(options: LinkServerOptions<Who>) {
  const { allowsInsecure = false, helloWithinMs = 10_000, maxWaiting = 256 } = options;
  const table = createLinkTable(options);
  const waiting = new Set<WebSocket>();
  const drops = createDrops();
  let turns = 0;
  let isClosed = false;

  return {
    accept(socket: WebSocket, knocking: Knocking): void {
      socket.on('error', () => {});
      if (isClosed) {
        socket.terminate();
        return;
      }
      waiting.add(socket);
      makeRoom(waiting, maxWaiting);
      const turn = ++turns;
      greet(socket, knocking, turn)
        .catch((thrown) => refuse(socket, thrown))
        .finally(() => waiting.delete(socket));
    },
    /** At once, also for one that is about to enter. */
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

  async function greet(socket: WebSocket, knocking: Knocking, turn: number): Promise<void> {
    checkEncrypted(knocking, allowsInsecure);
    const hello = await readHello(socket, helloWithinMs);
    let isIn = false;
    while (!isIn) {
      isIn = await drops.around(async (isDropped) => {
        const admitted = await options.admit({ ...knocking, hello });
        // The answer may be of before: it is asked for again.
        if (isDropped(admitted.key)) return false;
        enter(socket, hello, admitted, turn);
        return true;
      });
    }
  }

  function enter(socket: WebSocket, hello: RunnerHello, { who, key }: Admitted<Who>, turn: number): void {
    // One that took its time, while the same runner came a second time.
    const isOvertaken = (table.get(key)?.turn ?? 0) > turn;
    if (isClosed || isOvertaken || socket.readyState !== socket.OPEN) {
      socket.terminate();
      return;
    }
    const known = table.resume(key, hello);
    const entry = known ?? table.begin(key);
    entry.turn = turn;
    if (!known) announce(who, hello, entry);
    socket.send(JSON.stringify(toWelcome(options, entry, known !== undefined)));
    entry.link.attach(createWire(options, socket, entry), known ? hello.received : 0);
  }

  function announce(who: Who, hello: RunnerHello, { link, served }: LinkEntry): void {
    try {
      options.onLink(who, hello, served);
    } catch (thrown) {
      link.lose('the server could not take it');
      throw thrown;
    }
  }
}

/** Who waits longest goes: a runner has said at once who it is, and those that say nothing keep nobody out. */
function makeRoom(waiting: Set<WebSocket>, max: number): void {
  const [oldest] = waiting;
  if (!oldest || waiting.size <= max) return;
  waiting.delete(oldest);
  oldest.terminate();
}

function createWire<Who>({ heartbeatMs, now }: LinkServerOptions<Who>, socket: WebSocket, entry: LinkEntry): Wire {
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
