import { z } from 'zod';
import { Account, CreateAccount, CreateKey, Key, PatchAccount, PutSecret, Secret } from './accounts.ts';
import { Agent, CreateAgent } from './agents.ts';
import { Approval, DecideApproval } from './approvals.ts';
import { AuditHead, AuditRecord, AuditVerdict } from './audit.ts';
import { SessionAnswer, SignInLink } from './browser-sessions.ts';
import { AgentFence, CallOutlook } from './call-outlook.ts';
import { ErrorEnvelope } from './errors/app-error.ts';
import { RecordPatch } from './field-schemas.ts';
import {
  CreateDownloadLink,
  CreateFileLink,
  DownloadLink,
  FileEntry,
  FileLink,
  FileList,
  FileRemoved,
  FileRenamed,
  FileTree,
  FileWritten,
  MoveFile,
  PutFile,
  RemoveFile,
  RenameFile,
} from './files.ts';
import { CreateFork, Fork, ForkAnswer, ForkList, ForkMerged, MergeFork } from './forks.ts';
import { Health, Readiness } from './health.ts';
import { LiveSandboxes } from './live-sandboxes.ts';
import * as answers from './rest-answers.ts';
import { AgentToolInput, OpenAgentSession } from './rest-queries.ts';
import { CreateRunner, Runner, RunnerList, RunnerMade } from './rest-runners.ts';
import { CreateSandbox, Sandbox } from './sandboxes.ts';
import {
  CallsUndone,
  Checkpoint,
  CheckpointDiff,
  CheckpointList,
  CreateSnapshot,
  Snapshot,
  SnapshotAnswer,
  SnapshotDiff,
  SnapshotList,
  SnapshotMade,
  SnapshotRestored,
  UndoCalls,
} from './snapshots.ts';
import { OpenTerminal, TerminalTicket } from './terminals.ts';
import { WorkspaceSearch } from './workspace-search.ts';
import { CreateWorkspace, Workspace } from './workspaces.ts';

export type RestSchema<Output = unknown> = z.ZodType<Output>;

type JsonSchema = Record<string, unknown>;

const answered = {
  ...{
    Error: ErrorEnvelope,
    Health,
    Readiness,
    Account,
    Key,
    Secret,
    Agent,
    Sandbox,
    Workspace,
    Approval,
    AuditRecord,
    AuditHead,
    AuditVerdict,
  },
  ...answers,
  ...{ FileEntry, FileList, FileWritten, FileRenamed, FileRemoved, FileLink, DownloadLink, FileTree },
  ...{ Snapshot, SnapshotAnswer, SnapshotMade, SnapshotList, SnapshotDiff, SnapshotRestored },
  ...{ Checkpoint, CheckpointList, CallsUndone },
  ...{ Fork, ForkAnswer, ForkList, ForkMerged },
  ...{ Runner, RunnerList, RunnerMade, TerminalTicket },
  ...{ SessionAnswer, SignInLink, CallOutlook, AgentFence, CheckpointDiff, WorkspaceSearch, LiveSandboxes },
};
const asked = {
  ...{ CreateAccount, PatchAccount, CreateKey, PutSecret, CreateAgent, CreateSandbox, CreateWorkspace },
  ...{ RecordPatch, DecideApproval, AgentToolInput, OpenAgentSession },
  ...{ PutFile, RenameFile, MoveFile, RemoveFile, CreateFileLink, CreateDownloadLink },
  ...{ CreateSnapshot, UndoCalls, CreateFork, MergeFork, CreateRunner, OpenTerminal },
};

const names = new Map<RestSchema, string>(
  Object.entries({ ...answered, ...asked }).map(([name, schema]) => [schema, name]),
);

/** Every schema of the REST API as JSON Schema, by its name, with references by name. */
export const restSchemas = {
  toComponents: (): JsonSchema => ({ ...toSchemas(answered, 'output'), ...toSchemas(asked, 'input') }),
  reference(schema: RestSchema): JsonSchema {
    const name = names.get(schema);
    if (name === undefined) throw new RangeError('a schema of REST without a name');
    return { $ref: toUri(name) };
  },
  /** The parameters of a query: name, whether it is required, and schema. */
  toParameters(schema: RestSchema) {
    const { properties = {}, required = [] } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
    return Object.entries(properties).map(([name, property]) => ({
      name,
      required: required.includes(name),
      schema: property,
    }));
  },
};

function toSchemas(schemas: Readonly<Record<string, RestSchema>>, io: 'input' | 'output'): JsonSchema {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries(schemas)) registry.add(schema, { id });
  const made = z.toJSONSchema(registry, { io, unrepresentable: 'any', uri: toUri, override: shorten }).schemas;
  return Object.fromEntries(Object.entries(made).map(([name, { $schema, $id, ...schema }]) => [name, schema]));
}

/** Drops patterns that the format already implies. */
function shorten({ jsonSchema }: { jsonSchema: JsonSchema }): void {
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern;
}

function toUri(name: string): string {
  return `#/components/schemas/${name}`;
}
