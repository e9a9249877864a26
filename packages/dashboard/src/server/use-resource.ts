import { type ReadonlySignal, type Signal, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { type RequestError, request, toRequestError } from './request.ts';

/** The last answer of a GET. It stays while the page asks again, and while the server is away. */
export interface Resource<Answer> {
  readonly data: Answer | undefined;
  readonly error: RequestError | undefined;
  readonly isLoading: boolean;
  /** Time at which `data` arrived, in milliseconds since 1970. */
  readonly loadedAt: number;
}

interface Entry<Answer> {
  readonly state: Signal<Resource<Answer>>;
  users: number;
  isStale: boolean;
  running: Promise<void> | undefined;
}

const most = 200;
const entries = new Map<string, Entry<unknown>>();
const empty = { data: undefined, error: undefined, isLoading: true, loadedAt: 0 };

/** The answer of a GET, shared by everything on the page that shows it. Without an address, nothing is asked. */
export function useResource<Answer>(path: string | undefined): ReadonlySignal<Resource<Answer>> {
  const entry = path === undefined ? nothing : find<Answer>(path);
  useEffect(() => {
    if (path === undefined) return;
    const own = find<Answer>(path);
    own.users++;
    if (own.isStale) void load(path, own);
    return () => {
      own.users--;
    };
  }, [path]);
  return entry.state as ReadonlySignal<Resource<Answer>>;
}

const nothing: Entry<unknown> = {
  state: signal({ ...empty, isLoading: false }),
  users: 0,
  isStale: false,
  running: undefined,
};

/**
 * Marks all answers whose address begins so as outdated. Those on the screen are read again now, the others when they
 * are shown.
 */
export function invalidate(...prefixes: readonly string[]): void {
  for (const [path, entry] of entries) {
    if (!prefixes.some((prefix) => path.startsWith(prefix))) continue;
    entry.isStale = true;
    if (entry.users > 0) void load(path, entry);
  }
}

/** Forgets all answers. Called when another person signs in. */
export function forgetAll(): void {
  entries.clear();
}

function find<Answer>(path: string): Entry<Answer> {
  const known = entries.get(path) as Entry<Answer> | undefined;
  if (known) return known;
  const entry: Entry<Answer> = { state: signal<Resource<Answer>>(empty), users: 0, isStale: true, running: undefined };
  entries.set(path, entry as Entry<unknown>);
  dropOldest();
  return entry;
}

function dropOldest(): void {
  if (entries.size <= most) return;
  const [unused] = [...entries].find(([, { users }]) => users === 0) ?? [];
  if (unused !== undefined) entries.delete(unused);
}

/** Sends one request at a time. If the data became outdated meanwhile, asks once more. */
async function load<Answer>(path: string, entry: Entry<Answer>): Promise<void> {
  if (entry.running) return entry.running;
  entry.running = (async () => {
    while (entry.isStale) {
      entry.isStale = false;
      entry.state.value = { ...entry.state.peek(), isLoading: true };
      entry.state.value = await read<Answer>(path, entry.state.peek());
    }
  })().finally(() => {
    entry.running = undefined;
  });
  return entry.running;
}

async function read<Answer>(path: string, before: Resource<Answer>): Promise<Resource<Answer>> {
  try {
    const data = await request<Answer>('GET', path);
    return { data, error: undefined, isLoading: false, loadedAt: Date.now() };
  } catch (thrown) {
    return { ...before, error: toRequestError(thrown), isLoading: false };
  }
}
