import type { ObjectHead, ObjectStore } from '../../core/objects.ts';
import { pathOfAny } from './keys.ts';
import { describeObject, type ObjectEntry } from './object-entries.ts';
import { readBounded } from './read-bounded.ts';

export type ListedObject = Omit<ObjectHead, 'metadata'>;

/** An object of the workspace. Its key is without the namespace. */
export interface Seen extends ObjectHead {
  readonly kind: Exclude<ObjectEntry['kind'], 'deleted'>;
  readonly mode: number;
}

export interface BelowOptions {
  /** Which directories are passed over, by their keys. */
  readonly skip?: ((directory: string) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type DirectObjects = ReturnType<typeof createDirectObjects>;

const maxRemembered = 50_000;
const maxTargetBytes = 4095;
/** Of a body of `croft: deleted`, and of one that was put a second time. What is larger is no tombstone. */
const maxTombstoneBytes = 64;
/** Comes after every name. */
const last = '\u{10ffff}';

/** The objects of one workspace as they are in the bucket now: those that are files, links and markers of directories. */
export function createDirectObjects(objects: ObjectStore, namespace: string) {
  /** What listings do not say, by key, for as long as they say that it is the same object. */
  const remembered = new Map<string, Seen | undefined>();

  async function look(key: string, signal?: AbortSignal): Promise<Seen | undefined> {
    const head = await objects.head(`${namespace}/${key}`, signal);
    const seen = head && toSeen({ ...head, key });
    if (remembered.size >= maxRemembered) remembered.clear();
    if (seen) remembered.set(key, seen);
    return seen;
  }

  /** As `look`, for an object that was listed. */
  async function lookAt(listed: ListedObject, signal?: AbortSignal): Promise<Seen | undefined> {
    const before = remembered.get(listed.key);
    return before && isSame(before, listed) ? before : look(listed.key, signal);
  }

  /** Where a link leads. What is too long or holds a NUL byte is no link on any disk either. */
  async function readTarget({ key, etag }: Seen): Promise<string | undefined> {
    const found = await objects.get(`${namespace}/${key}`);
    if (found === undefined || found === 'unchanged') return undefined;
    const target = (await readBounded(found.body, maxTargetBytes)).toString();
    return found.etag === etag && target !== '' && !target.includes('\0') ? target : undefined;
  }

  /**
   * Everything below a key that a path of a workspace can have, in order of key. `skip` says which directories are passed
   * over, by the key of one, without asking for what is in them.
   */
  async function* below(directory: string, options: BelowOptions = {}): AsyncGenerator<ListedObject> {
    const { skip = () => false, signal } = options;
    const isShown = ({ key }: ListedObject) => pathOfAny(key) !== undefined && !directoriesOf(key).some(skip);
    for (let after: string | undefined; ; ) {
      let [end, passed]: [string, string | undefined] = ['', undefined];
      for await (const page of pages(directory, after, signal)) {
        yield* page.filter(isShown);
        end = lastKeyOf(page);
        passed = directoriesOf(end).find(skip);
        // What follows on the next page would be passed over too.
        if (passed !== undefined) break;
      }
      if (passed === undefined) return;
      after = nextAfter(passed, after, end);
    }
  }

  async function* pages(directory: string, after: string | undefined, signal: AbortSignal | undefined) {
    const prefix = directory === '' ? '' : `${directory}/`;
    const asked = { ...(after !== undefined && { after: `${namespace}/${after}` }), ...(signal && { signal }) };
    for await (const page of objects.list(`${namespace}/${prefix}`, asked)) {
      yield page.map((object) => ({ ...object, key: object.key.slice(namespace.length + 1) }));
    }
  }

  async function isLive(object: ListedObject): Promise<boolean> {
    return object.size > maxTombstoneBytes || (await lookAt(object)) !== undefined;
  }

  return {
    look,
    lookAt,
    readTarget,
    below,
    isLive,
    async isDirectory(key: string): Promise<boolean> {
      if (key === '') return true;
      for await (const object of below(key)) if (await isLive(object)) return true;
      return false;
    },
  };
}

function isSame(one: ListedObject, other: ListedObject): boolean {
  // What is said of one object alone is said to the second, in listings sometimes more exactly.
  const seconds = ({ modifiedAt }: ListedObject) => Math.floor(modifiedAt.getTime() / 1000);
  return one.etag === other.etag && one.size === other.size && seconds(one) === seconds(other);
}

function toSeen(head: ObjectHead): Seen | undefined {
  const { kind, mode } = describeObject(head);
  if (kind === 'deleted') return undefined;
  const isLink = kind === 'link' && head.size > 0 && head.size <= maxTargetBytes;
  return { ...head, mode, kind: kind === 'link' && !isLink ? 'file' : kind };
}

function lastKeyOf(page: readonly ListedObject[]): string {
  return page.at(-1)?.key ?? '';
}

/** Past everything in a directory; or past what was seen of it, if it holds names that come later than the last. */
function nextAfter(directory: string, before: string | undefined, end: string): string {
  const behind = `${directory}/${last}`;
  return behind === before ? end : behind;
}

/** The directories a key is in, outermost first. */
function directoriesOf(key: string): string[] {
  const names = key.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
