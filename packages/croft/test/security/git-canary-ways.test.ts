import { afterAll, beforeAll, expect, test } from 'vitest';
import { attacks, commonTargets, layouts } from './git-canary-attacks.ts';
import { makePerson, type Person } from './git-canary-fixture.ts';
import { openWorkspaces, type Workspaces } from './git-workspaces.ts';

/** Each way to plant a canary by itself, in repositories of several kinds: none runs when the person uses git. */

const ways = Object.keys(attacks);
const kinds = ['nested repository with a gitlink', 'gitlink without a repository', 'bare repository'];
const made = kinds.flatMap((kind) => layouts[kind] ?? []);
let person: Person;
let workspaces: Workspaces;

beforeAll(async () => {
  person = await makePerson();
  workspaces = await openWorkspaces(person, { count: ways.length, prepare: made.map(({ make }) => make).join('\n') });
});
afterAll(async () => {
  await workspaces[Symbol.asyncDispose]();
  person[Symbol.dispose]();
});

test.concurrent.each(ways)('%s', async (way) => {
  const { top, attack, isAlive } = workspaces.take();
  for (const target of [...commonTargets, ...made]) await attack(way, target);
  expect(await isAlive()).toBe(true);
  expect(await person.inspect(top)).toEqual([]);
});
