import {
  chmodSync,
  closeSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { onTestFinished } from 'vitest';
import { openRoot } from '../../src/disk/paths/handles.ts';
import { openSqliteStore } from '../../src/history/store/sqlite-store.ts';
import { openWorkingTree } from '../../src/history/working-tree.ts';
import type { Follower } from '../../src/init/followed-tree.ts';
import { makeDirectory } from '../support/harness.ts';
import { createWalkingFollower } from './walking-follower.ts';

export interface TreeFixture {
  /** Path of the tree. */
  readonly path: string;
  at(name: string): string;
  /** Path of the store and the index. */
  readonly data: string;
  open(follower?: Follower): ReturnType<typeof openWorkingTree>;
}

/** Makes a directory, a store beside it, and as many working trees of it as are opened. */
export function prepareTree(files: Record<string, string | Buffer> = {}): TreeFixture {
  const directory = makeDirectory();
  onTestFinished(() => directory[Symbol.dispose]());
  const path = directory.at('tree');
  mkdirSync(path);
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(`${path}/${name}`), { recursive: true });
    writeFileSync(`${path}/${name}`, content);
  }
  return {
    path,
    at: (name) => `${path}/${name}`,
    data: directory.at('data'),
    async open(follower = createWalkingFollower()) {
      const handle = openRoot(path);
      const store = openSqliteStore(directory.at('data/history.db'));
      const state = directory.at('data/index.db');
      const tree = await openWorkingTree({ directoryFd: handle, directory: path, store, follower, state });
      closeSync(handle);
      onTestFinished(async () => {
        await tree[Symbol.asyncDispose]();
        await store[Symbol.asyncDispose]();
      });
      return tree;
    },
  };
}

/** The entry at a name. Names have one character per byte. */
export type Spec =
  | { readonly kind: 'file'; readonly text: string; readonly mode: number }
  | { readonly kind: 'link'; readonly target: string }
  | { readonly kind: 'directory'; readonly mode: number; readonly children: Readonly<Record<string, Spec>> };

/** Makes a directory contain exactly these entries. */
export function materialize(path: string | Buffer, children: Readonly<Record<string, Spec>>): void {
  const directory = Buffer.from(path);
  const placeOf = (name: Buffer) => Buffer.concat([directory, Buffer.from('/'), name]);
  for (const name of readdirSync(directory, { encoding: 'buffer' })) rmSync(placeOf(name), { recursive: true });
  for (const [name, spec] of Object.entries(children)) {
    const bytes = placeOf(Buffer.from(name, 'latin1'));
    if (spec.kind === 'link') symlinkSync(spec.target, bytes);
    else if (spec.kind === 'file') writeFileSync(bytes, spec.text);
    else {
      mkdirSync(bytes);
      materialize(bytes, spec.children);
    }
    if (spec.kind !== 'link') chmodSync(bytes, spec.mode);
  }
}

/** Lists everything on the disk below a path in a comparable form. */
export function onDisk(path: string | Buffer): Record<string, string> {
  const found: Record<string, string> = {};
  const visit = (directory: Buffer, prefix: string) => {
    for (const name of readdirSync(directory, { encoding: 'buffer' })) {
      const bytes = Buffer.concat([directory, Buffer.from('/'), name]);
      const shown = prefix + name.toString('latin1');
      const stats = lstatSync(bytes);
      const mode = (stats.mode & 0o777).toString(8);
      if (stats.isSymbolicLink()) found[shown] = `link ${readlinkSync(bytes, 'latin1')}`;
      else if (stats.isFile()) found[shown] = `file ${mode} ${readFileSync(bytes, 'latin1')}`;
      else if (stats.isDirectory()) {
        found[shown] = `directory ${mode}`;
        visit(bytes, `${shown}/`);
      } else found[shown] = 'other';
    }
  };
  visit(Buffer.from(path), '');
  return found;
}
