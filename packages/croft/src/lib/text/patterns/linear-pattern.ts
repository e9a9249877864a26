import {
  isWord,
  type PatternAssertion,
  type PatternCharTest,
  type PatternNode,
  parsePattern,
  patternError,
} from './parse-linear-pattern.ts';

type Instruction =
  | { readonly kind: 'char'; readonly test: PatternCharTest }
  | { readonly kind: 'assert'; readonly assertion: PatternAssertion }
  | { readonly kind: 'fork'; readonly targets: number[] }
  | { readonly kind: 'match' };

/** A character as anchors see it; `none` at the start and at the end of the line. */
type Kind = 'none' | 'word' | 'other';

/**
 * A state of the search: the instructions that can be reached after a part of the line, and the next state for each
 * character.
 */
interface State {
  readonly positions: readonly number[];
  readonly before: Kind;
  readonly next: Map<number, State | 'matched'>;
}

const maxInstructions = 250;
const maxStates = 1000;
const maxSteps = 20_000;
const lineEnd = -1;

/**
 * Compiles a regular expression into a test whether a line has a match anywhere. The time grows linearly with the line,
 * whatever its text.
 *
 * Supports the part of regular expressions that JavaScript, Go and ripgrep share: literals, `.`, classes with `\d \w
 * \s`, `^ $ \b`, groups, `|`, `* + ? {m,n}`, and `(?i)` at the start for ASCII letters. Throws a `RangeError` for
 * anything else, and for a pattern that is too large. A character that was seen in the same state before takes no step;
 * `onSteps` is called for the others, of which only a text made for that purpose has many.
 */
export function compileLinearPattern(source: string, onSteps?: (count: number) => void): (line: string) => boolean {
  const program = toProgram(parsePattern(source));
  const advanceFrom = createSteps(program);
  const states = new Map<string, State>();
  let steps = 0;

  return (line) => {
    let state = toState([], 'none');
    for (let at = 0; at <= line.length; at++) {
      const code = line.codePointAt(at) ?? lineEnd;
      if (code > 0xffff) at++;
      const next = state.next.get(code) ?? advance(state, code);
      if (next === 'matched') return true;
      state = next;
    }
    return false;
  };

  function advance(state: State, code: number): State | 'matched' {
    const positions = advanceFrom(state, code);
    onSteps?.(program.length);
    forgetIfMany();
    const next = positions === 'matched' ? positions : toState(positions, toKind(code));
    state.next.set(code, next);
    return next;
  }

  function toState(positions: readonly number[], before: Kind): State {
    const key = before + String.fromCharCode(...positions);
    const known = states.get(key);
    if (known) return known;
    const state: State = { positions, before, next: new Map() };
    states.set(key, state);
    return state;
  }

  /**
   * Drops all cached states when there are too many: a pattern can have more states than there is memory. The search
   * then goes on, only slower.
   */
  function forgetIfMany(): void {
    if (++steps < maxSteps && states.size < maxStates) return;
    for (const { next } of states.values()) next.clear();
    states.clear();
    steps = 0;
  }
}

/**
 * Computes the instructions after a character, from those of the state and from the start, because a match may begin
 * anywhere.
 */
function createSteps(program: readonly Instruction[]) {
  const accepting = new Map<number, Uint8Array>();
  const reached = new Uint8Array(program.length);

  return ({ positions, before }: State, code: number): number[] | 'matched' => {
    const between = [before, toKind(code)] as const;
    reached.fill(0);
    reach(0, between);
    for (const position of positions) reach(position, between);
    return reached[program.length - 1] === 1 ? 'matched' : positionsAfter(acceptedBy(code));
  };

  /**
   * Marks an instruction as reached, with everything it leads to between two characters. Each instruction is visited
   * once per state.
   */
  function reach(from: number, between: readonly [before: Kind, after: Kind]): void {
    const open = [from];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (reached[at] === 1) continue;
      reached[at] = 1;
      const instruction = program[at];
      if (instruction?.kind === 'fork') open.push(...instruction.targets);
      if (instruction?.kind === 'assert' && holds(instruction.assertion, ...between)) open.push(at + 1);
    }
  }

  /** Returns the instructions in order, so that equal sets are one state. */
  function positionsAfter(accepted: Uint8Array): number[] {
    const positions: number[] = [];
    for (let position = 0; position < program.length; position++)
      if (reached[position] === 1 && accepted[position] === 1) positions.push(position + 1);
    return positions;
  }

  function acceptedBy(code: number): Uint8Array {
    const known = accepting.get(code);
    if (known) return known;
    // A repetition uses the same test many times, and the test may be slow.
    const answers = new Map<PatternCharTest, boolean>();
    const mask = Uint8Array.from(program, (instruction) => Number(accepts(instruction, code, answers)));
    if (accepting.size < maxStates) accepting.set(code, mask);
    return mask;
  }
}

function accepts(instruction: Instruction, code: number, answers: Map<PatternCharTest, boolean>): boolean {
  if (instruction.kind !== 'char' || code === lineEnd) return false;
  const { test } = instruction;
  const answer = answers.get(test) ?? test(code);
  answers.set(test, answer);
  return answer;
}

function toKind(code: number): Kind {
  if (code === lineEnd) return 'none';
  return isWord(code) ? 'word' : 'other';
}

function holds(assertion: PatternAssertion, before: Kind, after: Kind): boolean {
  if (assertion === 'start') return before === 'none';
  if (assertion === 'end') return after === 'none';
  const isBoundary = (before === 'word') !== (after === 'word');
  return isBoundary === (assertion === 'boundary');
}

function toProgram(node: PatternNode): Instruction[] {
  const program: Instruction[] = [];
  emit(node);
  push({ kind: 'match' });
  return program;

  function emit(part: PatternNode): void {
    if (part.kind === 'sequence') part.parts.forEach(emit);
    else if (part.kind === 'choice') emitChoice(part.parts);
    else if (part.kind === 'repeat') emitRepeat(part);
    else push(part);
  }

  function emitChoice(parts: readonly PatternNode[]): void {
    const starts = fork();
    const ends = parts.map((part) => {
      starts.push(program.length);
      emit(part);
      return fork();
    });
    for (const end of ends) end.push(program.length);
  }

  function emitRepeat({ part, min, max }: PatternNode & { kind: 'repeat' }): void {
    for (let count = 0; count < min; count++) emit(part);
    const exits: number[][] = [];
    const optional = Number.isFinite(max) ? max - min : 1;
    for (let count = 0; count < optional; count++) {
      const start = program.length;
      exits.push(fork([start + 1]));
      emit(part);
      if (max === Number.POSITIVE_INFINITY) fork([start]);
    }
    for (const exit of exits) exit.push(program.length);
  }

  /** Adds a fork. The caller adds further targets as they become known. */
  function fork(targets: number[] = []): number[] {
    push({ kind: 'fork', targets });
    return targets;
  }

  function push(instruction: Instruction): void {
    if (program.length >= maxInstructions) throw patternError('is too large with its repetitions written out');
    program.push(instruction);
  }
}
