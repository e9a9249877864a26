import type { Allowance } from '../control-files/allowance.ts';

export type FileKind = 'file' | 'directory' | 'link' | 'other';

export interface FileStat {
  /** The real path: relative to the root, with every link resolved. The root itself is `''`. */
  readonly path: string;
  readonly kind: FileKind;
  readonly size: number;
  readonly mtimeMs: number;
}

/** A file and the version of its content: equal versions mean equal bytes. */
export interface FileVersion extends FileStat {
  readonly version: string;
}

export interface FileContent extends FileVersion {
  readonly bytes: Buffer;
}

/** Content and mode of a file, for the history. */
export interface FileState extends Pick<FileVersion, 'size' | 'version'> {
  /** Permission bits. */
  readonly mode: number;
  /** Absent when the file is too large to keep in memory. */
  readonly bytes?: Uint8Array | undefined;
}

/** A file that is about to be replaced. */
export interface CurrentFile extends FileVersion {
  /**
   * Returns the whole content, which a runner sends only now if it is not small. Throws `E_TOO_LARGE` for a file that is
   * too large to read whole, and `E_STALE` if the file changed since.
   */
  content(): Buffer | Promise<Buffer>;
}

/** One file with new content: exactly what was there before, if anything, and what is there now. */
export interface FileReplacement {
  /** In the form of `FileStat.path`. */
  readonly path: string;
  readonly before?: FileState | undefined;
  readonly after: FileState;
}

export interface ChangedFile<Decided extends NewContent> {
  readonly written: FileVersion;
  readonly change: Decided;
  /** Absent when the implementation does not know exactly what it replaced: the history then has to compare trees. */
  readonly replacement?: FileReplacement | undefined;
}

/** The new content of a file. Callers add fields of their own. */
export interface NewContent {
  readonly bytes: Uint8Array;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
  readonly size: number;
  /** Permission bits. Absent when the storage has none. */
  readonly mode?: number;
  /** Target of a link, as written in the link. */
  readonly target?: string;
}

export interface DirectoryListing {
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  /** True when the directory has more than `limit` entries. */
  readonly cut: boolean;
}

/** Precondition of a write: no file exists yet, or the file has exactly this version. */
export type Precondition = 'absent' | { readonly version: string };

export interface RemovedPath {
  readonly path: string;
  readonly kind: FileKind;
  readonly removed: number;
}

/**
 * The files of one workspace: the only way to access them, on every kind of storage.
 *
 * Paths are relative to the root, or absolute below a name of the root. No operation reads or changes anything outside
 * the root, even while other processes swap links and directories under it; an attempt throws `E_SANDBOX_VIOLATION`.
 * Every other failure is an `AppError` too.
 */
export interface Files {
  /** Follows a link in the last name of the path. Throws `E_FILE_NOT_FOUND`. */
  stat(path: string): Promise<FileStat>;

  /** Reads a regular file whole. Throws `E_TOO_LARGE` over `maxBytes`. */
  read(path: string, options?: { maxBytes?: number }): Promise<FileContent>;

  /**
   * Like `read`, in chunks and without a size limit. Over `maxHashedBytes` the version is derived from the stat instead
   * of the content.
   */
  open(path: string): Promise<OpenFile>;

  /** Returns the version without the content, for a precondition. `undefined` when there is no such file. */
  version(path: string): Promise<FileVersion | undefined>;

  /** Lists one directory, sorted by name. Reads at most `limit` entries. */
  list(path: string, options: { limit: number }): Promise<DirectoryListing>;

  /**
   * Returns modification times in the order of `paths`, 0 for a missing file. Links are not followed. Batched, because
   * newest-first sorting asks for thousands.
   */
  modifiedTimes(paths: readonly string[]): Promise<number[]>;

  /**
   * Replaces or creates a file, including its missing directories. Atomic, and durable on return. An existing file
   * keeps its mode. Throws `E_STALE` or `E_ALREADY_EXISTS` when `expect` does not hold.
   */
  write(path: string, bytes: Uint8Array, options?: FileWriteOptions): Promise<FileVersion>;

  /**
   * Like `write`, with the content that `decide` returns for the current file, or for `undefined` if there is none.
   * Changes of one file run one after another, so none is lost; a change by another program in between throws
   * `E_STALE`, or `E_ALREADY_EXISTS` if that program created the file. If `decide` throws, nothing has changed, and no
   * missing directory was created.
   */
  change<Decided extends NewContent>(
    path: string,
    decide: (current: CurrentFile | undefined) => Decided | Promise<Decided>,
    options?: ChangeOptions,
  ): Promise<ChangedFile<Decided>>;

  /**
   * Like `write`, with bytes that arrive in pieces. Holds one piece in memory at a time, and rejects an impossible
   * write before the first piece is requested. A stream that fails, or exceeds `maxBytes` (`E_TOO_LARGE`), changes
   * nothing, and creates no missing directory.
   */
  upload(path: string, pieces: AsyncIterable<Uint8Array>, options: UploadOptions): Promise<UploadedFile>;

  /** Removes a file, a link (never its target) or a directory. */
  remove(path: string, options: RemoveOptions): Promise<RemovedPath>;

  /** Moves a file, a link or a directory to an unused name. Throws `E_ALREADY_EXISTS`. */
  rename(from: string, to: string, options?: ChangeOptions): Promise<{ from: string; to: string; kind: FileKind }>;

  /**
   * Returns the control files among `paths` that a person can approve changes of, as values for `Allowance.paths`, with
   * the reason for each. Empty when none of the paths is a control file, and for control files that nobody can approve:
   * the change itself reports those. Absent when nobody can be asked: then no control file can be changed.
   */
  controlFiles?(paths: readonly string[], allow?: Allowance): Promise<readonly GuardedPath[]>;
}

export interface GuardedPath {
  /** Relative to the root. */
  readonly path: string;
  /** One sentence that says which programs obey the file. */
  readonly why: string;
}

/** Changing a control file throws `E_CONTROL_FILE` unless it is allowed. */
export interface ChangeOptions {
  readonly allow?: Allowance | undefined;
}

export interface FileWriteOptions extends ChangeOptions {
  readonly expect?: Precondition | undefined;
  /** Whether the file is executable. Absent: an existing file keeps its mode, and a new file is not executable. */
  readonly isExecutable?: boolean | undefined;
  /**
   * True when the server itself writes the file. Only the sync of agents (`core/skills`) sets it: such a write may
   * change agent definitions, which are control files, and no other control file. No tool sets it.
   */
  readonly isSynced?: boolean | undefined;
}

export interface RemoveOptions extends ChangeOptions {
  readonly recursive: boolean;
  readonly signal: AbortSignal;
  /** As in `FileWriteOptions`. */
  readonly isSynced?: boolean | undefined;
}

export interface UploadOptions extends ChangeOptions {
  readonly maxBytes: number;
  readonly expect?: Precondition | undefined;
  /** Wraps the final step, which puts the complete file in place. The upload before that may take long. */
  around?<T>(work: () => Promise<T>): Promise<T>;
}

export interface UploadedFile extends FileVersion {
  /** True when the upload created the file. */
  readonly isNew: boolean;
}

/** A range of bytes: includes `start`, excludes `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface OpenFile extends AsyncDisposable {
  readonly stat: FileStat;
  /** Reads the whole file, or a range of it. Each chunk is valid until the next one is requested. */
  chunks(range?: ByteRange): AsyncIterable<Buffer>;
}
