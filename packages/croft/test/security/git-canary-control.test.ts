import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeDirectory } from '../support/harness.ts';
import {
  configText,
  evilFiles,
  hookNames,
  hookText,
  makePerson,
  nameOfKey,
  type Person,
  settings,
  spellings,
  writeFiles,
} from './git-canary-fixture.ts';

/** A canary that nobody keeps away runs: without that, `git-canary.test.ts` would show nothing. */

let person: Person;
const directory = makeDirectory();
beforeAll(async () => {
  person = await makePerson();
});
afterAll(() => {
  person[Symbol.dispose]();
  directory[Symbol.dispose]();
});

function makeRepository(name: string): string {
  const top = directory.at(name);
  person.copyRepository(top);
  return top;
}

const thatRan = (lines: readonly string[]) => lines.filter((line) => !line.includes(' obeys '));

test.concurrent.each(Object.keys(settings))('%s', async (key) => {
  const top = makeRepository(`key-${nameOfKey(key)}`);
  writeFiles(top, evilFiles(top));
  person.shell(top, `cat 'evil/keys/${nameOfKey(key)}' >> .git/config`);
  expect(thatRan(await person.work(top)), configText(top, key)).not.toEqual([]);
});

test.each(Object.entries(spellings))('a setting in another spelling: %s', async (name, spell) => {
  const top = makeRepository(`spelled-${name}`);
  const text = configText(top, 'core.fsmonitor', spell);
  const before = text.startsWith('\ufeff') ? '' : readFileSync(join(top, '.git/config'), 'utf8');
  writeFiles(top, { '.git/config': before + text });
  expect(thatRan(await person.inspect(top)), text).not.toEqual([]);
});

test('hooks', async () => {
  const top = makeRepository('hooks');
  writeFiles(top, Object.fromEntries(hookNames.map((name) => [`.git/hooks/${name}`, hookText])));
  expect(thatRan(await person.inspect(top))).not.toEqual([]);
});
