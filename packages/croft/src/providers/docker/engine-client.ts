import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { z } from 'zod';
import { parseJson } from '../../lib/text/parse-json.ts';

/** A refusal in the engine's own words, which may name paths of this machine. */
class EngineError extends Error {
  readonly status: number;

  constructor(status: number, words: string) {
    super(words);
    this.status = status;
  }
}

interface Question {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  readonly withinMs?: number;
}

type TimedQuestion = Question & { readonly withinMs: number };

const usuallyAnswersWithinMs = 30_000;
/** Making a container waits for a disk that others may be using. */
const worksWithinMs = 60_000;

const Refusal = z.object({ message: z.string() });
const Created = z.object({ Id: z.string() });
const Inspected = z.object({ State: z.object({ Pid: z.number() }) });
const Listed = z.array(z.object({ Id: z.string(), Created: z.number() }));
const Image = z.object({
  Id: z.string(),
  Config: z
    .object({ Env: z.array(z.string()).nullish(), Volumes: z.record(z.string(), z.unknown()).nullish() })
    .nullish(),
});

type EngineImage = z.output<typeof Image>;
export type EngineClient = ReturnType<typeof createEngineClient>;

/** The part of the Docker API that Croft uses, which Podman's service has too. Every request has a time limit. */
export function createEngineClient(socketPath: string, answersWithinMs = usuallyAnswersWithinMs) {
  const ask = (question: Question) => askEngine(socketPath, { withinMs: answersWithinMs, ...question });
  const container = (id: string, rest = '') => `/containers/${encodeURIComponent(id)}${rest}`;
  return {
    async create(name: string, body: object): Promise<string> {
      const path = '/containers/create';
      const made = await ask({ method: 'POST', path, query: { name }, body, withinMs: worksWithinMs });
      return Created.parse(made).Id;
    },
    async start(id: string): Promise<void> {
      await ask({ method: 'POST', path: container(id, '/start'), withinMs: worksWithinMs });
    },
    /** The pid of the container's first process, as the engine numbers it. */
    async pidOf(id: string): Promise<number> {
      return Inspected.parse(await ask({ path: container(id, '/json') })).State.Pid;
    },
    /** Waits until the container is removed. */
    async waitFor(id: string): Promise<void> {
      await ask({ method: 'POST', path: container(id, '/wait'), query: { condition: 'removed' } }).catch(unlessGone);
    },
    /** Stops every process of the container until `unpause`. */
    async pause(id: string): Promise<void> {
      await ask({ method: 'POST', path: container(id, '/pause') });
    },
    async unpause(id: string): Promise<void> {
      await ask({ method: 'POST', path: container(id, '/unpause') }).catch(unlessGone);
    },
    /** Removes the container with everything that runs in it. */
    async remove(id: string): Promise<void> {
      await ask({ method: 'DELETE', path: container(id), query: { force: 'true', v: 'true' } }).catch(unlessGone);
    },
    async list(filters: object): Promise<z.output<typeof Listed>> {
      const query = { all: 'true', filters: JSON.stringify(filters) };
      return Listed.parse(await ask({ path: '/containers/json', query }));
    },
    async findImage(name: string): Promise<EngineImage | undefined> {
      const found = await ask({ path: `/images/${encodeURIComponent(name)}/json` }).catch(unlessGone);
      return found === undefined ? undefined : Image.parse(found);
    },
    /** Makes an image of one layer. */
    async importImage(name: string, tar: Buffer): Promise<void> {
      const query = { fromSrc: '-', repo: name, tag: 'latest' };
      await ask({ method: 'POST', path: '/images/create', query, body: tar, withinMs: worksWithinMs });
    },
  };
}

/** Ignores an error for something that does not exist, or that somebody else is removing. */
function unlessGone(thrown: unknown): undefined {
  if (thrown instanceof EngineError && (thrown.status === 404 || thrown.status === 409)) return undefined;
  throw thrown;
}

async function askEngine(socketPath: string, question: TimedQuestion): Promise<unknown> {
  const { method = 'GET', path, query = {}, body, withinMs } = question;
  const signal = AbortSignal.timeout(withinMs);
  const bytes = Buffer.isBuffer(body) ? body : Buffer.from(body === undefined ? '' : JSON.stringify(body));
  const type = Buffer.isBuffer(body) ? 'application/x-tar' : 'application/json';
  const headers = { Host: 'engine', 'Content-Type': type, 'Content-Length': bytes.length };
  const target = `${path}?${new URLSearchParams(query)}`;
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ socketPath, method, path: target, headers, signal, agent: false }, resolve)
      .on('error', reject)
      .end(bytes);
  });
  const words = await text(answer);
  const status = answer.statusCode ?? 0;
  if (status >= 400 || status < 200) throw new EngineError(status, toReason(words));
  return parseJson(words);
}

function toReason(words: string): string {
  const refusal = Refusal.safeParse(parseJson(words));
  return refusal.success ? refusal.data.message : words.slice(0, 1000);
}

/** Some answers are empty and some hold several JSON values. Both become `undefined`. */
