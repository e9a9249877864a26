import type { ObjectHead, ObjectStore } from '../../../core/storage/object-store.ts';
import { readBoundedBody } from '../client/read-bounded-body.ts';
import { pathOfFileOrMarker } from '../layout/object-keys.ts';
import { describeObject, type ObjectDescription } from '../layout/object-metadata.ts';

export type ListedObject = Omit<ObjectHead, 'metadata'>;

/** An object of the workspace. Its key excludes the namespace. */
export interface DirectObject extends ObjectHead {
  readonly kind: Exclude<ObjectDescription['kind'], 'deleted'>;
  readonly mode: number;
}

interface BelowOptions {
  /** Says by its key whether a directory is skipped. */
  readonly skip?: ((directory: string) => boolean) | undefined;
  readonly signal?: AbortSignal | undefined;
}

export type DirectObjects = ReturnType<typeof createDirectObjects>;

const maxRemembered = 50_000;
const maxTargetBytes = 4095;
/** Upper bound for the body of a tombstone, claimed or not. A larger object is not a tombstone. */
const maxTombstoneBytes = 64;
/** Sorts after every name. */
const last = '\u{10ffff}';

/** Reads the objects of one workspace straight from the bucket: files, links and directory markers. */
export function createDirectObjects(objects: ObjectStore, namespace: string) {
  /** Results of HEAD requests by key, valid while listings show the same object. */
  const remembered = new Map<string, DirectObject | undefined>();

  async function stat(key: string, signal?: AbortSignal): Promise<DirectObject | undefined> {
    const head = await objects.head(`${namespace}/${key}`, signal);
    const seen = head && toDirectObject({ ...head, key });
    if (remembered.size >= maxRemembered) remembered.clear();
    if (seen) remembered.set(key, seen);
    return seen;
  }

  /** As `stat`, for an object from a listing: uses the remembered result if the object is unchanged. */
  async function statListed(listed: ListedObject, signal?: AbortSignal): Promise<DirectObject | undefined> {
    const before = remembered.get(listed.key);
    return before && isSame(before, listed) ? before : stat(listed.key, signal);
  }

  /** Reads the target of a link. A target that is too long or holds a NUL byte would be invalid on any disk. */
  async function readTarget({ key, etag }: DirectObject): Promise<string | undefined> {
    const found = await objects.get(`${namespace}/${key}`);
    if (found === undefined || found === 'unchanged') return undefined;
    const target = (await readBoundedBody(found.body, maxTargetBytes)).toString();
    return found.etag === etag && target !== '' && !target.includes('\0') ? target : undefined;
  }

  /**
   * Yields, in key order, the objects below `directory` whose keys are valid paths, marks of removed files included.
   * Directories for which `skip` returns true are not listed.
   */
  async function* below(directory: string, options: BelowOptions = {}): AsyncGenerator<ListedObject> {
    const { skip = () => false, signal } = options;
    const isShown = ({ key }: ListedObject) => pathOfFileOrMarker(key) !== undefined && !directoriesOf(key).some(skip);
    for (let after: string | undefined; ; ) {
      let [end, passed]: [string, string | undefined] = ['', undefined];
      for await (const page of pages(directory, after, signal)) {
        yield* page.filter(isShown);
        end = lastKeyOf(page);
        passed = directoriesOf(end).find(skip);
        // The next page would begin inside the skipped directory.
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
    return object.size > maxTombstoneBytes || (await statListed(object)) !== undefined;
  }

  return {
    look: stat,
    lookAt: statListed,
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
  // A HEAD answer has whole seconds, a listing may have fractions.
  const seconds = ({ modifiedAt }: ListedObject) => Math.floor(modifiedAt.getTime() / 1000);
  return one.etag === other.etag && one.size === other.size && seconds(one) === seconds(other);
}

function toDirectObject(head: ObjectHead): DirectObject | undefined {
  const { kind, mode } = describeObject(head);
  if (kind === 'deleted') return undefined;
  const isLink = kind === 'link' && head.size > 0 && head.size <= maxTargetBytes;
  return { ...head, mode, kind: kind === 'link' && !isLink ? 'file' : kind };
}

function lastKeyOf(page: readonly ListedObject[]): string {
  return page.at(-1)?.key ?? '';
}

/**
 * The key to continue after: the end of the directory, or the last key seen if the directory holds names that sort
 * after `last`.
 */
function nextAfter(directory: string, before: string | undefined, end: string): string {
  const behind = `${directory}/${last}`;
  return behind === before ? end : behind;
}

/** The directories that contain a key, outermost first. */
function directoriesOf(key: string): string[] {
  const names = key.split('/').slice(0, -1);
  return names.map((_, index) => names.slice(0, index + 1).join('/'));
}
