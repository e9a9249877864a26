import { AppError } from '@croft/protocol';
import { z } from 'zod';
import type { ObjectStore, PutCondition } from '../../../core/storage/object-store.ts';
import { parseJson } from '../../../lib/text/parse-json.ts';
import { readBoundedBody } from '../client/read-bounded-body.ts';

const maxCommits = 200;
/**
 * A commit of more keys names none of them, and the oldest commits are dropped first: every server reads the head after
 * every commit.
 */
const maxPaths = 2000;
const maxTries = 100;
const maxBytes = 8 << 20;

const HeadCommit = z.object({
  id: z.string(),
  version: z.number().int(),
  by: z.string(),
  at: z.string(),
  /** Keys below the namespace. `null`: too many to name. */
  keys: z.array(z.string()).nullable(),
});
const WorkspaceHead = z.object({ version: z.number().int(), commits: z.array(HeadCommit) });
type HeadCommit = z.output<typeof HeadCommit>;
export type WorkspaceHead = z.output<typeof WorkspaceHead>;

interface HeadWithEtag {
  readonly head: WorkspaceHead;
  readonly etag: string;
}

/** The part that one commit adds to the head. */
interface NewCommit {
  readonly id: string;
  readonly by: string;
  readonly keys: readonly string[];
}

function headKey(namespace: string): string {
  return `.croft/${namespace}/head`;
}

/** `undefined` if Croft never committed anything to this workspace. */
export async function readHead(
  objects: ObjectStore,
  namespace: string,
  options: { unlessEtag?: string | undefined; signal?: AbortSignal | undefined } = {},
): Promise<HeadWithEtag | 'unchanged' | undefined> {
  const { unlessEtag, signal } = options;
  const found = await objects.get(headKey(namespace), {
    ...(unlessEtag === undefined ? {} : { unlessEtag }),
    ...(signal ? { signal } : {}),
  });
  if (found === undefined || found === 'unchanged') return found;
  if (found.size > maxBytes) {
    found.body.destroy();
    throw unreadable();
  }
  const parsed = WorkspaceHead.safeParse(parseJson(await readBoundedBody(found.body, maxBytes)));
  if (!parsed.success) throw unreadable();
  return { head: parsed.data, etag: found.etag };
}

/**
 * Publishes a commit to all servers by compare and swap: a server that loses the race reads the head again and adds its
 * commit to the newer one. Safe to repeat with the same id, also after a lost answer.
 */
export async function advanceHead(
  objects: ObjectStore,
  namespace: string,
  commit: NewCommit,
  signal?: AbortSignal,
): Promise<HeadWithEtag> {
  for (let tries = 0; tries < maxTries; tries++) {
    const seen = await readHead(objects, namespace, { signal });
    if (seen === 'unchanged') continue;
    if (seen?.head.commits.some(({ id }) => id === commit.id)) return seen;
    const head = withCommit(seen?.head, commit, new Date());
    const etag = await tryPut(objects, namespace, head, seen ? { etag: seen.etag } : 'absent', signal);
    if (etag !== undefined) return { head, etag };
    await new Promise((resolve) => setTimeout(resolve, Math.random() * Math.min(20 * (tries + 1), 500)));
  }
  throw new AppError('E_STORAGE_UNAVAILABLE', 'too many others commit to this workspace at the same time');
}

async function tryPut(
  objects: ObjectStore,
  namespace: string,
  head: WorkspaceHead,
  expect: PutCondition,
  signal?: AbortSignal,
): Promise<string | undefined> {
  const bytes = Buffer.from(JSON.stringify(head));
  const result = await objects.put(
    headKey(namespace),
    { size: bytes.length, open: () => bytes },
    { expect, contentType: 'application/json', signal },
  );
  return result === 'refused' ? undefined : result.etag;
}

export function withCommit(head: WorkspaceHead | undefined, { id, by, keys }: NewCommit, at: Date): WorkspaceHead {
  const version = (head?.version ?? 0) + 1;
  const named = keys.length > maxPaths ? null : [...keys];
  const all = [...(head?.commits ?? []), { id, version, by, at: at.toISOString(), keys: named }];
  let keysLeft = maxPaths;
  const fits = ({ keys: those }: HeadCommit) => {
    keysLeft -= those?.length ?? 0;
    return keysLeft >= 0;
  };
  // The newest commit always stays, whatever its size.
  const newestFirst = all.slice(-maxCommits).toReversed();
  const count = newestFirst.findIndex((one) => !fits(one));
  return { version, commits: newestFirst.slice(0, count < 0 ? newestFirst.length : Math.max(count, 1)).toReversed() };
}

/** The keys that others changed after version `seen`; `undefined` if the head does not go back that far. */
export function keysChangedSince(
  { version, commits }: WorkspaceHead,
  seen: number,
  by: string,
): Set<string> | undefined {
  // A lower version means that somebody replaced the head.
  if (version < seen) return undefined;
  const newer = commits.filter((commit) => commit.version > seen);
  if (newer.length < version - seen) return undefined;
  const others = newer.filter((commit) => commit.by !== by);
  if (others.some(({ keys }) => keys === null)) return undefined;
  return new Set(others.flatMap(({ keys }) => keys ?? []));
}

function unreadable(): AppError {
  return new AppError(
    'E_STORAGE_FAILED',
    'the head of this workspace in the bucket was not written by Croft and cannot be read; the files are not touched. ' +
      'Remove the object head in .croft/<namespace> of the bucket: it is made again',
  );
}
