import type { TestFailure } from '../../project-tools/test-runner.ts';
import { toRelative } from '../reader-helpers.ts';

const maxFailures = 1000;
/** Characters of one failure's text that are read. */
const maxText = 4000;

interface ZigFailure {
  readonly name: string;
  /** The cause, on the heading line itself. */
  readonly fault: string;
  /** The text from the heading line on. */
  readonly text: string;
}

/**
 * `zig build`: `error: 'a.test.b' failed: why`, also `leaked`, `logged errors` and, since 0.16, `terminated with
 * signal`.
 */
const inBuild =
  /^(?:[\w .-]{1,100}: )?error: '(.{1,300}?)' ((?:failed|leaked|logged|terminated|crashed|timed)\b.{0,500})$/gm;
/** Crash before 0.16, printed after the last output of the program. */
const crashed = /^error: while executing test '(.{1,300})', the following (?:test )?command (terminated .{1,200})$/gm;
/** `zig test`: `1/3 a.test.b...OK`. A test's output comes in between, as does the cause before `FAIL (Error)`. */
const alone = /^\d{1,9}\/\d{1,9} (.{1,300}?)\.\.\.(.{0,500})$/gm;

export function readZigFailures(text: string, directory: string): TestFailure[] {
  return [...readHeadings(text, inBuild), ...readCrashes(text), ...readHeadings(text, alone).filter(isFault)]
    .slice(0, maxFailures)
    .map((said) => ({ name: said.name, ...locationIn(said.text, directory), message: messageOf(said) }));
}

/** Whether the program ended before its last test, so that the results of the others are unknown. */
export function hasZigCrashed(text: string): boolean {
  return text.search(crashed) >= 0;
}

function readHeadings(text: string, heading: RegExp): ZigFailure[] {
  const found = [...text.matchAll(heading)];
  return found.map(({ 0: whole, 1: name = '', 2: fault = '', index }, at) => {
    const end = Math.min(found[at + 1]?.index ?? text.length, index + maxText);
    return { name, fault, text: text.slice(index, Math.max(end, index + whole.length)) };
  });
}

/** Whether a test failed. One without a result is the one that the program crashed in. */
function isFault({ text }: ZigFailure): boolean {
  return /FAIL \(.{0,300}\)$/m.test(text) || !/(?:OK|SKIP)$/m.test(text);
}

function readCrashes(text: string): ZigFailure[] {
  return [...text.matchAll(crashed)].slice(0, maxFailures).map(({ 1: name = '', 2: how = '', index }) => {
    const before = text.slice(Math.max(0, index - maxText), index);
    const at = [...before.matchAll(/^thread \d{1,9} panic: /gm)].at(-1)?.index;
    const panic = at === undefined ? '' : before.slice(at);
    return { name, fault: panic.split('\n', 1)[0] || how, text: panic };
  });
}

const sourceLocation = /([^\s:]{1,500}\.zig):(\d{1,9}):\d{1,9}: 0x/g;

/** Returns the first location in the project: a stack begins in the standard library. */
function locationIn(text: string, directory: string): Pick<TestFailure, 'file' | 'line'> | undefined {
  return [...text.matchAll(sourceLocation)]
    .map(([, path = '', line]) => ({ file: toRelative(path, directory), line: Number(line) }))
    .find(({ file }) => !file.startsWith('/'));
}

/** Returns the first text that is not a location; below the heading since 0.16. */
function messageOf({ fault, text }: ZigFailure): string {
  const said = fault.replace(/^failed: ?/, '').replace(/^FAIL \((.{0,300})\)$/, '$1');
  const head = said.search(sourceLocation) < 0 ? said : '';
  if (head !== '' && !head.endsWith(':')) return head;
  const below = text.split('\n', 5).slice(1);
  const next = below.find((line) => /\w/.test(line) && line.search(sourceLocation) < 0)?.trim() ?? '';
  return `${head} ${next}`.trim() || 'failed';
}
