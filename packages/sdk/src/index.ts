export { AppError } from '@croft/protocol';
export type { Box, FileChanges, SnapshotOptions, ToolAnswer } from './box/box.ts';
export type { BoxFiles, EditOptions, ReadOptions, WriteOptions } from './box/box-files.ts';
export type { BackgroundCommand, Command } from './box/command.ts';
export type { CommandResult, OutputChunk, Violation } from './box/command-result.ts';
export type { CommandLine, ExecOptions } from './box/exec.ts';
export type { SandboxConfig } from './box/find-records.ts';
export type { OpenOptions } from './box/open-box.ts';
export type { TestOptions, TestReport } from './box/run-tests.ts';
export type { BackgroundOptions } from './box/start-in-background.ts';
export type { Terminal, TerminalExit, TerminalOptions } from './box/terminal.ts';
export type { ApprovalPolicy, CallOptions, ToolInput } from './box/tool-caller.ts';
export type { Transaction } from './box/transaction.ts';
export type { AccountEventOptions } from './client/account-events.ts';
export type { AgentOptions, ToolCall, ToolCallOptions } from './client/agent.ts';
export type { ApprovalFilter, DecisionOptions } from './client/approvals.ts';
export type { ChangeOptions, CreateOptions } from './client/collections.ts';
export { type Client, createClient } from './client/create-client.ts';
export type {
  DownloadOptions,
  LinkOptions,
  ListFilesOptions,
  SearchOptions,
  UploadBody,
  UploadOptions,
} from './client/files.ts';
export type { PageOptions } from './client/pages.ts';
export type { ToolBytes, ToolOutput } from './client/read-tool-events.ts';
export type { ClientOptions } from './client/request.ts';
export type { UndoOptions } from './client/snapshots.ts';
export { Croft, type CroftOptions } from './croft.ts';
export { CroftError } from './errors/croft-error.ts';
export type { ApprovalEvent, WatchOptions } from './watch/watch-approvals.ts';
