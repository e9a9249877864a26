import type { AccountEvent, AuditRecord, SignedIn } from '@croft/protocol';
import { signal } from '@preact/signals';
import { type RequestError, request, toRequestError } from '../server/request.ts';
import { invalidate } from '../server/use-resource.ts';
import { followEvents } from './event-stream.ts';
import { createFeed } from './feed.ts';
import { type FeedRow, readDetails } from './feed-row.ts';

interface AuditPage {
  readonly audit: readonly AuditRecord[];
  readonly next?: string;
  readonly position?: string;
}

/** The feed of calls, newest first. */
export const feed = signal<readonly FeedRow[]>([]);
/** Whether the feed has been read: an empty feed is shown as empty only then. */
export const feedState = signal<'loading' | 'ready'>('loading');
export const feedError = signal<RequestError | undefined>(undefined);
/** Cursor of the older rows. Without it, there are none. */
export const olderRows = signal<string | undefined>(undefined);

const pageSize = 200;
let source = createFeed();
let stop = () => {};
let isLoadingOlder = false;

/** Follows everything that happens in the account, until somebody else signs in. */
export function startLive({ accountId, scopes }: Pick<SignedIn, 'accountId' | 'scopes'>, onEnd: () => void): void {
  stop();
  source = createFeed();
  feed.value = [];
  feedState.value = 'loading';
  const mayRead = scopes.includes('*') || scopes.includes('read');
  const stopping = new AbortController();
  stop = () => stopping.abort();
  const queue = createFrameQueue((events) => take(events, () => void readNewest(mayRead)));
  void readNewest(mayRead).then((after) => {
    if (stopping.signal.aborted) return;
    const stream = followEvents({ accountId, after, onEvent: queue, onEnd });
    stopping.signal.addEventListener('abort', () => stream.stop());
  });
}

/** The call of this id, if its row is loaded. */
export function findCall(key: string): FeedRow | undefined {
  return feedState.value === 'ready' ? source.find(key) : undefined;
}

/** Everybody and everything that the rows name. */
export function namesInFeed(): ReturnType<typeof source.names> {
  return source.names();
}

export function stopLive(): void {
  stop();
}

async function readNewest(mayRead: boolean): Promise<string | undefined> {
  try {
    if (!mayRead) return undefined;
    const page = await request<AuditPage>('GET', '/v1/audit', { query: { order: 'newest', limit: pageSize } });
    source = createFeed();
    feed.value = source.addOlder(page.audit);
    olderRows.value = page.next;
    feedError.value = undefined;
    return page.position;
  } catch (thrown) {
    feedError.value = toRequestError(thrown);
    return undefined;
  } finally {
    feedState.value = 'ready';
  }
}

export async function readOlder(): Promise<void> {
  const after = olderRows.peek();
  if (after === undefined || isLoadingOlder) return;
  isLoadingOlder = true;
  try {
    const page = await request<AuditPage>('GET', '/v1/audit', { query: { order: 'newest', limit: pageSize, after } });
    feed.value = source.addOlder(page.audit);
    olderRows.value = page.next;
  } catch (thrown) {
    feedError.value = toRequestError(thrown);
  } finally {
    isLoadingOlder = false;
  }
}

function take(events: readonly AccountEvent[], reset: () => void): void {
  if (events.some(({ type }) => type === 'reset')) {
    invalidate('/v1/');
    reset();
  }
  if (events.some(({ type }) => type === 'audit' || type === 'call.started')) feed.value = source.add(events);
  const stale = new Set(events.flatMap((event) => (event.type === 'audit' ? findStale(event.record) : [])));
  if (stale.size > 0) invalidate(...stale);
}

const collections: Readonly<Record<string, string>> = {
  agent: '/v1/agents',
  sandbox: '/v1/sandboxes',
  workspace: '/v1/workspaces',
  key: '/v1/keys',
  secret: '/v1/secrets',
  runner: '/v1/runners',
  approval: '/v1/approvals',
};

/** Returns the addresses whose stored answers are outdated after this record. */
function findStale({ action, target, details }: AuditRecord): string[] {
  const [kind = ''] = action.split('.');
  const collection = collections[kind];
  if (collection) return [collection];
  if (kind === 'file' || kind === 'undo' || kind === 'snapshot') return [`/v1/workspaces/${target}/`];
  return kind === 'call' ? findChanged(action, details) : [];
}

/** Calls under way that may change files: only those have a record of their beginning. */
const changing = new Set<string>();

function findChanged(action: string, text: string): string[] {
  const { call, workspaceId, workspace } = readDetails(text);
  if (action === 'call.began') changing.add(String(call));
  if (action !== 'call.ended' || !changing.delete(String(call))) return [];
  return [`/v1/workspaces/${encodeURIComponent(String(workspaceId ?? workspace))}/`];
}

/**
 * Most events that are handled in one frame, which takes a few milliseconds. The others of a burst wait for the next
 * frame.
 */
const mostAtOnce = 400;
/** A list that changes faster than this cannot be read. */
const slowestMs = 100;

/** Calls `handle` with the events that came since, at most once in a tenth of a second. A page in the background has no frames. */
function createFrameQueue(handle: (events: readonly AccountEvent[]) => void): (event: AccountEvent) => void {
  const waiting: AccountEvent[] = [];
  let [handledAt, isPlanned] = [Number.NEGATIVE_INFINITY, false];
  const flush = () => {
    isPlanned = false;
    handledAt = performance.now();
    handle(waiting.splice(0, mostAtOnce));
    if (waiting.length > 0) plan();
  };
  const plan = () => {
    isPlanned = true;
    const isBurst = waiting.length >= mostAtOnce;
    const soonMs = isBurst ? 0 : handledAt + slowestMs - performance.now();
    if (document.hidden) setTimeout(flush, 50);
    else if (soonMs > 0) setTimeout(() => requestAnimationFrame(flush), soonMs);
    else requestAnimationFrame(flush);
  };
  return (event) => {
    waiting.push(event);
    if (!isPlanned) plan();
  };
}
