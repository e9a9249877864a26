import type { z } from 'zod';
import { sameArgumentTwice, unknownArguments } from './argument-errors.ts';
import { convertText, type Kinds, kindsOf, type ValueKind } from './convert-text-to-schema.ts';
import { parseBySchema } from './parse-by-schema.ts';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * A group of arguments of another system that together replace arguments of the tool: a first and a last line for an
 * offset and a limit.
 */
interface AlternativeForm {
  readonly input: z.ZodObject;
  /** Converts them to the arguments in the tool's `input`. */
  toArguments(given: unknown): Arguments;
}

export interface Spellings {
  /**
   * Maps other names to names in `input`. They are not listed in the schema. `filePath` for `file_path` needs no entry.
   */
  readonly aliases?: Readonly<Record<string, string>> | undefined;
  readonly forms?: readonly AlternativeForm[] | undefined;
  /** Names that are refused, each with its own reason. */
  readonly refusals?: Readonly<Record<string, string>> | undefined;
}

interface ReadArgumentsOptions extends Spellings {
  readonly tool: string;
  readonly input: z.ZodObject;
  /** Names that the toolbox reads itself: accepted, and left out of the result. */
  readonly others: readonly string[];
}

export function defineForm<Input extends z.ZodObject>(
  input: Input,
  toArguments: (given: z.output<Input>) => Arguments,
): AlternativeForm {
  return { input, toArguments: (given) => toArguments(parseBySchema(input, given)) };
}

/**
 * Gemini CLI adds this argument to the schema of every tool, to order the calls of one turn, and passes on what its
 * model writes.
 */
const forTheAgent = 'wait_for_previous';

/**
 * Returns a function that maps the caller's arguments to the names and types of the schema. An unknown argument is
 * refused: it was meant to have an effect, and the call without it would do something else.
 */
export function createArgumentReader({ tool, input, others, ...spellings }: ReadArgumentsOptions) {
  // Created on the first call: most tools of a session are never called.
  let known: Known | undefined;

  return function readArguments(raw: unknown): unknown {
    if (raw === undefined || raw === null) return {};
    if (typeof raw !== 'object' || Array.isArray(raw)) return raw;
    known ??= { tool, kinds: kindsOf(input), others, spellings, forms: toFormNames(spellings) };
    return readObject(raw as Arguments, known.kinds, known);
  };
}

interface Known {
  readonly tool: string;
  readonly kinds: Kinds;
  readonly others: readonly string[];
  readonly spellings: Spellings;
  readonly forms: ReadonlyMap<string, AlternativeForm>;
}

function toFormNames({ forms = [] }: Spellings): ReadonlyMap<string, AlternativeForm> {
  return new Map(forms.flatMap((form) => Object.keys(form.input.shape).map((name) => [name, form])));
}

function readObject(given: Arguments, kinds: Kinds, known: Known): Arguments {
  const read = createCollector();
  const rest: string[] = [];
  for (const name of Object.keys(given)) {
    const meant = kinds.has(name) ? name : findMeant(name, kinds, known);
    if (meant === undefined) rest.push(name);
    else read.add(meant, name, readValue(given[name], kinds.get(meant), known));
  }
  if (rest.length > 0) readRest(given, rest, kinds, known, read);
  return read.values;
}

/**
 * Reads the names that are not arguments by themselves. Only the top level of a call has other forms, not the items of
 * a list in it.
 */
function readRest(given: Arguments, names: readonly string[], kinds: Kinds, known: Known, read: Collector): void {
  const isTop = kinds === known.kinds;
  const formed = new Map<AlternativeForm, Map<string, unknown>>();
  const unknown: string[] = [];
  for (const name of names) {
    const form = isTop ? known.forms.get(toSnake(name)) : undefined;
    if (form) addTo(formed, form, toSnake(name), given[name]);
    else if (!isTop || !(name === forTheAgent || known.others.includes(name))) unknown.push(name);
  }
  if (unknown.length > 0) throw refuseIn(unknown, kinds, known);
  for (const [form, values] of formed) addForm(read, form, values);
}

/** Returns the argument that a name stands for by itself, or `undefined`. */
function findMeant(name: string, kinds: Kinds, { spellings: { aliases = {} } }: Known): string | undefined {
  const snake = toSnake(name);
  const spelt = [name, snake].find((each) => Object.hasOwn(aliases, each));
  const meant = spelt === undefined ? snake : aliases[spelt];
  return meant !== undefined && kinds.has(meant) ? meant : undefined;
}

function toSnake(name: string): string {
  return name.replace(/(?<=[a-z0-9])[A-Z]/g, (letter) => `_${letter}`).toLowerCase();
}

function readValue(value: unknown, kind: ValueKind | undefined, known: Known): unknown {
  if (typeof value === 'string') return kind ? convertText(kind, value) : value;
  if (kind?.type === 'list' && Array.isArray(value)) return value.map((item) => readValue(item, kind.of, known));
  if (kind?.type !== 'object' || typeof value !== 'object' || value === null) return value;
  return readObject(value as Arguments, kind.kinds, known);
}

type Collector = ReturnType<typeof createCollector>;

/**
 * Collects each argument once, under whichever name it was written. Ignores `null`, which models send for an omitted
 * argument.
 */
function createCollector() {
  const values: Record<string, unknown> = {};
  const writtenAs = new Map<string, string>();
  return {
    values,
    add(name: string, written: string, value: unknown): void {
      if (value === null) return;
      const other = writtenAs.get(name);
      if (other !== undefined) throw sameArgumentTwice(other, written);
      writtenAs.set(name, written);
      values[name] = value;
    },
  };
}

function addTo(
  formed: Map<AlternativeForm, Map<string, unknown>>,
  form: AlternativeForm,
  name: string,
  value: unknown,
): void {
  if (value === null) return;
  const values = formed.get(form) ?? new Map<string, unknown>();
  if (values.has(name)) throw sameArgumentTwice(name, name);
  const kind = kindsOf(form.input).get(name);
  formed.set(form, values.set(name, kind ? convertText(kind, value) : value));
}

function addForm(read: Collector, form: AlternativeForm, values: Map<string, unknown>): void {
  const written = [...values.keys()].join(' and ');
  const meant = form.toArguments(Object.fromEntries(values));
  for (const [name, value] of Object.entries(meant)) read.add(name, written, value);
}

function refuseIn(unknown: readonly string[], kinds: Kinds, { tool, kinds: top, others, spellings }: Known) {
  const { aliases = {}, refusals = {} } = spellings;
  const own = Object.entries(aliases).filter(([, meant]) => kinds.has(meant));
  const names = [...kinds.keys(), ...(kinds === top ? others : [])];
  return unknownArguments(unknown, { tool, names, aliases: Object.fromEntries(own), refusals });
}
