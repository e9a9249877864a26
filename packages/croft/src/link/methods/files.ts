import { z } from 'zod';
import { Bytes, FileName, Id, InsidePath, method, PathText } from './common.ts';

/** The most of a file that is carried as one piece. What is larger is opened, or uploaded. */
export const maxBodyBytes = 256 * 1024 * 1024;
/** Bytes that the asked side sends, and those that it is sent. */
export const channels = { answer: 0, body: 1 } as const;
const maxPaths = 1_000_000;
const maxEntries = 1_000_000;
/** Of a listing, a list of times or of changes, as JSON. */
export const maxListBytes = 128 * 1024 * 1024;

const at = { place: Id, path: PathText };
const Version = z.string().min(1).max(300);
const Kind = z.enum(['file', 'directory', 'link', 'other']);

export const FileStat = z.object({ path: InsidePath, kind: Kind, size: Bytes, mtimeMs: z.number() });
export const FileVersion = FileStat.extend({ version: Version });
export const Precondition = z.union([z.literal('absent'), z.strictObject({ version: z.string().max(300) })]);

export const statFile = method('files.stat', z.strictObject(at), FileStat);

/** The bytes come first, on their channel. */
export const readFile = method('files.read', z.strictObject({ ...at, maxBytes: Bytes.optional() }), FileVersion);

/** For who is about to replace it. Without content: it is too large to be read whole. `null`: there is nothing. */
export const readCurrent = method(
  'files.current',
  z.strictObject({ ...at, maxBytes: Bytes }),
  FileVersion.extend({ hasContent: z.boolean() }).nullable(),
);

export const versionOfFile = method('files.version', z.strictObject(at), FileVersion.nullable());

/** Held open while the call is. Told first. */
export const openFile = method('files.open', z.strictObject(at), z.null());
export const FileOpened = z.object({ file: Id, stat: FileStat });
/** The bytes come on their channel; without an end, all that there are. */
export const readRange = method(
  'files.range',
  z.strictObject({ file: Id, start: Bytes, end: Bytes.optional() }),
  z.null(),
);

/** The listing comes as JSON on the channel of the answer. */
export const listDirectory = method('files.list', z.strictObject({ ...at, limit: Bytes.max(maxEntries) }), z.null());
export const DirectoryEntry = z.object({
  name: FileName,
  kind: Kind,
  size: Bytes,
  mode: z.int().min(0).max(0o7777).optional(),
  target: z.string().max(8192).optional(),
});
export const DirectoryListing = z.object({ path: InsidePath, entries: z.array(DirectoryEntry), cut: z.boolean() });

/** The paths come as JSON on the channel of the body, the times on that of the answer. */
export const modifiedTimes = method(
  'files.times',
  z.strictObject({ place: Id, size: Bytes.max(maxListBytes) }),
  z.null(),
);
export const Paths = z.array(PathText).max(maxPaths);
export const Times = z.array(z.number());

/** Answered when it is durable. The body is exactly as long as it says, or nothing is written. */
export const writeFile = method(
  'files.write',
  z.strictObject({
    ...at,
    size: Bytes.max(maxBodyBytes),
    expect: Precondition.optional(),
    isExecutable: z.boolean().optional(),
    isSynced: z.boolean().optional(),
  }),
  FileVersion,
);

/** Tells when it can be sent, and when all of it is there; is told when all was sent, and when to put it in place. */
export const uploadFile = method(
  'files.upload',
  z.strictObject({ ...at, maxBytes: Bytes, expect: Precondition.optional(), waits: z.boolean() }),
  FileVersion.extend({ isNew: z.boolean() }),
);
export const UploadState = z.object({ state: z.enum(['wanted', 'there']) });
export const UploadOrder = z.discriminatedUnion('order', [
  z.strictObject({ order: z.literal('sent'), size: Bytes }),
  z.strictObject({ order: z.literal('place') }),
  z.strictObject({ order: z.literal('give-up') }),
]);

export const removeFile = method(
  'files.remove',
  z.strictObject({ ...at, recursive: z.boolean(), isSynced: z.boolean().optional() }),
  z.object({ path: InsidePath, kind: Kind, removed: Bytes }),
);

export const renameFile = method(
  'files.rename',
  z.strictObject({ place: Id, from: PathText, to: PathText }),
  z.object({ from: InsidePath, to: InsidePath, kind: Kind }),
);
