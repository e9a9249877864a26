import type {
  AgentFence,
  CallOutlook,
  CallsUndone,
  ForkMerged,
  Snapshot,
  SnapshotDiff,
  SnapshotRestored,
} from '@croft/protocol';
import type { z } from 'zod';
import type { AgentClient } from '../client/agent.ts';
import type { Client } from '../client/create-client.ts';
import type { UndoOptions } from '../client/snapshots.ts';
import type { BoxFiles } from './box-files.ts';
import type { BackgroundCommand, Command } from './command.ts';
import type { CommandLine, ExecOptions } from './exec.ts';
import type { TestOptions, TestReport } from './run-tests.ts';
import type { BackgroundOptions } from './start-in-background.ts';
import type { Terminal, TerminalOptions } from './terminal.ts';
import type { CallOptions, ToolInput } from './tool-caller.ts';
import type { Transaction } from './transaction.ts';

export interface SnapshotOptions {
  readonly description?: string | undefined;
  /** Also what git ignores; never a `.git`. */
  readonly includeIgnored?: boolean | undefined;
}

export type FileChanges = z.output<typeof SnapshotDiff>['changes'];
export type ToolAnswer = Readonly<Record<string, unknown>>;

/** A workspace, the sandbox that its commands run in, and a session with them. */
export interface Box extends AsyncDisposable {
  /** The name of the workspace. */
  readonly name: string;
  readonly workspaceId: string;
  readonly agentId: string;
  readonly session: string;
  readonly files: BoxFiles;
  /** The tools of the agent, in this session. */
  readonly agent: AgentClient;
  /** The typed client, with one method for each route of the server. */
  readonly client: Client;

  /** A command that goes on when this program has ended, for `attach`. */
  exec(line: CommandLine, options: BackgroundOptions & { readonly background: true }): BackgroundCommand;
  /** A command: awaited its result, iterated its output. A failed command is a result and no error, without `check`. */
  exec(line: CommandLine, options?: ExecOptions): Command;
  /** A command that was started in the background in this session. */
  attach(id: string, options?: Pick<ExecOptions, 'check' | 'signal'>): BackgroundCommand;
  /** Runs a command on a copy of the workspace, so that its changes can be looked at before they are committed. */
  transaction(command: string, options?: Omit<ExecOptions, 'check'>): Promise<Transaction>;
  /** Runs the project's tests with its own runner. */
  tests(options?: TestOptions): Promise<TestReport>;
  /** Calls any tool of the agent. */
  call(tool: string, input?: ToolInput, options?: CallOptions): Promise<ToolAnswer>;
  /** Says what a call would do now. Runs nothing; requests the approval if a person has to agree. */
  ask(tool: string, input?: ToolInput): Promise<CallOutlook>;
  /** Says what the agent may do in each of its workspaces. */
  fence(): Promise<AgentFence>;
  /** The directory of the workspace, as commands in the sandbox see it. */
  root(): Promise<string>;

  /** Remembers all files under a name. Replaces a snapshot of the same name. */
  snapshot(name: string, options?: SnapshotOptions): Promise<Snapshot>;
  snapshots(): Promise<Snapshot[]>;
  /** Restores the files of a snapshot. The files before that become a snapshot too. */
  restore(snapshot: string): Promise<z.output<typeof SnapshotRestored>>;
  /** Returns the changes since a snapshot or, without one, the changes of the last call that changed files. */
  diff(options?: { readonly since?: string | undefined }): Promise<FileChanges>;
  /** Undoes the changes of the last calls: all of them or none. */
  undo(options?: UndoOptions): Promise<z.output<typeof CallsUndone>>;
  /** A new workspace with these files, or with those of a snapshot, as a box of its own. */
  fork(name: string, options?: { readonly snapshot?: string | undefined }): Promise<Box>;
  /** Brings the changes of a fork of this workspace into it. */
  merge(
    fork: { readonly name: string },
    onConflict?: 'refuse' | 'ours' | 'theirs' | 'markers',
  ): Promise<z.output<typeof ForkMerged>>;
  /** Opens a shell. The key needs the scope `terminal`; typed commands need no approval. */
  terminal(options?: TerminalOptions): Promise<Terminal>;

  /** Ends the session with every program that it started. The workspace stays. */
  close(): Promise<void>;
}
