import type { RawName } from '../../history/trees/raw-names.ts';

/** One step of a pattern: which bytes it takes, and how many. */
export interface Step {
  readonly kind: 'one' | 'name' | 'bytes' | 'directories';
  /** The only byte that the step accepts; -1 if it accepts others. */
  readonly code: number;
  /** For a step that accepts one of several bytes: 1 for each of them. */
  readonly members?: Uint8Array | undefined;
}

/** Any number of bytes but `/`. */
export const anyName: Step = { kind: 'name', code: -1 };
/** Any number of bytes. */
export const anyBytes: Step = { kind: 'bytes', code: -1 };
/** Any number of directories: nothing, or bytes that end in `/`. */
export const anyDirectories: Step = { kind: 'directories', code: -1 };

export function oneByte(code: number): Step {
  return { kind: 'one', code };
}

export function oneOf(members: Uint8Array): Step {
  return { kind: 'one', code: -1, members };
}

const slash = 47;

/** The positions of a pattern that a text can be at. One set, reused for each byte, because matching is synchronous. */
interface PatternPositions {
  list: Int32Array;
  count: number;
  /** For each position: the turn in which it was added, and in which the positions after it were added too. */
  added: Uint32Array;
  passed: Uint32Array;
}

let [here, next] = [emptyPositions(256), emptyPositions(256)];
let turn = 0;

function emptyPositions(size: number): PatternPositions {
  return { list: new Int32Array(size), count: 0, added: new Uint32Array(size), passed: new Uint32Array(size) };
}

/**
 * Matches in one pass over the text, following all positions of the pattern at once. Each byte visits each position at
 * most once.
 */
export function matchesSteps(steps: readonly Step[], text: RawName): boolean {
  if (here.list.length <= steps.length)
    [here, next] = [emptyPositions(steps.length * 2), emptyPositions(steps.length * 2)];
  begin(here);
  reach(steps, here, 0);
  for (let at = 0; at < text.length && here.count > 0; at++) {
    begin(next);
    advance(steps, text.charCodeAt(at));
    [here, next] = [next, here];
  }
  return here.added[steps.length] === turn;
}

function begin(positions: PatternPositions): void {
  // Both sets are cleared before the turn counter starts over.
  if (turn === 0xffff_ffff) turn = clear();
  turn += 1;
  positions.count = 0;
}

function clear(): number {
  for (const { added, passed } of [here, next]) {
    added.fill(0);
    passed.fill(0);
  }
  return 0;
}

function advance(steps: readonly Step[], code: number): void {
  const { list, count } = here;
  for (let index = 0; index < count; index++) {
    const position = list[index] ?? 0;
    const step = steps[position];
    if (step?.kind === 'one') {
      if (step.code === code || step.members?.[code] === 1) reach(steps, next, position + 1);
    } else if (step) advanceMany(steps, position, code);
  }
}

/** Advances from a step that accepts any number of bytes. */
function advanceMany(steps: readonly Step[], position: number, code: number): void {
  const kind = steps[position]?.kind;
  if (kind === 'directories') {
    // Within `**/`, the next step begins only after a `/`.
    add(next, position);
    if (code === slash) reach(steps, next, position + 1);
  } else if (kind === 'bytes' || code !== slash) reach(steps, next, position);
}

function add(positions: PatternPositions, position: number): void {
  if (positions.added[position] === turn) return;
  positions.added[position] = turn;
  positions.list[positions.count++] = position;
}

/** Adds a position, and those after steps that may accept nothing. */
function reach(steps: readonly Step[], positions: PatternPositions, from: number): void {
  for (let position = from; positions.passed[position] !== turn; position++) {
    positions.passed[position] = turn;
    add(positions, position);
    if (position === steps.length || steps[position]?.kind === 'one') return;
  }
}
