import type { LanguageServerDefinition } from './language-server-definition.ts';
import type { Diagnostic } from './protocol-schemas.ts';
import type { SourceText } from './source-text.ts';

/** How much a workspace may use: nothing, parsers, servers that run no code of the repository, or all servers. */
export const codeModes = ['off', 'syntax', 'safe', 'full'] as const;
export type CodeMode = (typeof codeModes)[number];
/** The modes in which there are language servers. */
export type ServerMode = Extract<CodeMode, 'safe' | 'full'>;

export interface ServerUse {
  readonly signal: AbortSignal;
  readonly onActivity?: ((activity: () => string) => void) | undefined;
}

/** Paths that changed, or `everything` if there were too many to tell. */
export type ChangedPaths = ReadonlySet<string> | 'everything';

/**
 * The language servers of one workspace, shared by all sessions: at most one process for each server, started on first
 * use. They see the workspace read-only and no network.
 */
export interface LanguageServers {
  /** The server that knows the language of a file. Absent: there is none. */
  definitionFor(path: string): LanguageServerDefinition | undefined;
  isRunning(name: string): boolean;
  /**
   * Runs `work` with the server, and once more if the server ends meanwhile. Throws `E_NO_SERVER` if it is not
   * installed, and `E_CODE_SERVER` if it does not work.
   */
  use<T>(
    definition: LanguageServerDefinition,
    options: ServerUse,
    work: (server: LanguageServer) => Promise<T>,
  ): Promise<T>;
  /** A text that changes whenever a file of the workspace changes. For cursors. */
  treeVersion(): Promise<string>;
}

/** A running server that knows the files as they are on the disk. */
export interface LanguageServer {
  readonly definition: LanguageServerDefinition;
  /** The path of the workspace as the server sees it. */
  readonly root: string;
  readonly capabilities: Readonly<Record<string, unknown>>;
  /**
   * Waits until the server knows the whole project. Opens the file first: some servers begin only then. Returns false if
   * that takes longer than 30 seconds, or if the server says that it cannot.
   */
  whenReady(path: string): Promise<boolean>;
  /** The reason when `whenReady` has returned false, for the notes of an answer. */
  whyIncomplete(): string;
  /** Tells the server what changed on the disk. Returns a number for `changedSince`. */
  sync(): Promise<number>;
  /** Paths that `sync` found changed after it returned this number. */
  changedSince(version: number): ChangedPaths;
  /** Opens the file in the server. Throws `E_NOT_PARSED` for a file that is too large or no text. */
  open(path: string): Promise<SourceText>;
  /** Makes the server read the file again from the disk. */
  reopen(path: string): Promise<void>;
  /** Sends a request. The caller parses the answer: it comes from a program that a hostile repository may control. */
  request(method: string, params: unknown): Promise<unknown>;
  /** Returns the diagnostics of the current content; `undefined` if the server has not sent them in time. */
  diagnostics(path: string): Promise<readonly Diagnostic[] | undefined>;
}
