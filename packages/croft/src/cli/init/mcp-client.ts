/** How the server is reached: the client starts it, or it listens somewhere. */
export type ServerTarget =
  | { readonly kind: 'stdio'; readonly command: string; readonly directory: string | undefined }
  | { readonly kind: 'http'; readonly url: string };

export type ConfigScope = 'user' | 'project';

/** A program that speaks MCP, and how its configuration file names a server. */
export interface McpClient {
  /** The name of the client for the flag `--client`. */
  readonly name: string;
  readonly title: string;
  /** A path below the home directory that exists where the client is installed. */
  readonly sign: string;
  /** The file for all projects, below the home directory. */
  readonly userFile: string;
  /** Other paths of `sign` and `userFile`, by the name that Node has for the system. */
  readonly elsewhere?: Readonly<Partial<Record<NodeJS.Platform, ClientFiles>>>;
  /** The file for one project, below its directory. Absent: the client has none. */
  readonly projectFile?: string;
  readonly format: 'json' | 'toml';
  /** The key of the table of servers. */
  readonly table: string;
  /** The variable that the client replaces by the directory of the open project. Absent: the entry must have a path. */
  readonly projectVariable?: string;
  /** Values that the client asks the person for, in the list `inputs` of the file, if the server needs a token. */
  readonly inputs?: readonly ConfigInput[];
  /** The entry of a server. `undefined` if the client cannot reach such a server without a secret in the file. */
  toEntry(server: EntrySource): Readonly<Record<string, unknown>> | undefined;
}

type ClientFiles = Pick<McpClient, 'sign' | 'userFile'>;

/** Returns the settings files of a client on this system. */
export function filesOf(client: McpClient, platform: NodeJS.Platform = process.platform): ClientFiles {
  return client.elsewhere?.[platform] ?? client;
}

export interface ConfigInput {
  readonly id: string;
  readonly [field: string]: unknown;
}

/** The source of an entry. A token is never in a file: the client reads a variable, or asks. */
export type EntrySource =
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'http'; readonly url: string };

export const tokenVariable = 'CROFT_TOKEN';
