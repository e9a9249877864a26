import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect } from 'vitest';
import type { CallOptions, ToolAnswer } from '../support/harness.ts';

type Call = (tool: string, args?: Record<string, unknown>, options?: CallOptions) => Promise<ToolAnswer>;

/** Real projects take long on a machine under load. */
const seconds = 600;
const options = { timeout: (seconds + 60) * 1000 };

/** Directories that runs create, and directories of dependencies. */
const made = /^(?:node_modules|target|build|dist|\.pytest_cache|\.mypy_cache|__pycache__|\.git)$/;

/** The files of a directory, each with the hash of its content. */
export function listFiles(root: string): Record<string, string> {
  const files: Record<string, string> = {};
  const walk = (directory: string) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (made.test(entry.name)) continue;
      if (entry.isDirectory()) walk(path);
      else if (entry.isFile())
        files[relative(root, path)] = createHash('sha256').update(readFileSync(path)).digest('hex');
    }
  };
  walk(root);
  return files;
}

export type CheckTool = 'run_tests' | 'run_lint' | 'run_typecheck';

export interface Compared {
  /** Path of the workspace. */
  readonly path: string;
  readonly call: Call;
  /** The command that the people of the project run. */
  readonly command: string;
  /** `run_tests` by default. */
  readonly tool?: CheckTool;
  /** The files that must stay as they are. Needed for a project that builds beside its sources; all files by default. */
  readonly sources?: readonly string[];
  /** More arguments of the tool, such as `language`. */
  readonly args?: Record<string, unknown>;
}

/**
 * Runs a tool and the project's own command in the same sandbox on the same files. Both must be green, or neither. The
 * tool must leave the files as they were.
 */
export async function expectSameVerdict(compared: Compared, isGreen: boolean): Promise<ToolAnswer> {
  const { path, call, command, tool = 'run_tests', sources, args } = compared;
  const listAll = () => pick(listFiles(path), sources);
  const before = listAll();
  // The tool comes first, because the command would build files that the tool has to build itself.
  const ran = await call(tool, { timeout: seconds, ...args }, options);
  expect(listAll()).toEqual(before);
  const own = await call('bash', { command, timeout: seconds }, options);
  const said = `${own.text}\n=== ${tool}:\n${ran.text}`;
  expect(own.structured.exitCode === 0, said).toBe(isGreen);
  // A missing program is an error of the call, which is not green either.
  expect(!ran.isError && isGreenAnswer(tool, ran), said).toBe(isGreen);
  return ran;
}

function pick(files: Record<string, string>, names: readonly string[] | undefined) {
  return names ? Object.fromEntries(names.map((name) => [name, files[name]])) : files;
}

function isGreenAnswer(tool: CheckTool, { structured: { state, green } }: ToolAnswer): boolean {
  if (tool !== 'run_tests') return state === 'clean' || state === 'warnings';
  expect(green).toBe(state === 'passed');
  return green;
}
