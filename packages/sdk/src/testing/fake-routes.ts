import type { FakeCommands } from './fake-commands.ts';
import type { FakeState } from './fake-state.ts';

export interface FakeRequest {
  readonly state: FakeState;
  readonly commands: FakeCommands;
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly signal: AbortSignal;
  json(): Promise<Record<string, unknown>>;
  bytes(): Promise<Uint8Array<ArrayBuffer>>;
}

/** A value is answered as JSON. */
export type FakeHandler = (request: FakeRequest) => unknown;

export interface FakeRoute {
  readonly method: string;
  readonly pattern: URLPattern;
  readonly handle: FakeHandler;
}

/** `at` is an address such as `GET /v1/agents/:agentId`. */
export function route(at: string, handle: FakeHandler): FakeRoute {
  const [method = '', pathname = ''] = at.split(' ');
  return { method, pattern: new URLPattern({ pathname }), handle };
}
