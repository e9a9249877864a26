import { z } from 'zod';
import { must, mustBeOneOf, positiveInteger } from './field-schemas.ts';
import { pageFields } from './page-query.ts';

/** The route that serves a path checks it and words the refusal. */
const Path = z.string(must('be a string'));

const flags = ['true', 'false'] as const;
const Flag = z
  .enum(flags, mustBeOneOf(flags))
  .optional()
  .transform((text) => text === 'true');

const maxFiles = 1000;
const range = must(`be an integer from 1 to ${maxFiles}`);

/** The files as they were in this snapshot. Left out: as they are. */
const AtSnapshot = z.string(must('be the name of a snapshot')).min(1, must('be the name of a snapshot')).optional();

export const FileListQuery = z.object({
  path: Path.optional(),
  /** One folder, without `recursive`, `etags` and `cursor`. */
  snapshot: AtSnapshot,
  recursive: Flag,
  /** Adds the ETag of each file of up to 1 MiB. */
  etags: Flag,
  /** `next` of the previous page. */
  cursor: z.string().max(8192, must('be `next` of another page')).optional(),
  limit: z.coerce.number(range).int(range).min(1, range).max(maxFiles, range).prefault(200),
});

export const FileQuery = z.object({ path: Path.optional() });
export const FileReadQuery = FileQuery.extend({ snapshot: AtSnapshot });
export const FileRemoveQuery = z.object({ path: Path.optional(), recursive: Flag });

export const FileZipQuery = z.object({
  path: Path.optional(),
  /** `.git`, `node_modules` or both with a comma. By default both are left out, at any depth. */
  include: z
    .string()
    .regex(/^(?:\.git|node_modules)(?:,(?:\.git|node_modules))*$/, must('be `.git`, `node_modules` or both'))
    .optional(),
});

export const FileEntry = z.object({
  path: z.string(),
  name: z.string(),
  kind: z.enum(['file', 'directory', 'link', 'other']),
  isFolder: z.boolean(),
  /** The size of a file; absent for other entries. */
  sizeBytes: z.int().nonnegative().optional(),
  updatedAt: z.iso.datetime().optional(),
  /** Permissions, in octal. */
  mode: z.string().optional(),
  /** The target of a link, as written. */
  target: z.string().optional(),
  etag: z.string().optional(),
});
export type FileEntry = z.output<typeof FileEntry>;

export const FileList = z.object({
  files: z.array(FileEntry),
  ...pageFields,
  /** A directory had more entries than the limit. */
  cut: z.literal(true).optional(),
  /** If the path names a file: an address to download it, valid for five minutes. */
  url: z.string().optional(),
});
export type FileList = z.output<typeof FileList>;

const maxInlineBytes = 512 * 1024;
const tooLarge = { error: 'Workspace uploads must not exceed 512 KiB' };

/** A small file in JSON. `PUT …/file` takes files of any size as bytes. */
export const PutFile = z.object(
  {
    path: Path,
    contentBase64: z
      .string(must('be a string'))
      .max(Math.ceil(maxInlineBytes / 3) * 4, tooLarge)
      .regex(/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/, must('be base64'))
      .refine((text) => (text.replace(/=+$/, '').length * 3) / 4 < maxInlineBytes + 1, tooLarge),
    contentType: z.string(must('be a string')).optional().describe('Not kept'),
  },
  must('be an object'),
);

export const FileWritten = z.object({
  path: z.string(),
  sizeBytes: z.int().nonnegative(),
  updatedAt: z.iso.datetime(),
  etag: z.string(),
});
export type FileWritten = z.output<typeof FileWritten>;

export const RenameFile = z.object({ path: Path, newPath: Path }, must('be an object'));
export const MoveFile = z.object({ from: Path, to: Path }, must('be an object'));
export const FileRenamed = z.object({ renamed: z.int(), from: z.string(), to: z.string() });

export const RemoveFile = z.object(
  { path: Path.optional(), recursive: z.boolean(must('be a boolean')).optional() },
  must('be an object'),
);
/** The number of removed entries, directories included. */
export const FileRemoved = z.object({ deleted: z.int() });

const week = 7 * 24 * 60 * 60;
const month = 30 * 24 * 60 * 60;
const day = 24 * 60 * 60;
const methods = ['GET', 'PUT'] as const;

export const CreateFileLink = z.object(
  {
    path: Path,
    method: z.enum(methods, mustBeOneOf(methods)).prefault('GET'),
    expiresInSeconds: positiveInteger(week).prefault(day),
    maxBytes: positiveInteger().optional().describe('Of what is put'),
  },
  must('be an object'),
);

/** A link to one file. Anyone with the address can use it without a key. */
export const FileLink = z.object({
  url: z.string(),
  token: z.string(),
  method: z.enum(methods),
  path: z.string(),
  expiresAt: z.iso.datetime(),
});

export const CreateDownloadLink = z.object(
  { path: Path, expiresInSeconds: positiveInteger(month).prefault(day) },
  must('be an object'),
);
export const DownloadLink = z.object({
  token: z.string(),
  downloadPath: z.string(),
  path: z.string(),
  expiresInSeconds: z.int(),
});

/** One line of a change feed. After `reset` events may be missing: read everything again. */
export const FileEvent = z.object({
  type: z.enum(['create', 'write', 'remove', 'rename', 'reset']),
  path: z.string().optional(),
  ts: z.iso.datetime(),
});
export type FileEvent = z.output<typeof FileEvent>;

/** A workspace given by flags, without `.git` and `node_modules`. */
export const FileTree = z.object({
  workspace: z.string(),
  root: z.string(),
  entries: z.array(z.object({ path: z.string(), type: z.enum(['file', 'dir']), size: z.int().optional() })),
  cut: z.literal(true).optional(),
});
export type FileTree = z.output<typeof FileTree>;
