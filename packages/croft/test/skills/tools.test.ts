import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectStdio, type McpSession, makeDirectory, readWhole } from '../support/harness.ts';

const front = (lines: string) => `---\n${lines}\n---\n`;
const tree = {
  'a/.skills/pdf/SKILL.md': `${front('name: pdf-forms\ndescription: "Fill in: forms"')}# PDF\nDo it.\n`,
  'a/.skills/pdf/bin/fill.sh': '#!/bin/sh\n',
  'a/.skills/pdf/deep/notes.txt': 'notes\n',
  'a/skills/plain/SKILL.md': '\n# A plain one\ntext\n',
  'a/skills/again/SKILL.md': front('name: pdf-forms\ndescription: the second'),
  'a/.agents/skills/folded/SKILL.md': front('name: folded\ndescription: >-\n  one\n  two\nlicense: MIT'),
  'a/.claude/skills/quoted/SKILL.md': front("name: 'it''s'\ndescription: 'a # b' # comment"),
  'a/skills/no-skill/README.md': 'nothing',
  'a/skills/file.md': 'nothing',
  'a/.agents/review.md': `${front('name: review\ndescription: Reviews.\ntools: [Read, "Grep"]\nmodel: small')}You review.\n`,
  'a/.claude/agents/plan.md': front('description: Plans.\ntools:\n  - Read\n  - Bash'),
  'a/agents/review.md': front('name: review\ndescription: the second'),
  'a/agents/README.md': '# Not an agent\n',
  'b/skills/only-b/SKILL.md': 'of b\n',
  'secret/SKILL.md': 'top secret',
  'secret/agent.md': front('name: secret\ndescription: top secret'),
};

const directory = makeDirectory(tree);
let session: McpSession;
beforeAll(async () => {
  chmodSync(directory.at('a/.skills/pdf/bin/fill.sh'), 0o755);
  session = await connectStdio(['--workspaces', `a=${directory.at('a')},b=${directory.at('b')}`]);
});
afterAll(async () => {
  await session[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

describe('skills', () => {
  test('lists those of every directory, and of two with one name the first', async () => {
    const { structured, text } = await session.call('skills', { workspace: 'a' });
    expect(structured.skills).toEqual([
      { name: 'pdf-forms', description: 'Fill in: forms', path: '.skills/pdf/SKILL.md', source: '.skills' },
      { name: 'plain', description: 'A plain one', path: 'skills/plain/SKILL.md', source: 'skills' },
      { name: 'folded', description: 'one two', path: '.agents/skills/folded/SKILL.md', source: '.agents/skills' },
      { name: "it's", description: 'a # b', path: '.claude/skills/quoted/SKILL.md', source: '.claude/skills' },
    ]);
    expect(structured.shadowed).toEqual([
      { name: 'pdf-forms', description: 'the second', path: 'skills/again/SKILL.md', source: 'skills' },
    ]);
    expect(text).toContain('skills/again/SKILL.md is not used');
  });

  test('lists those of all workspaces at once', async () => {
    const { structured } = await session.call('skills', { workspace: 'all' });
    expect(structured.results).toMatchObject([
      { skills: { length: 4 } },
      { workspace: 'b', skills: [{ name: 'only-b' }] },
    ]);
  });
});

describe('the tool skill', () => {
  test('loads a whole one, with the names of its other files', async () => {
    const { structured, text } = await session.call('skill', { workspace: 'a', name: 'pdf-forms' });
    expect(structured).toMatchObject({
      content: tree['a/.skills/pdf/SKILL.md'],
      files: [
        { path: '.skills/pdf/bin/fill.sh', size: 10, isExecutable: true },
        { path: '.skills/pdf/deep/notes.txt', size: 6, isExecutable: false },
      ],
      filesCut: false,
    });
    expect(structured.nextLine).toBeUndefined();
    expect(text).toContain('# PDF\nDo it.');
    const { isError } = await session.call('bash', { workspace: 'a', command: structured.files[0].path });
    expect(isError).toBe(false);
  });

  test('finds one by its directory too', async () => {
    expect((await session.call('skill', { workspace: 'a', name: 'quoted' })).structured.name).toBe("it's");
  });

  test.each(['nope', '..', '../secret', 'pdf/bin', '.skills/pdf', 'a\0b', '/etc', 'x'.repeat(199)])(
    'refuses the name %j, with the known names',
    async (name) => {
      const { isError, structured } = await session.call('skill', { workspace: 'a', name });
      expect(isError).toBe(true);
      expect(structured.error).toMatchObject({
        code: 'E_NOT_FOUND',
        details: { names: expect.arrayContaining(['plain']) },
      });
      expect(structured.error.message).toContain('pdf-forms, plain, folded');
    },
  );

  test('cuts a long one with a note, and read goes on there', async () => {
    const line = (at: number) => `line ${at} ${'x'.repeat(80)}\n`;
    const text = Array.from({ length: 5000 }, (_, at) => line(at + 1)).join('');
    mkdirSync(directory.at('b/skills/long'));
    writeFileSync(directory.at('b/skills/long/SKILL.md'), text);
    const answer = await session.call('skill', { workspace: 'b', name: 'long' });
    const [loaded = ''] = (await readWhole(session.call, answer)).split('\n\n(');
    expect(loaded.length).toBeGreaterThan(100_000);
    expect(text.startsWith(`${loaded}\n`)).toBe(true);
    const { path, nextLine } = answer.structured;
    const rest = await session.call('read', { workspace: 'b', file_path: path, offset: nextLine, limit: 100 });
    expect(rest.text.startsWith(`${nextLine}\t${line(nextLine)}`)).toBe(true);
    expect(text.startsWith(`${loaded}\n${line(nextLine)}`)).toBe(true);
  });
});

describe('agents', () => {
  test('lists definitions, and of two with one name the first, without plain texts', async () => {
    const { structured } = await session.call('agents', { workspace: 'a' });
    expect(structured.agents).toEqual([
      ...[
        {
          name: 'review',
          description: 'Reviews.',
          tools: 'Read, Grep',
          model: 'small',
          path: '.agents/review.md',
          source: '.agents',
        },
      ],
      ...[
        {
          name: 'plan',
          description: 'Plans.',
          tools: 'Read, Bash',
          path: '.claude/agents/plan.md',
          source: '.claude/agents',
        },
      ],
    ]);
    expect(structured.shadowed).toMatchObject([{ path: 'agents/review.md' }]);
  });

  test('loads a whole one', async () => {
    const { structured, text } = await session.call('agents', { workspace: 'a', name: 'review' });
    expect(structured.content).toBe(tree['a/.agents/review.md']);
    expect(text).toBe(tree['a/.agents/review.md']);
    const absent = await session.call('agents', { workspace: 'a', name: 'README' });
    expect(absent.structured.error).toMatchObject({ code: 'E_NOT_FOUND', details: { names: ['review', 'plan'] } });
  });
});

test('entries outside, entries that are not files and unreadable ones are neither listed nor loaded', async () => {
  using fixture = makeDirectory({
    'w/skills/good/SKILL.md': 'good\n',
    'out/SKILL.md': 'top secret',
    'out/x.md': front('name: secret\ndescription: top secret'),
  });
  const out = fixture.at('out');
  for (const name of ['link', 'fifo', 'dir/SKILL.md', 'loop', 'dangling'])
    mkdirSync(fixture.at(`w/skills/${name}`), { recursive: true });
  symlinkSync(`${out}/SKILL.md`, fixture.at('w/skills/link/SKILL.md'));
  symlinkSync('../../../out/SKILL.md', fixture.at('w/skills/dangling/SKILL.md'));
  symlinkSync('SKILL.md', fixture.at('w/skills/loop/SKILL.md'));
  symlinkSync(out, fixture.at('w/skills/whole'));
  symlinkSync(out, fixture.at('w/.skills'));
  symlinkSync(out, fixture.at('w/agents'));
  symlinkSync('skills/good', fixture.at('w/skills/good/itself'));
  mkdirSync(fixture.at('w/.claude/agents'), { recursive: true });
  symlinkSync(`${out}/x.md`, fixture.at('w/.claude/agents/x.md'));
  execFileSync('mkfifo', [fixture.at('w/skills/fifo/SKILL.md'), fixture.at('w/.claude/agents/fifo.md')]);
  await using own = await connectStdio(['--workspace', fixture.at('w')]);
  const skills = await own.call('skills');
  expect(skills.structured).toMatchObject({ skills: [{ name: 'good' }], shadowed: [] });
  expect((await own.call('agents')).structured).toMatchObject({ agents: [] });
  for (const name of ['link', 'fifo', 'dir', 'loop', 'dangling', 'whole']) {
    const loaded = await own.call('skill', { name });
    expect(loaded.structured.error, name).toMatchObject({ code: 'E_NOT_FOUND' });
    expect(loaded.text).not.toContain('secret');
  }
  expect((await own.call('skill', { name: 'good' })).structured).toMatchObject({ files: [], content: 'good\n' });
});

test('large and many entries are limited', async () => {
  using fixture = makeDirectory({
    'skills/huge/SKILL.md': front('name: huge\ndescription: d'),
    'skills/many/SKILL.md': 'm',
  });
  truncateSync(fixture.at('skills/huge/SKILL.md'), 100 * 1024 * 1024);
  for (let at = 0; at < 300; at++) writeFileSync(fixture.at(`skills/many/f${at}`), '');
  mkdirSync(fixture.at(`skills/many/${'d/'.repeat(30)}`), { recursive: true });
  for (let at = 0; at < 2000; at++) {
    mkdirSync(fixture.at(`.skills/s${at}`), { recursive: true });
    writeFileSync(fixture.at(`.skills/s${at}/SKILL.md`), `skill ${at}`);
  }
  await using own = await connectStdio(['--workspace', fixture.path]);
  const answer = await own.call('skills');
  expect(answer.structured.truncated).toBe(true);
  const named = (await readWhole(own.call, answer)).split('\n').filter((line) => line.includes('\t'));
  expect(named).toHaveLength(502);
  for (const at of [0, 999, 1999]) {
    expect((await own.call('skill', { name: `s${at}` })).structured.content).toBe(`skill ${at}`);
  }
  const huge = (await own.call('skill', { name: 'huge' })).structured;
  expect(huge).toMatchObject({ nextLine: 5, description: 'd' });
  const many = (await own.call('skill', { name: 'many' })).structured;
  expect(many.files.length).toBeLessThanOrEqual(200);
  expect(many.filesCut).toBe(true);
});

test.each([
  ['no end', `---\nname: x\n${'a: b\n'.repeat(100_000)}`, 'bomb'],
  ['thousands of keys', front('k: v\n'.repeat(10_000)), 'bomb'],
  ['one long value', front(`name: ${'n'.repeat(15_000)}`), `${'n'.repeat(63)}…`],
  ['anchors', front('a: &a [x]\nb: &b [*a,*a]\nname: *b'), '*b'],
  ['keys of objects', front('__proto__: x\nconstructor: y\nname: real'), 'real'],
  ['lines in a name', front('name: "a\\nb\\u001b[31m"'), 'a b\\u001b[31m'],
  ['escape sequences', front('name: \u001b[31mred\u001b[0m\u202e'), 'red'],
  ['no text', '\u0000\u0001\u00ff\ufffe', 'bomb'],
  ['open quotes', front('name: "open'), 'open'],
  ['a name of nothing', front('name: ""'), 'bomb'],
  ['a name that is said twice', front('name: one\nname: two'), 'one'],
  ['a byte order mark and returns', '\ufeff---\r\nname: marked\r\n---\r\n', 'marked'],
])('front matter with %s is read as far as possible', async (_, text, name) => {
  mkdirSync(directory.at('b/.skills/bomb'), { recursive: true });
  writeFileSync(directory.at('b/.skills/bomb/SKILL.md'), text);
  const { structured } = await session.call('skills', { workspace: 'b' });
  expect(structured.skills.map((skill: { name: string }) => skill.name)).toContain(name);
  for (const { description } of structured.skills) expect(description.length).toBeLessThanOrEqual(1024);
});
