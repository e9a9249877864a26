import { createLocalGate } from '../app/local-gate.ts';
import { type AppOptions, createApp } from '../app.ts';
import { durabilities } from '../core/durability.ts';
import type { Emit } from '../core/events.ts';
import { permissionModes } from '../core/permission.ts';
import { parseWorkspaceSpec } from '../core/workspace-spec.ts';
import { goQuote } from '../lib/text/go-quote.ts';
import { UsageError } from '../lib/usage-error.ts';
import type { Options, Terminal, Values } from './command.ts';
import { describeOpenData } from './data-directory.ts';
import { findKeys } from './key-file.ts';
import { readMcpConfig } from './mcp-config.ts';
import { describeOpenings, oneOf, sandboxOptions, toSandboxOptions } from './sandbox-options.ts';

/** The flags of every command that opens workspaces. */
export const workspaceOptions = {
  workspace: {
    type: 'string',
    once: true,
    value: 'DIR',
    summary: 'the one workspace; the current directory if left out',
  },
  workspaces: { type: 'string', once: true, value: 'SPEC', summary: 'several: name=dir,name=dir or dir,dir' },
  'format-on-edit': { type: 'boolean', summary: 'format each file after write and edit, with its own formatter' },
  'permission-mode': {
    type: 'string',
    value: 'MODE',
    summary:
      'what a person has to agree to: ask (writes and commands), edit (commands) or bypass (nothing, the default)',
  },
  durability: {
    type: 'string',
    value: 'MODE',
    summary:
      'what a change to a file waits for before it is answered: strict (it is on the disk, the default) or relaxed ' +
      '(nothing: a power cut may take what was written in the last half minute)',
  },
  readonly: { type: 'boolean', summary: 'only tools that read' },
  'secrets-dir': { type: 'string', value: 'DIR', summary: 'secrets that commands may be given, a file each' },
  'mcp-config': {
    type: 'string',
    value: 'FILE',
    summary: 'MCP servers to start in the sandbox, as {"mcpServers": {…}}; see docs/mcp-servers.md',
  },
  'workspace-mcp': { type: 'boolean', summary: 'start those too that .mcp.json of the workspace names' },
  skills: {
    type: 'string',
    multiple: true,
    value: 'DIR',
    summary: 'skills of the server, brought to .skills of each workspace; may be repeated',
  },
  agents: {
    type: 'string',
    multiple: true,
    value: 'DIR',
    summary: 'sub-agents of the server, brought to .agents of each workspace; may be repeated',
  },
  events: { type: 'string', value: 'FILE', summary: 'append lifecycle events to FILE, a JSON line each' },
  ...sandboxOptions,
} as const satisfies Options;

type WorkspaceValues = Values<typeof workspaceOptions>;

interface AppValues extends WorkspaceValues {
  /** Where the server keeps what is its own, when a flag says. */
  readonly data?: string;
}

export interface OpenAppOptions {
  /** Where no flag names one. Left out: the current directory. */
  readonly fallback?: AppOptions['workspaces'] | undefined;
  /** Whether what opens doors to others is kept in the data directory. */
  readonly keepsKeys?: boolean;
}

/** What is wrong with the workspaces or the sandbox stops the program, with the reason. */
export function openApp(values: AppValues, terminal: Terminal, { fallback, keepsKeys = false }: OpenAppOptions = {}) {
  const { host, data } = terminal.config();
  const onWarning = (message: string) => void terminal.stderr.write(`croft: ${message}\n`);
  try {
    const workspaces = toSources(values) ?? fallback ?? [{ path: '.' }];
    const places = { workspaces: workspaces.map(({ path }) => path), data: values.data ?? data, home: host.home };
    const sandbox = toSandboxOptions(values, places);
    const gate = toGate(values, places.data, terminal, () => app.emit);
    const openings = [...describeOpenings(sandbox), ...describeOpenData(places, keepsKeys || !!gate.gate)];
    const app = createApp({
      ...gate,
      workspaces,
      readOnly: values.readonly ?? false,
      durability: toDurability(values),
      formatOnEdit: values['format-on-edit'] ?? false,
      eventsFile: values.events,
      innerServers: toInnerServers(values),
      skills: toSkills(values),
      host: { ...host, secretsDirectory: values['secrets-dir'] },
      sandbox,
      data: places.data,
      onWarning,
    });
    openings.forEach(onWarning);
    return app;
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown;
    const reason = thrown instanceof Error ? thrown.message : String(thrown);
    throw new UsageError(/^(events|directory of skills) /.test(reason) ? reason : `workspace: ${reason}`);
  }
}

function toDurability({ durability = 'strict' }: WorkspaceValues): AppOptions['durability'] {
  return oneOf('durability', durabilities, durability);
}

function toInnerServers(values: WorkspaceValues): AppOptions['innerServers'] {
  return { mcpServers: readMcpConfig(values['mcp-config']), workspaceMcp: values['workspace-mcp'] ?? false };
}

function toSkills({ skills = [], agents = [] }: WorkspaceValues): AppOptions['skills'] {
  return { skills, agents };
}

/** Who agrees to what, for workspaces given by flags. */
function toGate(
  { 'permission-mode': written = 'bypass' }: WorkspaceValues,
  data: string,
  terminal: Terminal,
  emit: () => Emit,
): Pick<AppOptions, 'permission' | 'gate'> {
  const permission = oneOf('permission-mode', permissionModes, written);
  if (permission === 'bypass') return { permission };
  const open = async () => {
    // Loaded here, because a server that asks nobody starts sooner without it.
    const { openLocalApprovals } = await import('../app/local-approvals.ts');
    return openLocalApprovals({ data, keys: findKeys(data, terminal.config().keys), emit: emit() });
  };
  return { permission, gate: createLocalGate(open) };
}

/** Says at start what an operator would want to know had it been set by mistake. */
export function announce(
  { workspaces, readonly }: WorkspaceValues,
  names: readonly string[],
  { stderr }: Terminal,
): void {
  if (workspaces) {
    stderr.write(`croft multi-workspace mode: ${names.length} workspaces configured (${names.join(', ')})\n`);
  }
  if (readonly) stderr.write('croft running in read-only mode (mutating tools not registered)\n');
}

function toSources({ workspace, workspaces = '' }: WorkspaceValues): AppOptions['workspaces'] | undefined {
  if (workspace !== undefined && workspaces !== '') {
    throw new Error(
      `-workspace ${goQuote(workspace)} and -workspaces ${goQuote(workspaces)} are mutually exclusive; use one`,
    );
  }
  if (workspaces !== '') return parseWorkspaceSpec(workspaces);
  if (workspace === undefined) return undefined;
  if (workspace === '') throw new Error('resolve workspace root: the path is empty');
  return [{ path: workspace }];
}
