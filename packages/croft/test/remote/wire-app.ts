import type { ChildProcess } from 'node:child_process';
import { AppError, type ErrorCode } from '@croft/protocol';
import type { AppOptions } from '../../src/app/app.ts';
import type { Session } from '../../src/core/sessions/session.ts';
import type { OpenApp } from '../../src/escapes/escape-fixture.ts';
import type { LinkEndpoint } from './link-endpoint.ts';
import { openServerOf, startRunnerOf } from './remote-app.ts';

/**
 * The server runs in one process and the escapes in another one, where the runner, the canary and the listeners must
 * be. The calls of an agent go between them, beside the link.
 */

type Method = 'expect' | 'open' | 'session' | 'call' | 'end' | 'close';
interface Question {
  readonly id: number;
  readonly method: Method | 'abort';
  readonly app: number;
  readonly given?: unknown;
}
interface Answer {
  readonly id: number;
  readonly value?: unknown;
  readonly error?: { readonly code: ErrorCode; readonly message: string; readonly details: Record<string, unknown> };
}
interface Call {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly session: string;
}

/** The server's end. Answers as long as the child asks. */
export function serveApps(child: ChildProcess, endpoint: LinkEndpoint, nothing: string): void {
  const expected: Awaited<ReturnType<LinkEndpoint['expect']>>[] = [];
  const apps = new Map<number, Awaited<ReturnType<OpenApp>>>();
  const sessions = new Map<unknown, Session>();
  const stops = new Map<number, AbortController>();
  const appOf = (app: number) => apps.get(app) as Awaited<ReturnType<OpenApp>>;

  const methods: Record<Method, (app: number, given: unknown, id: number) => Promise<unknown>> = {
    async expect(app) {
      const next = endpoint.expect();
      expected[app] = next;
      return { url: endpoint.url, token: next.token };
    },
    async open(app, given) {
      const options = { ...(given as AppOptions), onWarning() {} };
      const peer = await expected[app]?.peer;
      if (!peer) throw new Error('nobody was expected');
      const opened = await openServerOf(options, peer, nothing);
      apps.set(app, opened);
      return opened.workspaces.first().root;
    },
    session: async (app, given) => void sessions.set(given, appOf(app).newSession(String(given))),
    async call(app, given, id) {
      const { tool, input, session } = given as Call;
      const stop = new AbortController();
      stops.set(id, stop);
      const options = { session: sessions.get(session) as Session, signal: stop.signal };
      const { text, structured } = await appOf(app).toolbox.call(tool, input, options);
      return { text, structured };
    },
    end: async (_, given) => sessions.get(given)?.close(),
    close: async (app) => appOf(app)[Symbol.asyncDispose](),
  };

  child.on('message', async ({ id, method, app, given }: Question) => {
    if (method === 'abort') return void stops.get(id)?.abort();
    if (!(method in methods)) return;
    const answer = await methods[method](app, given, id).then(
      (value): Answer => ({ id, value }),
      (thrown): Answer => ({ id, error: toError(thrown) }),
    );
    stops.delete(id);
    if (child.connected) child.send(answer);
  });
}

function toError(thrown: unknown): NonNullable<Answer['error']> {
  const { code, message, details } = AppError.from(thrown);
  return { code, message, details };
}

/** The end of the escapes, whose apps are at the other end. */
export function createWireApps(): { readonly openApp: OpenApp } {
  const waiting = new Map<number, PromiseWithResolvers<unknown>>();
  let [nextId, nextApp] = [0, 0];
  process.on('message', ({ id, value, error }: Answer) => {
    if (error) waiting.get(id)?.reject(new AppError(error.code, error.message, { details: error.details }));
    else waiting.get(id)?.resolve(value);
    waiting.delete(id);
  });

  function ask<T>(app: number, method: Method, given?: unknown, signal?: AbortSignal): Promise<T> {
    const id = nextId++;
    const answer = Promise.withResolvers<unknown>();
    waiting.set(id, answer);
    process.send?.({ id, method, app, given });
    signal?.addEventListener('abort', () => process.send?.({ id, method: 'abort', app }), { once: true });
    return answer.promise as Promise<T>;
  }

  return {
    async openApp({ onWarning, provider: _, ...options }) {
      const app = nextApp++;
      const address = await ask<{ url: string; token: string }>(app, 'expect');
      const runner = startRunnerOf({ ...options, onWarning }, { ...address, isInsecure: true });
      const root = await ask<string>(app, 'open', options);
      const toSession = (id: string) => ({ id, close: () => ask(app, 'end', id) });
      return {
        workspaces: { first: () => ({ root }) },
        newSession(id: string) {
          void ask(app, 'session', id);
          return toSession(id);
        },
        toolbox: {
          call: (tool: string, input: unknown, { session, signal }: { session: Session; signal: AbortSignal }) =>
            ask(app, 'call', { tool, input, session: session.id }, signal),
        },
        async [Symbol.asyncDispose]() {
          await ask(app, 'close');
          await runner[Symbol.asyncDispose]();
        },
        // The part of an app that a fixture uses.
      } as unknown as Awaited<ReturnType<OpenApp>>;
    },
  };
}
