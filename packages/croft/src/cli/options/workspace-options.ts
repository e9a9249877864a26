import { statSync } from 'node:fs';
import { basename, resolve } from 'node:path';
import type { App, AppOptions } from '../../app/app.ts';
import { createLocalApprovalGate } from '../../app/records/local-approval-gate.ts';
import { createLocalCallJournal } from '../../app/records/local-call-journal.ts';
import type { Emit } from '../../core/events/emitter.ts';
import { durabilities } from '../../core/storage/durability.ts';
import { parseWorkspaceSpec } from '../../core/workspace/parse-workspace-spec.ts';
import { permissionModes } from '../../core/workspace/permission.ts';
import { once } from '../../lib/concurrency/once.ts';
import { errorMessage } from '../../lib/error-message.ts';
import { goQuote } from '../../lib/text/go-quote.ts';
import { UsageError } from '../../lib/usage-error.ts';
import type { CommandContext, Options, Values } from '../command.ts';
import { findServerKeys } from '../find-server-keys.ts';
import { codeOptions, toCodeMode } from './code-options.ts';
import { describeOpenData } from './data-directory.ts';
import { editCheckOptions, toEditChecks } from './edit-check-options.ts';
import { historyOptions, toHistoryLimits } from './history-options.ts';
import { personalOptions, toPersonal } from './personal-options.ts';
import { readMcpConfig } from './read-mcp-config.ts';
import { isDataInWorkspace, type ProtectedDirectories } from './readable-directories.ts';
import { describeOpenings, oneOf, sandboxOptions, toSandboxOptions } from './sandbox-options.ts';

/** The flags of every command that opens workspaces. */
export const workspaceOptions = {
  workspace: {
    type: 'string',
    once: true,
    value: 'DIR',
    summary: 'the one workspace (the current directory)',
  },
  workspaces: {
    type: 'string',
    once: true,
    value: 'SPEC',
    summary: 'several workspaces: name=dir,name=dir or dir,dir',
  },
  ...editCheckOptions,
  'permission-mode': {
    type: 'string',
    value: 'MODE',
    summary:
      'what a person has to agree to: ask (writes and commands), edit (commands) or bypass (nothing but control files, the default)',
  },
  durability: {
    type: 'string',
    value: 'MODE',
    summary:
      'what a change to a file waits for before it is answered: strict (it is on the disk, the default) or relaxed ' +
      '(nothing: a power cut may take what was written in the last half minute)',
  },
  ...codeOptions,
  readonly: { type: 'boolean', summary: 'offer only tools that read' },
  tools: {
    type: 'string',
    once: true,
    value: 'LIST',
    summary:
      'the tools that agents have, listed to their clients: names of toolsets and tools, such as files,search,bash; `all` for ' +
      'every one; left out, or with `default`, every one too, of which clients list the everyday ones and find the rest ' +
      'through `tools`; see docs/tools.md',
  },
  'secrets-dir': { type: 'string', value: 'DIR', summary: 'secrets that commands may be given, a file each' },
  'mcp-config': {
    type: 'string',
    value: 'FILE',
    summary: 'MCP servers to start in the sandbox, as {"mcpServers": {…}}; see docs/mcp-servers.md',
  },
  'workspace-mcp': { type: 'boolean', summary: 'start also the MCP servers that .mcp.json of the workspace names' },
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
  ...historyOptions,
  ...sandboxOptions,
  ...personalOptions,
} as const satisfies Options;

type WorkspaceValues = Values<typeof workspaceOptions>;

interface AppValues extends WorkspaceValues {
  /** The data directory, if a flag names it. */
  readonly data?: string;
}

interface OpenAppOptions {
  /** Workspaces to use if no flag names one. Default: the current directory. */
  readonly fallback?: AppOptions['workspaces'] | undefined;
  /** Whether the data directory holds keys that give access to the server. */
  readonly keepsKeys?: boolean;
}

/** Opens the app. A mistake in the workspaces or the sandbox options stops the program, with the reason. */
export async function openApp(values: AppValues, terminal: CommandContext, options: OpenAppOptions = {}): Promise<App> {
  return prepareApp(values, terminal, options)();
}

/** Parses the flags, which may stop the program, and returns a function that opens the workspaces. */
export function prepareApp(
  values: AppValues,
  terminal: CommandContext,
  { fallback, keepsKeys = false }: OpenAppOptions = {},
): () => Promise<App> {
  const { host, data } = terminal.config();
  const onWarning = (message: string) => void terminal.stderr.write(`croft: ${message}\n`);
  let app: App | undefined;
  try {
    const workspaces = toSources(values) ?? fallback ?? [{ path: '.' }];
    const protectedDirectories = {
      workspaces: workspaces.map(({ path }) => path),
      data: values.data ?? data,
      home: host.home,
    };
    const isolation = toSandboxOptions(values, protectedDirectories);
    const isOpen = isolation.network.mode === 'allow-all';
    const sandbox = { ...isolation, personal: toPersonal(values, { variables: host.variables, isOpen }) };
    const gate = toGate(values, protectedDirectories, terminal, () => app?.emit ?? (() => {}));
    const openings = [
      ...describeOpenings(sandbox),
      ...describeOpenData(protectedDirectories, keepsKeys || !!gate.gate),
    ];
    const options: AppOptions = {
      ...gate,
      workspaces,
      readOnly: values.readonly ?? false,
      tools: toToolNames(values),
      durability: toDurability(values),
      code: toCodeMode(values),
      editChecks: toEditChecks(values),
      journal: toJournal(workspaces, protectedDirectories, terminal, onWarning),
      eventsFile: values.events,
      innerServers: toInnerServers(values),
      skills: toSkills(values),
      host: { ...host, secretsDirectory: values['secrets-dir'] },
      sandbox,
      data: protectedDirectories.data,
      historyLimits: toHistoryLimits(values),
      onWarning,
    };
    return async () => {
      app = await loadApp(options);
      openings.forEach(onWarning);
      return app;
    };
  } catch (thrown) {
    throw toUsageError(thrown);
  }
}

async function loadApp(options: AppOptions): Promise<App> {
  // Loads most of the program. It is loaded here, because wrong flags and a client's first request need none of it.
  const { createApp } = await import('../../app/app.ts');
  try {
    return createApp(options);
  } catch (thrown) {
    throw toUsageError(thrown);
  }
}

function toUsageError(thrown: unknown): UsageError {
  if (thrown instanceof UsageError) return thrown;
  const reason = errorMessage(thrown);
  return new UsageError(/^(events|directory of skills) /.test(reason) ? reason : `workspace: ${reason}`);
}

function toDurability({ durability = 'strict' }: WorkspaceValues): AppOptions['durability'] {
  return oneOf('durability', durabilities, durability);
}

function toToolNames({ tools }: WorkspaceValues): AppOptions['tools'] {
  const names = tools?.split(',').map((name) => name.trim());
  if (names?.includes(''))
    throw new UsageError(`--tools takes names, such as files,search, not ${goQuote(tools ?? '')}`);
  return names;
}

function toInnerServers(values: WorkspaceValues): AppOptions['innerServers'] {
  return { mcpServers: readMcpConfig(values['mcp-config']), workspaceMcp: values['workspace-mcp'] ?? false };
}

function toSkills({ skills = [], agents = [] }: WorkspaceValues): AppOptions['skills'] {
  return { skills, agents };
}

/**
 * Approvals for workspaces that flags name. Control files need an approval in every mode, in `bypass` only from the
 * person at the client. If agents could reach the approvals in the data directory, control files cannot be changed.
 */
function toGate(
  { 'permission-mode': written = 'bypass' }: WorkspaceValues,
  protectedDirectories: ProtectedDirectories,
  terminal: CommandContext,
  emit: () => Emit,
): Pick<AppOptions, 'permission' | 'gate' | 'localApprovals'> {
  const permission = oneOf('permission-mode', permissionModes, written);
  if (permission === 'bypass' && isDataInWorkspace(protectedDirectories)) return { permission };
  const { data } = protectedDirectories;
  const localApprovals = once(async () => {
    // Loaded here, because a server that needs no approvals starts sooner without it.
    const { openLocalApprovals } = await import('../../app/records/local-approvals.ts');
    return openLocalApprovals({ data, keys: findServerKeys(data, terminal.config().keys), emit: emit() });
  });
  const gate = { ...createLocalApprovalGate(localApprovals), hasNoInbox: permission === 'bypass' };
  return { permission, gate, localApprovals };
}

/** The audit trail of workspaces that flags name. There is none if an agent could reach it. */
function toJournal(
  workspaces: AppOptions['workspaces'],
  protectedDirectories: ProtectedDirectories,
  terminal: CommandContext,
  onWarning: (message: string) => void,
): AppOptions['journal'] {
  const { auditBytes: maxBytes, keys } = terminal.config();
  if (maxBytes === 0 || isDataInWorkspace(protectedDirectories)) return undefined;
  const { data } = protectedDirectories;
  const open = async () => {
    // Loaded here, because a client's first request needs none of it.
    const { openLocalAuditTrail } = await import('../../app/records/local-audit-trail.ts');
    return openLocalAuditTrail({ data, ring: findServerKeys(data, keys).ring, maxBytes });
  };
  const named = workspaces.map(({ name, path }) => [name ?? basename(resolve(path)), resolve(path)]);
  return createLocalCallJournal({ open, workspaces: Object.fromEntries(named), onWarning });
}

/** Reports modes at start that an operator may have set by mistake. */
export function announce(
  { workspaces, readonly }: WorkspaceValues,
  names: readonly string[],
  { stderr }: CommandContext,
): void {
  if (workspaces) {
    stderr.write(`croft multi-workspace mode: ${names.length} workspaces configured (${names.join(', ')})\n`);
  }
  if (readonly) stderr.write('croft running in read-only mode (mutating tools not registered)\n');
}

/**
 * Whether each workspace that a flag names is a directory. A quick check: other problems appear when they are opened.
 */
export function areWorkspacesDirectories(values: WorkspaceValues): boolean {
  try {
    return (toSources(values) ?? []).every(({ path }) => statSync(path).isDirectory());
  } catch {
    return false;
  }
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
