/**
 * Edits a workspace for a while that others edit too: `node mount-soak-child.ts JSON`. Prints a line of JSON for every
 * result.
 */
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AppError } from '@croft/protocol';
import { type BucketLocation, openMount } from '../support/s3/mount-fixture.ts';

const { location, data, name, forMs } = JSON.parse(process.argv[2] ?? '{}') as {
  location: BucketLocation;
  data: string;
  name: string;
  forMs: number;
};
const signal = new AbortController().signal;
const mount = await openMount({ data, bucketLocation: location });
const at = (path: string) => join(mount.directory, path);
const tell = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);
const pick = <T>(items: readonly T[]): T | undefined => items[Math.floor(Math.random() * items.length)];
mkdirSync(at('shared'), { recursive: true });
mkdirSync(at('things'), { recursive: true });

/** Appends a line to a file that everybody appends to. */
function append(token: string): object {
  const path = `shared/${Math.floor(Math.random() * 4)}.log`;
  appendFileSync(at(path), `${token}\n`);
  return { did: 'append', path, token };
}

function create(token: string): object {
  const path = `things/${token}`;
  writeFileSync(at(path), token);
  return { did: 'create', path, token };
}

/** Changes something that the other process may be changing too. */
function change(token: string): object | undefined {
  const path = pick(readdirSync(at('things')).filter((each) => !each.includes('conflict')));
  if (path === undefined) return undefined;
  appendFileSync(at(`things/${path}`), `\n${token}`);
  return { did: 'append', path: `things/${path}`, token };
}

function remove(): object | undefined {
  const path = pick(readdirSync(at('things')).filter((each) => !each.includes('conflict')));
  if (path === undefined) return undefined;
  const had = readFileSync(at(`things/${path}`), 'utf8');
  rmSync(at(`things/${path}`));
  return { did: 'remove', path: `things/${path}`, had };
}

const endsAt = Date.now() + forMs;
for (let count = 0; Date.now() < endsAt; count++) {
  const token = `${name}-${count}`;
  await mount.refresh(signal);
  const done = [append(token), Math.random() < 0.4 ? create(`${token}c`) : undefined];
  const chance = Math.random();
  if (chance < 0.3) done.push(change(`${token}x`));
  else if (chance < 0.5) done.push(remove());
  const edits = done.filter((edit) => edit !== undefined);
  try {
    await mount.commit(signal);
    tell({ edits, conflicts: [] });
  } catch (thrown) {
    if (!AppError.is(thrown) || thrown.code !== 'E_CONFLICT') throw thrown;
    tell({ edits, conflicts: thrown.details.conflicts });
  }
  if (!existsSync(at('shared'))) throw new Error('a directory is gone that nobody removed');
}
await mount.close();
process.exit(0);
