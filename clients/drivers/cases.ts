/** One call that every client makes. Some show the call with an error, so no answer is a part of its own call. */
export interface Case {
  readonly name: 'error' | 'image' | 'long' | 'wide' | 'slow' | 'empty' | 'numbered' | 'written' | 'ran';
  readonly tool: string;
  readonly input: Record<string, unknown>;
}

export const cases: readonly Case[] = [
  { name: 'error', tool: 'read', input: { file_path: 'absent.txt' } },
  { name: 'image', tool: 'read', input: { file_path: 'pixel.png' } },
  { name: 'long', tool: 'bash', input: { command: 'cat rows.log; exit 3' } },
  { name: 'wide', tool: 'bash', input: { command: 'cat wide.log; exit 3' } },
  { name: 'slow', tool: 'bash', input: { command: 'sleep 7; echo "do""ne"' } },
  { name: 'empty', tool: 'bash', input: { command: 'test -e a.txt' } },
  { name: 'numbered', tool: 'read', input: { file_path: 'a.txt' } },
  // A small task: a program is written, and run.
  { name: 'written', tool: 'write', input: { file_path: 'task/sum.sh', content: 'echo "the sum is $((40 + 2))"\n' } },
  { name: 'ran', tool: 'bash', input: { command: 'sh task/sum.sh | tee task/sum.txt' } },
];

const [command = '', ...args] = process.argv.slice(2);

/** How the client starts the server: the arguments of this program. */
export const croft = { command, args, stderr: 'ignore' as const };

/** What a client hands on to its model, and how often it heard of the call meanwhile. */
export interface Seen {
  /** `tools` is no case: an agent prints there which of our tools its model is offered. */
  readonly name: Case['name'] | 'tools';
  readonly seen?: unknown;
  /** What the client threw instead: most of them show that to the model. */
  readonly thrown?: string;
  readonly progress: number;
}

/** Makes every call and prints what came of it as one line of JSON. */
export async function report(call: (one: Case, onProgress: () => void) => Promise<unknown>): Promise<void> {
  const all: Seen[] = [];
  for (const one of cases) {
    let progress = 0;
    const outcome = await call(one, () => {
      progress += 1;
    }).then(
      (seen) => ({ seen }),
      (thrown: unknown) => ({ thrown: thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown) }),
    );
    all.push({ name: one.name, progress, ...outcome });
  }
  process.stdout.write(`${JSON.stringify(all)}\n`);
}
