import type { TestFailure } from '../../project-tools/test-runner.ts';
import { toRelative } from '../reader-helpers.ts';
import { lineIn } from './to-test-report.ts';

/** Reads failed tests from the output of Node's own test runner: its text for people, or TAP without a terminal. */
export function readPrintedNodeFailures(text: string, directory: string): TestFailure[] {
  const lines = text.split('\n');
  return [...readSpecOutput(lines, directory), ...readTapOutput(lines, directory)];
}

const maxDetails = 200;
const timed = /^( *)✖ (.{1,1000}) \(\d[\d.]{0,20}ms\)$/;
const opened = /^( *)▶ (.{1,1000})$/;

function readSpecOutput(lines: readonly string[], directory: string): TestFailure[] {
  const start = lines.indexOf('✖ failing tests:');
  if (start < 0) return [];
  const names = namesOfFailed(lines.slice(0, start));
  const found: TestFailure[] = [];
  for (let at = start + 1; at < lines.length; at++) {
    const [, path, line] = lines[at]?.match(/^test at (.{1,1000}):(\d{1,9}):\d{1,9}$/) ?? [];
    const name = lines[at + 1]?.match(timed)?.[2];
    if (path === undefined || name === undefined) continue;
    const said = untilEnd(lines, at + 2, (row) => row.startsWith('test at ') || /^[ℹ✔✖▶] /.test(row));
    found.push(toFailure({ name, whole: names.get(name)?.shift(), path, line, said }, directory));
  }
  return found;
}

/** Maps each test's own name to its full names, in order: the suites around it, then the name. */
function namesOfFailed(lines: readonly string[]): Map<string, string[]> {
  const suites: string[] = [];
  const names = new Map<string, string[]>();
  for (const row of lines) {
    const [, before, suite] = row.match(opened) ?? [];
    if (suite !== undefined) {
      suites.length = (before ?? '').length / 2;
      suites.push(suite.replace(/ \(\d[\d.]{0,20}ms\)$/, ''));
    }
    const [, indent = '', name] = row.match(timed) ?? [];
    if (name === undefined) continue;
    const around = suites.slice(0, indent.length / 2);
    const isSuite = suites[around.length] === name;
    suites.length = around.length;
    if (!isSuite) names.set(name, [...(names.get(name) ?? []), [...around, name].join(' ')]);
  }
  return names;
}

function readTapOutput(lines: readonly string[], directory: string): TestFailure[] {
  const suites: string[] = [];
  return lines.flatMap((row, at) => {
    const [, indent = '', begun] = row.match(/^( *)# Subtest: (.{1,1000})$/) ?? [];
    if (begun !== undefined) {
      suites.length = Math.min(suites.length, indent.length / 4);
      suites.push(begun);
    }
    const [, before = '', name] = row.match(/^( *)not ok \d{1,9} - (.{1,1000})$/) ?? [];
    if (name === undefined) return [];
    const said = untilEnd(lines, at + 1, (one) => one === `${before}  ...`);
    const [, path, line] = said.join('\n').match(/^ *location: '(.{1,1000}):(\d{1,9}):\d{1,9}'$/m) ?? [];
    if (path === undefined || said.some((one) => one.includes("failureType: 'subtestsFailed'"))) return [];
    const whole = [...suites.slice(0, before.length / 4), name].join(' ');
    return [toFailure({ name, whole, path, line, said, message: errorOf(said) }, directory)];
  });
}

/** Reads `error: 'text'`, or the lines below `error: |-`. */
function errorOf(said: readonly string[]): string {
  const at = said.findIndex((row) => /^ *error: /.test(row));
  const [, indent = '', text = ''] = said[at]?.match(/^( *)error: (.*)$/) ?? [];
  if (!/^[|>]-?$/.test(text)) return text.replace(/^'(.*)'$/, '$1');
  const rest = untilEnd(said, at + 1, (row) => row.trim() !== '' && !row.startsWith(`${indent} `));
  return rest.map((row) => row.trim()).join('\n');
}

interface PrintedFailure {
  readonly name: string;
  readonly whole: string | undefined;
  readonly path: string;
  readonly line: string | undefined;
  readonly said: readonly string[];
  readonly message?: string;
}

function toFailure({ name, whole = name, path, line, said, message }: PrintedFailure, directory: string): TestFailure {
  const file = toRelative(path, directory);
  const text = said.join('\n');
  const isFile = file.endsWith(name) || file === toRelative(name, directory);
  return {
    name: isFile ? file.slice(file.lastIndexOf('/') + 1) : whole,
    file,
    line: lineIn(text, path) ?? lineIn(text, file) ?? Number(line),
    message: message ?? messageOf(said),
    ...(isFile ? { isBuild: true as const } : whole !== name && { id: name }),
  };
}

/** Returns the text before the stack. */
function messageOf(said: readonly string[]): string {
  const end = said.findIndex((row) => /^\s+at /.test(row));
  const rows = (end < 0 ? said : said.slice(0, end)).map((row) => row.replace(/^ {2}/, ''));
  return rows
    .join('\n')
    .replace(/^(?:\w*Error )?\[ERR_\w+\]: /, '')
    .replace(/^Error: /, '')
    .trim();
}

function untilEnd(lines: readonly string[], start: number, isEnd: (row: string) => boolean): readonly string[] {
  const rest = lines.slice(start, start + maxDetails);
  const end = rest.findIndex(isEnd);
  return end < 0 ? rest : rest.slice(0, end);
}
