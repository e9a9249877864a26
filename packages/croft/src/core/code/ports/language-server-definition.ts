/** The sign by which a server says that it knows all files of the project. Answers before it may be incomplete. */
export type ReadySign =
  /** Each answer is complete: the server reads what it needs before it answers. */
  | { readonly kind: 'always' }
  /**
   * A line of the server's log. `isRepeated`: the line appears again whenever the server has listed the files again.
   */
  | { readonly kind: 'log'; readonly pattern: RegExp; readonly isRepeated?: true }
  /** Everything that it reported as work in progress has ended. */
  | { readonly kind: 'progress' }
  /** A notification of its own, with this value in this field, which stays for a moment. */
  | { readonly kind: 'notification'; readonly method: string; readonly field?: string; readonly value?: unknown };

/** The program of a server. */
type ServerProgram =
  /** A file of an npm package that Croft ships; `packages` is the way to it, each in the dependencies of the last. */
  | { readonly kind: 'package'; readonly packages: readonly string[]; readonly file: string; readonly isScript?: true }
  /** A program on the operator's PATH. */
  | { readonly kind: 'path'; readonly name: string };

/** Changes for `--code safe`, with which a server runs no code of the repository. */
interface SafeChanges {
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Why the server cannot be used in this mode. */
  readonly refusal?: string;
}

/** A language server as data: one file a server in `language-servers`. */
export interface LanguageServerDefinition {
  readonly name: string;
  /** Ids of languages by the ending of a file's name, such as `.ts`. */
  readonly languages: Readonly<Record<string, string>>;
  readonly program: ServerProgram;
  readonly args: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** Answers to `workspace/configuration`, by section; also sent once as a whole. */
  readonly settings?: Readonly<Record<string, unknown>>;
  readonly initializationOptions?: Readonly<Record<string, unknown>>;
  readonly ready: ReadySign;
  readonly memoryBytes: number;
  /** How long a request may take. 20 seconds if left out. A server that is late three times in a row is restarted. */
  readonly requestMs?: number;
  /** A server that nobody asks for this time is stopped. */
  readonly idleMs: number;
  /** Words that cannot be names in the language; servers do not refuse all of them. */
  readonly reservedWords?: readonly string[];
  /** The file in the directory of a project, if the server has to be told of projects deep in the workspace. */
  readonly projectFile?: string;
  /** Changed names of such files make the server read the project anew, such as a lock file. */
  readonly restartFiles?: readonly string[];
  /** True if the server reads a changed file again only if the file is open. */
  readonly rereadsOnlyOpen?: true;
  readonly safe?: SafeChanges;
  /** How to install the server, for somebody who does not have it. */
  readonly install: string;
}

export const gigabyte = 1024 ** 3;
export const idleMs = 10 * 60_000;
/** Servers that take long to start. */
export const longIdleMs = 20 * 60_000;
