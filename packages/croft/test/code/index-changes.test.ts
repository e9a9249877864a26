import { expect, onTestFinished, test } from 'vitest';
import { closeIndex, withIndex } from '../../src/code-index/index-database.ts';
import { addFiles, listDue, noteChanges } from '../../src/code-index/listed-files-table.ts';
import { storeReadFiles } from '../../src/code-index/store-read-files.ts';
import { makeDirectory } from '../support/harness.ts';

const digest = JSON.stringify({ language: 'typescript', symbols: [], words: [], text: 'old' });

test('a file that changes while it is read has to be read again, also when another program stored it meanwhile', () => {
  const directory = makeDirectory();
  const file = directory.at('index.db');
  onTestFinished(() => {
    closeIndex(file);
    directory[Symbol.dispose]();
  });
  const due = () => withIndex(file, 1e8, (index) => listDue(index, 10));
  const store = (change: number) =>
    withIndex(file, 1e8, (index) => storeReadFiles(index, [{ path: 'a.ts', change, time: 0, digest }]));
  withIndex(file, 1e8, (index) => addFiles(index, ['a.ts']));
  const [[, first] = ['', 0]] = due();
  withIndex(file, 1e8, (index) => noteChanges(index, ['a.ts']));
  store(first);
  const [[, second] = ['', 0]] = due();
  expect(second).toBeGreaterThan(first);
  store(second);
  expect(due()).toEqual([]);
  withIndex(file, 1e8, (index) => noteChanges(index, ['a.ts']));
  store(first);
  store(second);
  expect(due()).toEqual([['a.ts', expect.any(Number)]]);
});
