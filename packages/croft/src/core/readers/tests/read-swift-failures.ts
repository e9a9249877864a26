import type { TestFailure } from '../../project-tools/test-runner.ts';
import { toRelative } from '../reader-helpers.ts';

/** XCTest: `/a/Tests/B.swift:9: error: B.testA : why`. A thrown error has no location: `<EXPR>:0`. */
const xctestError =
  /^(<EXPR>|[^\s:]{1,500}\.swift):(\d{1,9}): error: (?:-\[)?([\w.]{1,300})[. ](\w{1,300})\]? : (.{1,2000})$/gm;
/** Swift Testing: `✘ Test a() recorded an issue at B.swift:12:3: why`, with details below. */
const testingError =
  /^\S{1,3} {1,2}Test (.{1,300}?) recorded an issue(?: with .{1,300}?)? at ([^\s:]{1,300}):(\d{1,9}):\d{1,9}: (.{1,2000}(?:\n↳ .{0,500}){0,5})$/gm;

/** Reads one failure per test: its first location, with all of its messages. */
export function readSwiftFailures(text: string, directory: string): TestFailure[] {
  const old = [...text.matchAll(xctestError)].map(([, path = '', line, type = '', test = '', message = '']) => ({
    name: `${type}.${test}`,
    ...(path !== '<EXPR>' && { file: toRelative(path, directory), line: Number(line) }),
    message,
    id: toId(`${type}.${test}`),
  }));
  const fresh = [...text.matchAll(testingError)].map(([, name = '', file = '', line, message = '']) => ({
    ...{ name, file, line: Number(line), message: message.replaceAll('\n↳ ', '\n'), id: name },
  }));
  return joinByName([...old, ...fresh]);
}

/** Returns `Class/method`, the form to select a test by. */
function toId(name: string): string {
  return name.split('.').slice(-2).join('/');
}

function joinByName(failures: readonly TestFailure[]): TestFailure[] {
  const all = new Map<string, TestFailure>();
  for (const failure of failures) {
    const { message, ...first } = all.get(failure.name) ?? failure;
    all.set(failure.name, { ...first, message: all.has(failure.name) ? `${message}\n${failure.message}` : message });
  }
  return [...all.values()];
}

const hasCrashed = /^error: Exited with unexpected signal code \d{1,3}$/m;
const started =
  /^(?:Test Case '(.{1,500})' started(?: at |\.$)|\S{1,3} {1,2}Test (?!run |case )(.{1,500}) started\.$)/gm;
const ended =
  /Test Case '(.{1,500})' (?:passed|failed|skipped) \(|^\S{1,3} {1,2}Test (.{1,500}?)(?: with \d{1,9} test cases?)? (?:passed|failed) after /gm;

/** Finds the tests that were running when the program crashed: one of them is the cause. */
export function findUnfinishedSwiftTests(text: string, directory: string): TestFailure[] {
  if (!hasCrashed.test(text)) return [];
  const done = new Set([...text.matchAll(ended)].map(([, old, fresh]) => old ?? fresh));
  const left = [...text.matchAll(started)].filter(([, old, fresh]) => !done.has(old ?? fresh));
  const why = text.match(/^\S{1,500}\.swift:\d{1,9}: (Fatal error.{0,500})$/m)?.[1] ?? 'the program ended';
  const location = left.length === 1 ? crashLocation(text, directory) : undefined;
  return left.map(([, old, fresh = '']) => ({
    ...{ name: old ?? fresh, ...location, message: `it did not finish: ${why}`, id: old ? toId(old) : fresh },
  }));
}

function crashLocation(text: string, directory: string): Pick<TestFailure, 'file' | 'line'> | undefined {
  return [...text.matchAll(/ at (\/[^\s:]{1,500}\.swift):(\d{1,9})/g)]
    .map(([, path = '', line]) => ({ file: toRelative(path, directory), line: Number(line) }))
    .find(({ file }) => !/^(?:\/|\.build\/)/.test(file));
}
