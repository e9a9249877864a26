import { z } from 'zod';
import { replaceText } from '../box/replace-text.ts';
import { CroftError } from '../errors/croft-error.ts';
import { cleanPath, isDirectory, matchesGlob, mustHave, pathsAt, renderDiff, toBytes, toText } from './fake-tree.ts';
import {
  commitTransaction,
  discardTransaction,
  type FakeRun,
  killShell,
  readShell,
  runBash,
  runProgram,
} from './run-fake-command.ts';

export interface FakeTool {
  readonly name: string;
  readonly access: 'read' | 'write' | 'execute';
  readonly description: string;
  readonly input: z.ZodObject;
  run(run: FakeRun, input: unknown): unknown;
}

function tool<Input extends z.ZodObject>(
  name: string,
  access: FakeTool['access'],
  description: string,
  input: Input,
  run: (run: FakeRun, input: z.output<Input>) => unknown,
): FakeTool {
  return { name, access, description, input, run: (running, given) => run(running, input.parse(given)) };
}

const file_path = z.string().min(1);
const shell_id = z.string().min(1);
const transaction = z.string().min(1);

/** The tools of agents that the fake has, with the arguments of the real ones that the SDK uses. */
export const fakeTools: readonly FakeTool[] = [
  tool('read', 'read', 'Read a text file.', z.object({ file_path }), ({ workspace }, { file_path: path }) => {
    const bytes = mustHave(workspace.tree, cleanPath(path));
    const content = toText(bytes);
    const totalLines = content === '' ? 0 : content.replace(/\n$/, '').split('\n').length;
    return {
      path,
      kind: 'text',
      size: bytes.length,
      content,
      startLine: 1,
      endLine: totalLines,
      totalLines,
      truncated: false,
    };
  }),
  tool('write', 'write', 'Write a file.', z.object({ file_path, content: z.string() }), ({ workspace }, input) => {
    const path = cleanPath(input.file_path);
    const isNew = !workspace.tree.has(path);
    workspace.tree.set(path, toBytes(input.content));
    return { path, created: isNew, bytes: toBytes(input.content).length };
  }),
  tool(
    'edit',
    'write',
    'Replace text in a file that has been read.',
    z.object({ file_path, old_string: z.string(), new_string: z.string(), replace_all: z.boolean().default(false) }),
    ({ workspace: { tree } }, { file_path: given, old_string, new_string, replace_all }) => {
      const path = cleanPath(given);
      const before = mustHave(tree, path);
      const { text, count } = replaceText(path, toText(before), {
        find: old_string,
        replace: new_string,
        all: replace_all,
      });
      tree.set(path, toBytes(text));
      return { path, replaced: count, diff: renderDiff({ path, before, after: tree.get(path) }) };
    },
  ),
  tool(
    'glob',
    'read',
    'Find files by pattern.',
    z.object({ pattern: z.string().min(1), path: z.string().default(''), limit: z.int().default(100) }),
    ({ workspace: { tree } }, { pattern, path, limit }) => {
      const found = pathsAt(tree, cleanPath(path)).filter((name) => matchesGlob(pattern, name));
      return { paths: found.slice(0, limit), total: found.length, truncated: found.length > limit, unreadable: 0 };
    },
  ),
  tool(
    'grep',
    'read',
    'Search file contents.',
    z.object({ pattern: z.string().min(1), path: z.string().default(''), glob: z.string().optional() }),
    ({ workspace: { tree } }, { pattern, path, glob }) => {
      const found = pathsAt(tree, cleanPath(path)).filter((name) => glob === undefined || matchesGlob(glob, name));
      const lines = found.flatMap((name) => matchesIn(name, toText(mustHave(tree, name)), new RegExp(pattern)));
      return { mode: 'content', matches: lines, truncated: false, unreadable: 0 };
    },
  ),
  tool(
    'list',
    'read',
    'List a directory.',
    z.object({ path: z.string().default('') }),
    ({ workspace: { tree } }, input) => {
      const path = cleanPath(input.path);
      if (!isDirectory(tree, path)) throw new CroftError('E_FILE_NOT_FOUND', `no such file or directory: ${path}`);
      return { path, entries: entriesOf(pathsAt(tree, path), path), truncated: false };
    },
  ),
  tool('workspaces', 'read', 'List the workspaces.', z.object({}), ({ name }) => ({
    workspaces: [{ name, root: `/workspaces/${name}`, access: 'read-write' }],
  })),
  tool(
    'run_command',
    'execute',
    'Run a program by its arguments, without a shell.',
    z.object({ cmd: z.string().min(1), args: z.array(z.string()).default([]), timeout_ms: z.number().default(60_000) }),
    runProgram,
  ),
  tool(
    'bash',
    'execute',
    'Run a command line.',
    z.object({
      command: z.string().min(1),
      timeout: z.number().default(120),
      run_in_background: z.boolean().default(false),
      transaction: z.boolean().default(false),
    }),
    runBash,
  ),
  tool(
    'bash_output',
    'read',
    'Output of a background command.',
    z.object({ shell_id, cursor: z.int().default(0) }),
    readShell,
  ),
  tool('kill_shell', 'read', 'End a background command.', z.object({ shell_id }), killShell),
  tool('transaction_commit', 'write', 'Commit a transaction.', z.object({ transaction }), commitTransaction),
  tool('transaction_discard', 'write', 'Discard a transaction.', z.object({ transaction }), discardTransaction),
];

export function matchesIn(path: string, text: string, pattern: RegExp) {
  const lines = text.replace(/\n$/, '').split('\n');
  return lines.flatMap((line, index) => (pattern.test(line) ? [{ path, line: index + 1, text: line }] : []));
}

function entriesOf(paths: readonly string[], folder: string) {
  const skip = folder === '' ? 0 : folder.length + 1;
  const names = new Set(paths.map((path) => path.slice(skip).split('/')[0] ?? ''));
  const isFile = (name: string) => paths.includes(folder === '' ? name : `${folder}/${name}`);
  return [...names].map((name) => ({ name, kind: isFile(name) ? 'file' : 'directory', size: 0 }));
}
