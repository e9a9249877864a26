import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type Case, cases } from '../drivers/cases.ts';

/** One turn of the model: a call of a tool, a search for tools, or the words that end the conversation. */
export type Turn =
  | { readonly id: string; readonly tool: string; readonly input: Record<string, unknown> }
  | { readonly search: string }
  | { readonly say: string };

/** A request for the next turn. */
export interface Conversation {
  /** The tools that the agent offers, by the names that the agent gives them. */
  readonly tools: readonly string[];
  /** The agent hides tools of MCP servers until the model searches for them. */
  readonly canSearch?: boolean;
  /** Everything that the agent added after each call of a tool of ours, oldest first. */
  readonly added: readonly unknown[];
}

/** The part of one model API that an agent needs. */
export interface Dialect {
  /** Returns `undefined` for a request that asks for no turn, such as a list of models. */
  readConversation(path: string, body: Json): Conversation | undefined;
  writeTurn(turn: Turn, path: string, body: Json): Reply;
  /** Answers every other request. Without it they get an empty object. */
  answerOther?(path: string, body: Json): Json;
}

export interface Reply {
  readonly type: string;
  readonly body: string;
}

// biome-ignore lint/suspicious/noExplicitAny: requests come in four shapes, and a wrong one fails the test.
export type Json = any;

/** Agents put the name of the server before the names of its tools. */
const ownName = /^(?:mcp_+)?croft(?:__|_|\.)/;
const maxBodyBytes = 32 * 2 ** 20;
/** An agent that goes on asking without an answer to our call is stopped. */
const maxTurns = 10 * cases.length;

/** A server on loopback that plays the model: it asks for each case in turn and keeps what the agent answers. */
export async function startModel(dialect: Dialect) {
  const seen = new Map<Case['name'], unknown>();
  const tools = new Set<string>();
  let turns = 0;
  const server = createServer((request, response) => {
    void answer(request, response).catch((thrown: unknown) => {
      process.stderr.write(`scripted model: ${request.method} ${request.url}: ${thrown}\n`);
      response.writeHead(500).end();
    });
  });

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = request.url ?? '';
    const body = JSON.parse((await readBody(request)) || '{}');
    const conversation = dialect.readConversation(path, body);
    const reply = conversation
      ? dialect.writeTurn(nextTurn(conversation), path, body)
      : json(dialect.answerOther?.(path, body) ?? {});
    response.writeHead(200, { 'content-type': reply.type }).end(reply.body);
  }

  /** A request without our tools, and without a way to find them, is for something else, such as a title. */
  function nextTurn({ tools: offered, canSearch, added }: Conversation): Turn {
    turns += 1;
    if (turns > maxTurns) return { say: 'The end.' };
    const own = offered.filter((name) => ownName.test(name));
    if (own.length === 0) return canSearch ? { search: 'croft' } : { say: 'A title' };
    for (const name of own) tools.add(name.replace(ownName, ''));
    for (const [index, one] of cases.entries())
      if (index < added.length && !seen.has(one.name)) seen.set(one.name, added[index]);
    const next = cases[added.length];
    if (!next) return { say: 'The end.' };
    const tool = own.find((name) => name.replace(ownName, '') === next.tool);
    if (!tool) throw new Error(`the agent offers no ${next.tool}, only ${own.join(', ')}`);
    return { id: `call_${added.length + 1}`, tool, input: next.input };
  }

  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    seen: seen as ReadonlyMap<Case['name'], unknown>,
    tools: tools as ReadonlySet<string>,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function readBody(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += chunk.length;
    if (size > maxBodyBytes) throw new Error(`the request is longer than ${maxBodyBytes} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

export function json(body: Json): Reply {
  return { type: 'application/json', body: JSON.stringify(body) };
}

/** Server-sent events. Each has its `type` as the name of the event, if it has one. */
export function events(all: readonly Json[]): Reply {
  const lines = all.map((one) => `${one.type ? `event: ${one.type}\n` : ''}data: ${JSON.stringify(one)}\n\n`);
  return { type: 'text/event-stream', body: lines.join('') };
}

/** Splits a conversation after each turn of the model. What precedes the first turn is left out. */
export function splitAfterTurns(items: readonly Json[], isTurn: (item: Json) => boolean): Json[][] {
  const parts: Json[][] = [];
  for (const item of items) {
    if (isTurn(item)) parts.push([]);
    else parts.at(-1)?.push(item);
  }
  return parts;
}
