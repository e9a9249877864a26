/**
 * The part of each framework that the adapters call. The frameworks are no dependency of a clone, so this is what the
 * type check has. `npm run test:adapters` installs the real packages and checks the adapters against their types.
 */

declare module '@langchain/core/tools' {
  export interface StructuredToolInterface {
    readonly name: string;
  }
  interface ToolFields {
    readonly name: string;
    readonly description: string;
    readonly schema: object;
  }
  interface ToolConfig {
    readonly signal?: AbortSignal;
    readonly toolCall?: { readonly id?: string };
  }
  export function tool(
    run: (input: unknown, config: ToolConfig) => Promise<string | object[]>,
    fields: ToolFields,
  ): StructuredToolInterface;
}

declare module '@mastra/core/workspace' {
  export class FileNotFoundError extends Error {
    constructor(path: string);
  }
  export class DirectoryNotFoundError extends Error {
    constructor(path: string);
  }
  export class FileExistsError extends Error {
    constructor(path: string);
  }
  export class IsDirectoryError extends Error {
    constructor(path: string);
  }
  export class NotDirectoryError extends Error {
    constructor(path: string);
  }
  export class DirectoryNotEmptyError extends Error {
    constructor(path: string);
  }
  export class StaleFileError extends Error {
    constructor(path: string, expected: Date, actual: Date);
  }
  interface ProcessOutput {
    readonly maxRetainedBytes?: number;
    readonly onStdout?: (text: string) => void;
    readonly onStderr?: (text: string) => void;
  }
  interface ProcessResult {
    success: boolean;
    exitCode: number;
    stdout: string;
    stderr: string;
    executionTimeMs: number;
  }
  export abstract class ProcessHandle {
    abstract readonly pid: string;
    abstract readonly exitCode: number | undefined;
    command?: string;
    constructor(options?: ProcessOutput);
    get stdout(): string;
    get stderr(): string;
    abstract kill(): Promise<boolean>;
    abstract sendStdin(text: string): Promise<void>;
    closeStdin(): Promise<void>;
    wait(): Promise<ProcessResult>;
    emitStdout(text: string): void;
    emitStderr(text: string): void;
  }
  export abstract class SandboxProcessManager {
    protected readonly env: Record<string, string | undefined>;
    protected readonly _tracked: Map<string, ProcessHandle>;
    constructor(options?: { readonly env?: Record<string, string | undefined> });
    spawn(command: string, options?: ProcessOutput): Promise<ProcessHandle>;
    list(): Promise<{ pid: string; running: boolean }[]>;
    get(pid: string): Promise<ProcessHandle | undefined>;
    kill(pid: string): Promise<boolean>;
    release(pid: string): void;
  }
}

declare module '@openai/agents' {
  export interface FunctionTool<Context = unknown, Parameters = undefined> {
    readonly name: string;
    needsApproval(context: Context, input: Parameters, callId?: string): Promise<boolean>;
  }
  interface ToolDetails {
    readonly signal?: AbortSignal;
    readonly toolCall?: { readonly callId: string };
  }
  interface ToolOptions<Parameters> {
    readonly name: string;
    readonly description: string;
    readonly parameters: Parameters;
    readonly strict: false;
    execute(input: unknown, context?: unknown, details?: ToolDetails): Promise<unknown>;
    errorFunction(context: unknown, error: unknown): string;
    needsApproval(context: unknown, input: unknown, callId?: string): Promise<boolean>;
  }
  export function tool<Parameters extends object>(options: ToolOptions<Parameters>): FunctionTool<unknown, Parameters>;
  export function applyDiff(input: string, diff: string, mode?: 'default' | 'create'): string;
}

declare module '@openai/agents/sandbox' {
  export class Manifest {
    constructor(init: { readonly root: string });
  }
}
