export type FileKind = 'file' | 'directory' | 'link' | 'other';

export interface FileStat {
  /** Where the file really is: relative to the root, every link resolved. The root itself is `''`. */
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

/** What a file holds, for whoever remembers what was. */
export interface FileState extends Pick<FileVersion, 'size' | 'version'> {
  /** Permission bits. */
  readonly mode: number;
  /** Left out: it is too large to be held. */
  readonly bytes?: Uint8Array | undefined;
}

/** A file that is about to be replaced. */
export interface CurrentFile extends FileVersion {
  /** All of it. Throws `E_TOO_LARGE` for one that is not read whole. */
  content(): Buffer;
}

/** One file that has new content: exactly what was there, if anything, and what is. */
export interface Replacement {
  /** As `FileStat.path`. */
  readonly path: string;
  readonly before?: FileState | undefined;
  readonly after: FileState;
}

export interface Changed<Decided extends Change> {
  readonly written: FileVersion;
  readonly change: Decided;
  /** Left out: whoever changed it cannot tell so exactly, and whoever remembers has to look. */
  readonly replacement?: Replacement | undefined;
}

/** What a file is to hold, and whatever else was found out with it. */
export interface Change {
  readonly bytes: Uint8Array;
}

export interface DirectoryEntry {
  readonly name: string;
  readonly kind: FileKind;
  readonly size: number;
  /** Permission bits. Left out: the storage has none. */
  readonly mode?: number;
  /** Where a link says it leads. */
  readonly target?: string;
}

export interface DirectoryListing {
  readonly path: string;
  readonly entries: readonly DirectoryEntry[];
  /** There was more than `limit`. */
  readonly cut: boolean;
}

/** What must hold for a write to happen: nothing there yet, or exactly this version. */
export type Precondition = 'absent' | { readonly version: string };

export interface Removal {
  readonly path: string;
  readonly kind: FileKind;
  readonly removed: number;
}

/**
 * The files of one workspace. The only way to them, on every kind of storage.
 *
 * Paths are relative to the root, or absolute below a name of the root. No operation reads or changes
 * anything outside the root, also while others swap links and directories under it; an attempt throws
 * `E_SANDBOX_VIOLATION`. Every other failure is an `AppError` too.
 */
export interface Files {
  /** Follows a link at the end. Throws `E_FILE_NOT_FOUND`. */
  stat(path: string): Promise<FileStat>;

  /** A regular file, whole. Throws `E_TOO_LARGE` over `maxBytes`. */
  read(path: string, options?: { maxBytes?: number }): Promise<FileContent>;

  /** As `read`, in pieces and without a limit. The version is of the stat when the file is over `maxHashedBytes`. */
  open(path: string): Promise<OpenFile>;

  /** The version alone, for a precondition. `undefined` when there is no such file. */
  version(path: string): Promise<FileVersion | undefined>;

  /** One directory, sorted by name, at most `limit` entries read. */
  list(path: string, options: { limit: number }): Promise<DirectoryListing>;

  /** Changes that are newest first need many stats; a path that is gone gives 0. Links are not followed. */
  modifiedTimes(paths: readonly string[]): Promise<number[]>;

  /**
   * Replaces or creates a file, with its missing directories: all of it or nothing, durable on return.
   * Keeps the mode of a file that is there. Throws `E_STALE` or `E_ALREADY_EXISTS` when `expect` does not hold.
   */
  write(path: string, bytes: Uint8Array, options?: WriteOptions): Promise<FileVersion>;

  /**
   * As `write`, of what `decide` makes of the file that is there, or of `undefined`. Changes of one file wait for each
   * other, so none is lost; what others do to it meanwhile throws `E_STALE`, or `E_ALREADY_EXISTS` if they made it. What
   * `decide` throws leaves everything as it was, missing directories too.
   */
  change<Decided extends Change>(
    path: string,
    decide: (current: CurrentFile | undefined) => Decided,
  ): Promise<Changed<Decided>>;

  /**
   * As `write`, of bytes that come in pieces: no more than one of them is held, and what cannot be is refused before the
   * first is asked for. A stream that fails, or brings more than `maxBytes` (`E_TOO_LARGE`), leaves everything as it was,
   * missing directories too.
   */
  upload(path: string, pieces: AsyncIterable<Uint8Array>, options: UploadOptions): Promise<Uploaded>;

  /** Removes a file, a link (never what it leads to) or a directory. */
  remove(path: string, options: RemoveOptions): Promise<Removal>;

  /** Moves a file, a link or a directory to a name that is free. Throws `E_ALREADY_EXISTS`. */
  rename(from: string, to: string): Promise<{ from: string; to: string; kind: FileKind }>;
}

export interface WriteOptions {
  readonly expect?: Precondition | undefined;
  /** Whether it can be run. Left out: a file that is there stays as it is, and a new one cannot. */
  readonly isExecutable?: boolean | undefined;
  /**
   * The server's own people put it there. Only for the sync of agents (`core/skills`): it may change the definitions
   * of agents, which are control files, and no other one. No tool says this.
   */
  readonly isSynced?: boolean | undefined;
}

export interface RemoveOptions {
  readonly recursive: boolean;
  readonly signal: AbortSignal;
  /** As for a write. */
  readonly isSynced?: boolean | undefined;
}

export interface UploadOptions {
  readonly maxBytes: number;
  readonly expect?: Precondition | undefined;
  /** What stands around putting it in place, once all of it is there: sending it may take long. */
  around?<T>(work: () => Promise<T>): Promise<T>;
}

export interface Uploaded extends FileVersion {
  /** There was no such file before. */
  readonly isNew: boolean;
}

/** Bytes of a file: from the first of them to before `end`. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface OpenFile extends AsyncDisposable {
  readonly stat: FileStat;
  /** Of all of it, or of a part. Each is good until the next is asked for. */
  chunks(range?: ByteRange): AsyncIterable<Buffer>;
}
