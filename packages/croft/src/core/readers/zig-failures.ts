import type { TestFailure } from '../checks/test-runner.ts';
import { toRelative } from './read-output.ts';

const maxFailures = 1000;
/** How much of what is said of one failure is looked at. */
const maxText = 4000;

interface Said {
  readonly name: string;
  /** What it was at fault for, on the line itself. */
  readonly fault: string;
  /** What is said of it, from that line on. */
  readonly text: string;
}

/** In a build: `error: 'a.test.b' failed: why`, also `leaked`, `logged errors` and, since 0.16, `terminated with signal`. */
const inBuild =
  /^(?:[\w .-]{1,100}: )?error: '(.{1,300}?)' ((?:failed|leaked|logged|terminated|crashed|timed)\b.{0,500})$/gm;
/** Before 0.16 of a crash, after what the program said at its end. */
const crashed = /^error: while executing test '(.{1,300})', the following (?:test )?command (terminated .{1,200})$/gm;
/** Of `zig test`: `1/3 a.test.b...OK`, where what a test says comes between, as does a fault before `FAIL (Error)`. */
const alone = /^\d{1,9}\/\d{1,9} (.{1,300}?)\.\.\.(.{0,500})$/gm;

export function readZigFailures(text: string, directory: string): TestFailure[] {
  return [...readHeadings(text, inBuild), ...readCrashes(text), ...readHeadings(text, alone).filter(isFault)]
    .slice(0, maxFailures)
    .map((said) => ({ name: said.name, ...placeIn(said.text, directory), message: messageOf(said) }));
}

/** Whether the program ended before its last test, so that nothing is known of the others. */
export function hasZigCrashed(text: string): boolean {
  return text.search(crashed) >= 0;
}

function readHeadings(text: string, heading: RegExp): Said[] {
  const found = [...text.matchAll(heading)];
  return found.map(({ 0: whole, 1: name = '', 2: fault = '', index }, at) => {
    const end = Math.min(found[at + 1]?.index ?? text.length, index + maxText);
    return { name, fault, text: text.slice(index, Math.max(end, index + whole.length)) };
  });
}

/** One without an end is the one that the program came to its own in. */
function isFault({ text }: Said): boolean {
  return /FAIL \(.{0,300}\)$/m.test(text) || !/(?:OK|SKIP)$/m.test(text);
}

function readCrashes(text: string): Said[] {
  return [...text.matchAll(crashed)].slice(0, maxFailures).map(({ 1: name = '', 2: how = '', index }) => {
    const before = text.slice(Math.max(0, index - maxText), index);
    const at = [...before.matchAll(/^thread \d{1,9} panic: /gm)].at(-1)?.index;
    const panic = at === undefined ? '' : before.slice(at);
    return { name, fault: panic.split('\n', 1)[0] || how, text: panic };
  });
}

const place = /([^\s:]{1,500}\.zig):(\d{1,9}):\d{1,9}: 0x/g;

/** The first in the project: what a test calls first is in the standard library. */
function placeIn(text: string, directory: string): Pick<TestFailure, 'file' | 'line'> | undefined {
  return [...text.matchAll(place)]
    .map(([, path = '', line]) => ({ file: toRelative(path, directory), line: Number(line) }))
    .find(({ file }) => !file.startsWith('/'));
}

/** What is said of it first that is no place; below its heading since 0.16. */
function messageOf({ fault, text }: Said): string {
  const said = fault.replace(/^failed: ?/, '').replace(/^FAIL \((.{0,300})\)$/, '$1');
  const head = said.search(place) < 0 ? said : '';
  if (head !== '' && !head.endsWith(':')) return head;
  const below = text.split('\n', 5).slice(1);
  const next = below.find((line) => /\w/.test(line) && line.search(place) < 0)?.trim() ?? '';
  return `${head} ${next}`.trim() || 'failed';
}
