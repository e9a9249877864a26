import type { MutableTree } from './fake-tree.ts';
import { toBytes } from './fake-tree.ts';

/** The effects of a fake command: its output, exit code, files and duration. */
export interface FakeCommand {
  readonly stdout?: string | undefined;
  readonly stderr?: string | undefined;
  /** Default: 0. */
  readonly exitCode?: number | undefined;
  /** Files that it writes, by path. */
  readonly writes?: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>> | undefined;
  /** How long it takes, by the clock of the fake. Infinity: until it is ended. Default: 0. */
  readonly takesMs?: number | undefined;
}

export interface RunningFake {
  /** The line, as the shell would get it. */
  readonly line: string;
  /** The files of the workspace, which the command may read and change. */
  readonly files: {
    read(path: string): string | undefined;
    write(path: string, content: string): void;
    delete(path: string): void;
  };
}

type Answer = FakeCommand | ((running: RunningFake) => FakeCommand | Promise<FakeCommand>);

export type FakeCommands = ReturnType<typeof createFakeCommands>;

/** The commands that the fake knows. The one that was taught last counts. */
export function createFakeCommands() {
  const taught: { readonly pattern: string | RegExp; readonly answer: Answer }[] = [];
  return {
    teach(pattern: string | RegExp, answer: Answer): void {
      taught.unshift({ pattern, answer });
    },
    async answerTo(line: string, tree: MutableTree): Promise<FakeCommand> {
      const known = taught.find(({ pattern }) => (typeof pattern === 'string' ? pattern === line : pattern.test(line)));
      if (!known) return { stderr: `bash: ${line}: command not found\n`, exitCode: 127 };
      if (typeof known.answer !== 'function') return known.answer;
      return known.answer({ line, files: toFiles(tree) });
    },
  };
}

function toFiles(tree: MutableTree): RunningFake['files'] {
  return {
    read: (path) => {
      const bytes = tree.get(path);
      return bytes && new TextDecoder().decode(bytes);
    },
    write: (path, content) => void tree.set(path, toBytes(content)),
    delete: (path) => void tree.delete(path),
  };
}

export function writeFiles(tree: MutableTree, { writes = {} }: FakeCommand): void {
  for (const [path, content] of Object.entries(writes)) tree.set(path, toBytes(content));
}
