import { describe, expect, test } from 'vitest';
import { detect, detectOne } from '../../test/support/memory-files.ts';

describe('deno', () => {
  test.each(['deno.json', 'deno.jsonc'])('is detected by %s alone, without npm', async (name) => {
    const text =
      '{ // a comment\n "tasks": { "dev": "deno run a.ts", "test": { "command": "deno test -A --watch src" } }, }';
    expect(await detectOne({ [name]: text })).toMatchObject({
      language: 'deno',
      packageManager: 'deno',
      install: ['deno', 'install'],
      lint: { tool: 'deno-lint', argv: ['deno', 'lint', '$FILES'] },
      test: { tool: 'deno-test', argv: ['deno', 'test', '-A', '$FILES'] },
      format: ['deno', 'fmt', '$FILES'],
      scripts: { dev: ['deno', 'task', 'dev'], test: ['deno', 'task', 'test'] },
    });
  });

  test.each(['', '{', '3', '{"tasks":7}'])('is detected with a file that is %j', async (text) => {
    expect(await detectOne({ 'deno.json': text })).toMatchObject({ language: 'deno', scripts: {} });
  });

  test.each([
    ['{}', ['node']],
    ['{"nodeModulesDir":"auto","tasks":{}}', ['node']],
    ['{"imports":{"a":"jsr:@a/b"}}', ['deno', 'node']],
    ['{"lint":{"include":["src"]}}', ['deno', 'node']],
  ])('is detected beside package.json with %s', async (text, languages) => {
    const profiles = await detect({ 'package.json': '{}', 'deno.json': text });
    expect(profiles.map(({ language }) => language)).toEqual(languages);
  });
});
