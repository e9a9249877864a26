import { existsSync, mkdirSync, renameSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { unpackMentions, unpackSymbols } from '../../src/code-index/pack-symbols-and-mentions.ts';
import '../support/seeds.ts';
import { buildIndex, connect, makeProject, type Place, search } from './index-fixture.ts';

const directories = ['', 'src/', 'src/deep/er/', 'lib/', 'docs/', 'build/', 'vendor/x/', 'node_modules/p/', '.hidden/'];
const names = ['alpha', 'betaGamma', 'delta_eps', 'Zeta', 'eta2', 'größe', 'with space', '100%', 'test_theta'];
const endings = ['.ts', '.py', '.go', '.md', '.txt', '.c', ''];
const rules = ['build/', '*.md', '/src/deep', '!keep.md', 'alpha.*', 'lib', ''];

type Random = (below: number) => number;

/** Numbers that follow from a seed (xorshift). */
function toRandom(seed: number): Random {
  let state = seed | 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

const pick = <T>(random: Random, from: readonly T[]): T => from[random(from.length)] as T;
const toPath = (random: Random) => pick(random, directories) + pick(random, names) + pick(random, endings);

function toText(random: Random): string | Buffer {
  if (random(12) === 0) return Buffer.from([1, 0, 2, 3]);
  if (random(20) === 0) return 'x'.repeat(30_000);
  const name = `${pick(random, ['load', 'HTTP', 'parse', 'save'])}${pick(random, ['Config', 'Server', 'File'])}${random(5)}`;
  const functions = [
    `/** Does ${name}. */\nexport function ${name}(first: string) {\n  return use${random(5)}(first);\n}\n`,
    `class ${name}:\n    """Keeps ${name}."""\n    def method_${random(5)}(self):\n        return other()\n`,
    `# ${name}\n\nSome words about ${name}.\n`,
    `func ${name}(x int) int { return ${name}Helper(x) }\n`,
  ];
  return Array.from({ length: 1 + random(4) }, () => pick(random, functions)).join('\n');
}

/** One change, as any program could make it. */
const changes: readonly ((place: Place, random: Random) => void)[] = [
  (place, random) => put(place, toPath(random), toText(random)),
  (place, random) => put(place, toPath(random), toText(random)),
  (place, random) => put(place, toPath(random), toText(random)),
  (place, random) => remove(place, toPath(random)),
  (place, random) => remove(place, toPath(random)),
  (place, random) => move(place, toPath(random), toPath(random)),
  (place, random) =>
    move(place, pick(random, ['src', 'lib', 'docs', 'src/deep']), pick(random, ['lib', 'moved', 'src/in'])),
  (place, random) => move(place, pick(random, ['moved', 'src/in', 'lib']), pick(random, ['src', 'docs'])),
  (place, random) => remove(place, pick(random, ['lib', 'docs', 'moved', 'src/deep'])),
  (place, random) =>
    put(place, `${pick(random, directories)}.gitignore`, `${pick(random, rules)}\n${pick(random, rules)}\n`),
  (place, random) => remove(place, `${pick(random, directories)}.gitignore`),
  (place, random) => link(place, pick(random, ['src', 'alpha.ts', '..', 'src/alpha.ts']), toPath(random)),
  (place, random) => mkdirSync(at(place, toPath(random)), { recursive: true }),
];

const at = ({ at }: Place, path: string): string => at(`project/${path}`);

function put(place: Place, path: string, content: string | Buffer): void {
  makeParent(place, path);
  if (statSync(at(place, path), { throwIfNoEntry: false })?.isDirectory()) rmSync(at(place, path), { recursive: true });
  writeFileSync(at(place, path), content);
}

function remove(place: Place, path: string): void {
  rmSync(at(place, path), { recursive: true, force: true });
}

function move(place: Place, from: string, to: string): void {
  if (from === to || !existsSync(at(place, from)) || to.startsWith(`${from}/`) || from.startsWith(`${to}/`)) return;
  makeParent(place, to);
  rmSync(at(place, to), { recursive: true, force: true });
  renameSync(at(place, from), at(place, to));
}

function link(place: Place, target: string, path: string): void {
  makeParent(place, path);
  rmSync(at(place, path), { recursive: true, force: true });
  symlinkSync(target, at(place, path));
}

/** A file that is in the way becomes a directory. */
function makeParent(place: Place, path: string): void {
  const parts = dirname(path).split('/');
  for (const [index] of parts.entries()) {
    const parent = at(place, parts.slice(0, index + 1).join('/'));
    if (existsSync(parent) && !statSync(parent).isDirectory()) rmSync(parent, { force: true });
  }
  mkdirSync(dirname(at(place, path)), { recursive: true });
}

/** Everything that an index answers from, without the numbers that depend on the order of the changes. */
function dump(file: string): unknown {
  using database = new DatabaseSync(file, { readOnly: true });
  const files = database.prepare('SELECT * FROM files ORDER BY path').all();
  const names = new Map<string, string>();
  for (const { id, path, first, count } of files) {
    names.set(`file ${id}`, String(path));
    for (let number = 0; number < Number(count); number++)
      names.set(`symbol ${Number(first) + number}`, `${path} ${number}`);
  }
  const wordsOf = (kind: 'file' | 'symbol') => {
    database.exec(`CREATE VIRTUAL TABLE temp.${kind}_terms USING fts5vocab(main, ${kind}_words, instance)`);
    const rows = database.prepare(`SELECT term, doc, col FROM temp.${kind}_terms`).all();
    // A number without a file would be a definition that is gone.
    return rows.map(({ term, doc, col }) => `${names.get(`${kind} ${doc}`)} ${col} ${term}`).sort();
  };
  return {
    files: files.map(({ path, language, symbols, mentions }) => {
      return { path, language, symbols: unpackSymbols(symbols), mentions: unpackMentions(mentions, symbols) };
    }),
    symbolWords: wordsOf('symbol'),
    fileWords: wordsOf('file'),
    integrity: database.prepare('PRAGMA integrity_check').all(),
  };
}

test.each(fc.sample(fc.integer({ min: 1, max: 2 ** 31 - 1 }), 3))(
  'after any changes an index equals a fresh one (seed %i)',
  async (seed) => {
    const random = toRandom(seed);
    const place = makeProject();
    const session = await connect(place);
    await buildIndex(session, place);
    for (let round = 0; round < 30; round++) {
      for (let left = 1 + random(6); left > 0; left--) pick(random, changes)(place, random);
      await search(session, pick(random, ['load config', 'HTTPServer', 'method', 'words about']));
    }
    const changed = dump(await buildIndex(session, place));
    await session.close();
    const other = await connect(place, { data: 'fresh' });
    const fresh = dump(await buildIndex(other, place, 'fresh'));
    expect(changed).toEqual(fresh);
  },
);
