import { type Assertion, type CharTest, isWord, type PatternNode, parsePattern, problem } from './pattern-syntax.ts';

type Instruction =
  | { readonly kind: 'char'; readonly test: CharTest }
  | { readonly kind: 'assert'; readonly assertion: Assertion }
  | { readonly kind: 'fork'; readonly targets: number[] }
  | { readonly kind: 'match' };

/** A character as anchors see it; none at the start and at the end of the line. */
type Kind = 'none' | 'word' | 'other';

/** Where the search can be after a part of the line, and where each next character leads. */
interface State {
  readonly places: readonly number[];
  readonly before: Kind;
  readonly next: Map<number, State | 'matched'>;
}

const maxInstructions = 250;
const maxStates = 1000;
const maxSteps = 20_000;
const lineEnd = -1;

/**
 * A test whether a line has a match anywhere, in time that grows with the line and never with what is in it.
 *
 * Takes the part of regular expressions that JavaScript, Go and ripgrep share: literals, `.`, classes with `\d \w \s`,
 * `^ $ \b`, groups, `|`, `* + ? {m,n}`, and `(?i)` at the start for ASCII letters. Throws a `RangeError` for anything
 * else, and for a pattern that is too large.
 */
export function compilePattern(source: string): (line: string) => boolean {
  const advanceFrom = createSteps(toProgram(parsePattern(source)));
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
    const places = advanceFrom(state, code);
    forgetIfMany();
    const next = places === 'matched' ? places : toState(places, toKind(code));
    state.next.set(code, next);
    return next;
  }

  function toState(places: readonly number[], before: Kind): State {
    const key = before + String.fromCharCode(...places);
    const known = states.get(key);
    if (known) return known;
    const state: State = { places, before, next: new Map() };
    states.set(key, state);
    return state;
  }

  /** A pattern can have more states than there is memory. Without those found so far it goes on, only slower. */
  function forgetIfMany(): void {
    if (++steps < maxSteps && states.size < maxStates) return;
    for (const { next } of states.values()) next.clear();
    states.clear();
    steps = 0;
  }
}

/** The places after a character, from those of the state and from the start, because a match may begin anywhere. */
function createSteps(program: readonly Instruction[]) {
  const closures = new Map<string, readonly (readonly number[])[]>();
  const accepting = new Map<number, Uint8Array>();
  const reached = new Uint8Array(program.length);

  return ({ places, before }: State, code: number): number[] | 'matched' => {
    const leadsTo = closuresBetween(before, toKind(code));
    reached.fill(0);
    reach(leadsTo[0]);
    for (const place of places) reach(leadsTo[place]);
    return reached[program.length - 1] === 1 ? 'matched' : placesAfter(acceptedBy(code));
  };

  function reach(ends: readonly number[] = []): void {
    for (const end of ends) reached[end] = 1;
  }

  /** In order, so that equal sets of places are one state. */
  function placesAfter(accepted: Uint8Array): number[] {
    const places: number[] = [];
    for (let place = 0; place < program.length; place++)
      if (reached[place] === 1 && accepted[place] === 1) places.push(place + 1);
    return places;
  }

  function acceptedBy(code: number): Uint8Array {
    const known = accepting.get(code);
    if (known) return known;
    const mask = Uint8Array.from(program, (instruction) => Number(accepts(instruction, code)));
    if (accepting.size < maxStates) accepting.set(code, mask);
    return mask;
  }

  function closuresBetween(before: Kind, after: Kind) {
    const known = closures.get(before + after);
    if (known) return known;
    const all = program.map((_, place) => toClosure(program, place, before, after));
    closures.set(before + after, all);
    return all;
  }
}

/** Every place that reads a character, or is the match, to which `place` leads between two characters. */
function toClosure(program: readonly Instruction[], place: number, before: Kind, after: Kind): number[] {
  const reached = new Set([place]);
  for (const at of reached) {
    const instruction = program[at];
    if (instruction?.kind === 'fork') for (const target of instruction.targets) reached.add(target);
    if (instruction?.kind === 'assert' && holds(instruction.assertion, before, after)) reached.add(at + 1);
  }
  return [...reached].filter((at) => program[at]?.kind === 'char' || program[at]?.kind === 'match');
}

function accepts(instruction: Instruction | undefined, code: number): boolean {
  return instruction?.kind === 'char' && code !== lineEnd && instruction.test(code);
}

function toKind(code: number): Kind {
  if (code === lineEnd) return 'none';
  return isWord(code) ? 'word' : 'other';
}

function holds(assertion: Assertion, before: Kind, after: Kind): boolean {
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

  /** More targets are added as they become known. */
  function fork(targets: number[] = []): number[] {
    push({ kind: 'fork', targets });
    return targets;
  }

  function push(instruction: Instruction): void {
    if (program.length >= maxInstructions) throw problem('is too large with its repetitions written out');
    program.push(instruction);
  }
}
