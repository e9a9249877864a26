import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorMessage } from '../../lib/error-message.ts';
import { UsageError } from '../../lib/usage-error.ts';
import { editJsonConfig } from './edit-json-config.ts';
import { editTomlConfig } from './edit-toml-config.ts';
import { type ConfigScope, filesOf, type McpClient, type ServerTarget } from './mcp-client.ts';

export interface ConfigChange {
  readonly client: McpClient;
  readonly file: string;
  /** Absent: there is no file yet. */
  readonly before: string | undefined;
  readonly after: string;
}

interface ConfigPlaces {
  readonly home: string;
  readonly project: string;
  readonly scope: ConfigScope;
}

const serverName = 'croft';

/**
 * Works out the change to the configuration of a client. Returns a reason instead if the client cannot be configured
 * so.
 */
export function planConfigChange(
  client: McpClient,
  target: ServerTarget,
  places: ConfigPlaces,
): ConfigChange | { readonly reason: string } {
  const file = fileOf(client, places);
  if (file === undefined) return { reason: `${client.title} has no file for one project; use --scope user` };
  const value = client.toEntry(toSource(client, target, places));
  if (value === undefined) return { reason: `${client.title} would need the token in its file; use it without --http` };
  const before = read(file);
  const inputs = target.kind === 'http' ? (client.inputs ?? []) : [];
  const entry = { table: client.table, name: serverName, value, inputs };
  const edit = client.format === 'json' ? editJsonConfig : editTomlConfig;
  try {
    return { client, file, before, after: edit(before ?? '', entry) };
  } catch (thrown) {
    throw new UsageError(
      `${file}: ${errorMessage(thrown).split('\n')[0]}; nothing was changed. Mend the file, then run this again`,
    );
  }
}

function fileOf(client: McpClient, { home, project, scope }: ConfigPlaces): string | undefined {
  if (scope === 'user') return join(home, filesOf(client).userFile);
  return client.projectFile === undefined ? undefined : join(project, client.projectFile);
}

function toSource(client: McpClient, target: ServerTarget, { project }: ConfigPlaces) {
  if (target.kind === 'http') return target;
  const directory = target.directory ?? client.projectVariable ?? project;
  return { kind: 'stdio', command: target.command, args: ['mcp', '--workspace', directory] } as const;
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw new UsageError(`${file}: ${errorMessage(thrown)}`);
  }
}
