import { lstatSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ErrorEnvelope } from '@croft/protocol';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Canary, plantCanary } from '../support/canary.ts';
import { connectStdio, makeDirectory, type ToolAnswer } from '../support/harness.ts';

/** Words that stand for places known only when the test runs, in paths and in the texts of links. */
const roots = { TREE: 'the tree of this run', WORK: 'the workspace', OUT: 'the canary beside it' } as const;
type Roots = Record<keyof typeof roots, string>;

const names = ['a', 'b', 'c', 'deep', 'secret.txt', 'key.txt', '..x', 'two words', '-f', 'ü', 'line\nbreak'];
const name = fc.constantFrom(...names);
const somewhere = fc.array(name, { minLength: 1, maxLength: 3 }).map((parts) => parts.join('/'));
const tail = fc.oneof(
  fc.constant(''),
  fc.constantFrom('/secret.txt', '/deep', '/deep/key.txt', '/link', '/new.txt', '/new/x.txt', '/..'),
);

const linkText = fc.oneof(
  somewhere,
  somewhere.map((path) => `TREE/${path}`),
  fc.tuple(fc.integer({ min: 1, max: 6 }), fc.oneof(somewhere, fc.constant(''))).map(([up, path]) => climb(up, path)),
  tail.map((rest) => `OUT${rest}`),
  fc.tuple(fc.integer({ min: 1, max: 5 }), tail).map(([up, rest]) => climb(up, `work-evil${rest}`)),
  fc.tuple(somewhere, tail).map(([path, rest]) => `${path}/../../../work-evil${rest}`),
  fc.constantFrom(
    '.',
    '..',
    '/',
    'WORK',
    'TREE',
    'nowhere',
    'nowhere/x',
    'WORK/nowhere',
    'OUT-not-there',
    'WORK/../work-evil',
  ),
  fc.constantFrom(
    '/proc/self/rootOUT',
    '/proc/self/cwd',
    '/proc/self/fd/3',
    '/proc/self/fd/1',
    '/dev/stdin',
    '/dev/zero',
  ),
);

const entry = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('file' as const), path: somewhere }) },
  fc.record({ kind: fc.constant('directory' as const), path: somewhere }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('link' as const), path: somewhere, text: linkText }) },
);
type Entry = typeof entry extends fc.Arbitrary<infer Value> ? Value : never;

/** A path to throw at a tool. A number stands for the place of an entry of the tree. */
const target = fc.oneof(
  { weight: 8, arbitrary: fc.tuple(fc.nat(20), tail) },
  { weight: 2, arbitrary: somewhere.map((path) => `TREE/${path}`) },
  { weight: 2, arbitrary: fc.constantFrom('TREE/secret.txt', 'TREE/deep/key.txt', 'TREE/deep', 'TREE') },
  { weight: 1, arbitrary: somewhere },
  { weight: 1, arbitrary: tail.map((rest) => `OUT${rest}`) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(4), tail).map(([up, rest]) => climb(up, `work-evil${rest}`)) },
  {
    weight: 1,
    arbitrary: fc.tuple(somewhere, tail).map(([path, rest]) => `TREE/${path}/../../../../work-evil${rest}`),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      ...[
        '',
        '.',
        '/',
        '..',
        'WORK',
        'TREE',
        'TREE/..',
        'WORK/..',
        'WORK-evil/secret.txt',
        'WORK/../work-evil/secret.txt',
      ],
      ...[
        '/proc/self/rootOUT/secret.txt',
        '/proc/self/cwd',
        '/etc/passwd',
        '//OUT/secret.txt',
        'file://OUT/secret.txt',
      ],
      ...['%2e%2e/work-evil/secret.txt', '..%2fwork-evil', '..\\work-evil\\secret.txt', '~', '\uff0e\uff0e/work-evil'],
      ...['TREE/a\0', 'OUT/secret.txt\0.txt', `TREE/${'x'.repeat(256)}`, 'x/'.repeat(3000), `TREE/${'a/'.repeat(500)}`],
    ),
  },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 20 }).map((text) => `TREE/${text}`) },
);
type Target = typeof target extends fc.Arbitrary<infer Value> ? Value : never;

const pattern = fc.constantFrom('.', 'secret', 'inside', '^', '[', '(?s).*', 'nothing like it');
const globPattern = fc.constantFrom('**', '*', '**/*.txt', '../**', '/**', 'OUT/**', '{..,.}/**', '[', 'secret.txt');
const outputMode = fc.constantFrom('content', 'files_with_matches', 'count');

/** Every tool that takes a path, with each path argument it has. */
const calls = {
  read: fc.record({ file_path: target, offset: fc.constantFrom(1, 1, 2) }),
  write: fc.record({ file_path: target, content: fc.constantFrom('inside', 'changed') }),
  edit: fc.record({
    file_path: target,
    old_string: fc.constantFrom('inside', 'inside', 'secret'),
    new_string: fc.constant('changed'),
  }),
  delete: fc.record({ file_path: target, recursive: fc.boolean() }),
  move: fc.record({ from: target, to: target }),
  list: fc.record({ path: target, limit: fc.constantFrom(1, 100) }),
  cd: fc.record({ path: target }),
  glob: fc.record({ pattern: globPattern, path: target }),
  grep: fc.record({ pattern, path: target, output_mode: outputMode, context: fc.constantFrom(0, 2) }),
} as const;

const position = { file_path: target, line: fc.constant(1), col: fc.constant(1) };
/** The same for tools that need code, of which the trees have none: they can be refused, and find nothing. */
const codeCalls = {
  outline: fc.record({ path: target }),
  read_symbol: fc.record({ file_path: target, line: fc.constant(1) }),
  edit_function_body: fc.record({ file_path: target, function_name: fc.constant('f'), new_body: fc.constant('') }),
  change_function_signature: fc.record({
    file_path: target,
    function_name: fc.constant('f'),
    new_signature: fc.constant('x'),
  }),
  insert_after_method: fc.record({
    file_path: target,
    receiver_type: fc.constant('T'),
    method_name: fc.constant('f'),
    new_method: fc.constant('x'),
  }),
  replace_symbol: fc.record({ file_path: target, symbol: fc.constant('f'), new_text: fc.constant('x') }),
  insert_before_symbol: fc.record({ file_path: target, symbol: fc.constant('f'), text: fc.constant('x') }),
  insert_after_symbol: fc.record({ file_path: target, symbol: fc.constant('f'), text: fc.constant('x') }),
  delete_symbol: fc.record({ file_path: target, symbol: fc.constant('f') }),
  find_definition: fc.record(position),
  find_references: fc.record(position),
  find_implementations: fc.record(position),
  calls: fc.record(position),
  hover: fc.record(position),
  diagnostics: fc.record({ path: target }),
  rename_symbol: fc.record({ ...position, new_name: fc.constant('x'), apply: fc.constant(true) }),
  code_actions: fc.record({ file_path: target, line: fc.constant(1) }),
  repo_map: fc.record({ focus: target }),
  search_code: fc.record({ query: fc.constantFrom('secret', 'inside'), path: target }),
  ast_search: fc.record({ pattern: fc.constantFrom('secret', 'inside'), path: target }),
  ast_replace: fc.record({
    pattern: fc.constantFrom('secret', 'inside'),
    rewrite: fc.constant('changed'),
    language: fc.constant('typescript'),
    path: target,
    apply: fc.constant(true),
  }),
} as const;
const toCall = ([tool, args]: [string, unknown]) =>
  fc.tuple(fc.constant(tool), args as fc.Arbitrary<Record<string, unknown>>);
const call = fc.oneof(
  ...Object.entries(calls).map((each) => ({ weight: 3, arbitrary: toCall(each) })),
  ...Object.entries(codeCalls).map((each) => ({ weight: 1, arbitrary: toCall(each) })),
);
const changing = ['write', 'edit', 'delete', 'move', 'ast_replace', 'rename_symbol', 'replace_symbol'];
/** Access of commands is tested with the sandbox. */
const takingNoPath = [
  ...['bash', 'bash_input', 'bash_output', 'kill_shell', 'run_command', 'watch_process', 'watch_process_events'],
  ...['secret', 'secrets_available', 'workspaces', 'last_test_failures', 'tests_covering'],
  ...['run_tests', 'run_failing_tests', 'run_lint', 'run_typecheck', 'run_format', 'run_script'],
  ...['snapshot_create', 'snapshot_delete', 'snapshot_diff', 'snapshot_list', 'snapshot_restore', 'undo', 'undo_list'],
  ...['transaction_commit', 'transaction_discard', 'workspace_fork', 'workspace_merge', 'workspace_remove'],
  ...['agents', 'skill', 'skills', 'next_page', 'shells'],
];

/** Each call takes a thread, too slow for this many. They write as `write` does: test/e2e/diagrams.test.ts. */
const drawing = ['render_dot', 'render_mermaid'];

test('no path and no tree reaches a file outside, through any tool', async () => {
  using fixture = makeDirectory();
  mkdirSync(fixture.at('work'));
  const canary = plantCanary(fixture.at('work-evil'));
  await using session = await connectStdio(['--workspace', fixture.at('work'), '--tools', 'all']);
  const { tools } = await session.client.listTools();
  const known = [...Object.keys(calls), ...Object.keys(codeCalls), ...takingNoPath, ...drawing];
  expect(tools.map((tool) => tool.name).sort()).toEqual(known.sort());

  let runs = 0;
  const tally: Record<string, number> = {};
  const plan = fc.tuple(
    fc.array(entry, { minLength: 1, maxLength: 12 }),
    fc.array(call, { minLength: 1, maxLength: 8 }),
  );
  await fc.assert(
    fc.asyncProperty(plan, async ([entries, wanted]) => {
      runs += 1;
      const tree = `run-${runs}`;
      const known: Roots = { TREE: join(fixture.at('work'), tree), WORK: fixture.at('work'), OUT: canary.path };
      plantTree(known, entries);
      for (const [tool, wantedArgs] of wanted) {
        const args = fillIn(wantedArgs, known, entries);
        if (tool === 'edit') await session.call('read', { file_path: args.file_path });
        const answer = await session.call(tool, args);
        const outcome = judge(tool, args, answer, canary);
        tally[`${tool} ${outcome}`] = (tally[`${tool} ${outcome}`] ?? 0) + 1;
        if (changing.includes(tool)) expect(canary.changes()).toEqual([]);
      }
      expect(canary.changes()).toEqual([]);
      for (const left of readdirSync(known.WORK)) rmSync(join(known.WORK, left), { recursive: true, force: true });
    }),
    { numRuns: 500, interruptAfterTimeLimit: 35_000 },
  );

  expect(runs).toBeGreaterThan(200);
  // Without these the runs have shown nothing.
  for (const tool of Object.keys(calls)) {
    expect(tally[`${tool} success`], `${tool} that worked`).toBeGreaterThan(0);
    expect(tally[`${tool} E_SANDBOX_VIOLATION`], `${tool} that was refused`).toBeGreaterThan(0);
  }
  const refused = Object.keys(codeCalls).filter((tool) => tally[`${tool} E_SANDBOX_VIOLATION`] !== undefined);
  expect(refused.length, refused.join()).toBeGreaterThan(Object.keys(codeCalls).length / 2);
});

/** How the call ended. Fails for an answer that tells of the outside, or a failure that no one thought of. */
function judge(tool: string, args: object, answer: ToolAnswer, canary: Canary): string {
  const context = `${tool} ${JSON.stringify(args)} told ${JSON.stringify(answer)}`;
  const reported = JSON.stringify(tool === 'list' ? withoutTargets(answer) : answer);
  expect(reported.includes(canary.secret) || reported.includes(canary.unlisted), context).toBe(false);
  // Not as the end of a longer name: a path inside may have the same names in it.
  const isNamed = new RegExp(`(?<![\\w.-])${canary.path}`).test(reported);
  expect(isNamed && !JSON.stringify(args).includes(canary.path), context).toBe(false);
  if (!answer.isError) return 'success';

  const { error } = ErrorEnvelope.parse(answer.structured);
  expect(error.code, context).not.toBe('E_INTERNAL');
  expect(answer.text, context).toContain(error.message);
  return error.code;
}

/** A listing as it would be without the texts of the links, which are the tree's own. */
function withoutTargets(answer: ToolAnswer): unknown {
  const entries: { name: string; target?: string }[] = answer.structured?.entries ?? [];
  let { text } = answer;
  for (const { name: link, target: leadsTo } of entries) text = text.replace(`${link} -> ${leadsTo}`, link);
  return {
    ...answer,
    text,
    raw: {},
    content: [],
    structured: { ...answer.structured, entries: entries.map((at) => at.name) },
  };
}

/** Two files, so that links have something to lead to, and the entries one by one, never through an earlier link. */
function plantTree(known: Roots, entries: readonly Entry[]): void {
  mkdirSync(join(known.TREE, 'deep'), { recursive: true });
  for (const path of ['secret.txt', 'deep/key.txt']) writeFileSync(join(known.TREE, path), 'inside\n');
  for (const planned of entries) {
    const path = join(known.TREE, planned.path);
    if (!makeParents(known.TREE, dirname(path)) || lstatSync(path, { throwIfNoEntry: false })) continue;
    if (planned.kind === 'directory') mkdirSync(path);
    else if (planned.kind === 'file') writeFileSync(path, 'inside\n');
    else symlinkSync(withRoots(planned.text, known), path);
  }
}

/** False where something other than a directory is in the way. */
function makeParents(tree: string, directory: string): boolean {
  if (directory === tree) return true;
  if (!makeParents(tree, dirname(directory))) return false;
  const stats = lstatSync(directory, { throwIfNoEntry: false });
  if (!stats) mkdirSync(directory);
  return !stats || stats.isDirectory();
}

function fillIn(wanted: Record<string, unknown>, known: Roots, entries: readonly Entry[]): Record<string, unknown> {
  const isTarget = (value: unknown): value is Target => Array.isArray(value) || typeof value === 'string';
  const toPath = (value: Target) => {
    if (typeof value === 'string') return withRoots(value, known);
    return `${known.TREE.slice(known.WORK.length + 1)}/${entries[value[0] % entries.length]?.path}${value[1]}`;
  };
  return Object.fromEntries(
    Object.entries(wanted).map(([key, value]) => [key, isTarget(value) ? toPath(value) : value]),
  );
}

function withRoots(text: string, known: Roots): string {
  return text.replace(/TREE|WORK|OUT/g, (root) => known[root as keyof Roots]);
}

function climb(steps: number, path: string): string {
  return `${'../'.repeat(steps)}${path}`;
}
