import { z } from 'zod';
import { AllowControl, Bytes, defineMethod, FileName, Id, InsidePath, PathText } from './define-method.ts';

/** The most bytes of a file that one call reads or writes. Larger files are opened, or uploaded. */
export const maxBodyBytes = 256 * 1024 * 1024;
/** Channel 0 carries bytes from the called side, channel 1 bytes to it. */
export const channels = { answer: 0, body: 1 } as const;
const maxPaths = 1_000_000;
const maxEntries = 1_000_000;
/** The JSON of a listing, a list of times or a list of changes. */
export const maxListBytes = 128 * 1024 * 1024;

const at = { place: Id, path: PathText };
const Version = z.string().min(1).max(300);
const Kind = z.enum(['file', 'directory', 'link', 'other']);

export const FileStat = z.object({ path: InsidePath, kind: Kind, size: Bytes, mtimeMs: z.number() });
export const FileVersion = FileStat.extend({ version: Version });
export const Precondition = z.union([z.literal('absent'), z.strictObject({ version: z.string().max(300) })]);

export const statFile = defineMethod('files.stat', z.strictObject(at), FileStat);

/** The bytes arrive on the answer channel, before the answer. */
export const readFile = defineMethod('files.read', z.strictObject({ ...at, maxBytes: Bytes.optional() }), FileVersion);

/**
 * Reads a file that the caller is about to replace. `hasContent` is false if the file is too large to be read whole.
 * `null` if there is no file.
 */
export const readCurrent = defineMethod(
  'files.current',
  z.strictObject({ ...at, maxBytes: Bytes }),
  FileVersion.extend({ hasContent: z.boolean() }).nullable(),
);

export const versionOfFile = defineMethod('files.version', z.strictObject(at), FileVersion.nullable());

/** The runner keeps the file open until the call ends. It first sends a `FileOpened` message. */
export const openFile = defineMethod('files.open', z.strictObject(at), z.null());
export const FileOpened = z.object({ file: Id, stat: FileStat });
/** The bytes arrive on the answer channel. Without `end`, up to the end of the file. */
export const readRange = defineMethod(
  'files.range',
  z.strictObject({ file: Id, start: Bytes, end: Bytes.optional() }),
  z.null(),
);

/** The listing arrives as JSON on the answer channel. */
export const listDirectory = defineMethod(
  'files.list',
  z.strictObject({ ...at, limit: Bytes.max(maxEntries) }),
  z.null(),
);
export const DirectoryEntry = z.object({
  name: FileName,
  kind: Kind,
  size: Bytes,
  mode: z.int().min(0).max(0o7777).optional(),
  target: z.string().max(8192).optional(),
});
export const DirectoryListing = z.object({ path: InsidePath, entries: z.array(DirectoryEntry), cut: z.boolean() });

/** The paths are sent as JSON on the body channel. The times arrive on the answer channel. */
export const modifiedTimes = defineMethod(
  'files.times',
  z.strictObject({ place: Id, size: Bytes.max(maxListBytes) }),
  z.null(),
);
export const Paths = z.array(PathText).max(maxPaths);
export const Times = z.array(z.number());

/** Answered when the file is durable. The body must have exactly `size` bytes, or nothing is written. */
export const writeFile = defineMethod(
  'files.write',
  z.strictObject({
    ...at,
    size: Bytes.max(maxBodyBytes),
    expect: Precondition.optional(),
    isExecutable: z.boolean().optional(),
    isSynced: z.boolean().optional(),
    allowControl: AllowControl,
  }),
  FileVersion,
);

/**
 * The runner sends `wanted` when it is ready for the bytes, and `there` when it has all of them. The server sends
 * `sent` with the size, and `place` when the file may be put in place.
 */
export const uploadFile = defineMethod(
  'files.upload',
  z.strictObject({
    ...at,
    maxBytes: Bytes,
    expect: Precondition.optional(),
    waits: z.boolean(),
    allowControl: AllowControl,
  }),
  FileVersion.extend({ isNew: z.boolean() }),
);
export const UploadState = z.object({ state: z.enum(['wanted', 'there']) });
export const UploadOrder = z.discriminatedUnion('order', [
  z.strictObject({ order: z.literal('sent'), size: Bytes }),
  z.strictObject({ order: z.literal('place') }),
  z.strictObject({ order: z.literal('give-up') }),
]);

export const removeFile = defineMethod(
  'files.remove',
  z.strictObject({ ...at, recursive: z.boolean(), isSynced: z.boolean().optional(), allowControl: AllowControl }),
  z.object({ path: InsidePath, kind: Kind, removed: Bytes }),
);

export const renameFile = defineMethod(
  'files.rename',
  z.strictObject({ place: Id, from: PathText, to: PathText, allowControl: AllowControl }),
  z.object({ from: InsidePath, to: InsidePath, kind: Kind }),
);
